// Reads a variable of the environment for one call.

import type { StreamOptions } from "../types.js";

/** The first of the variables that has a value: the call's own before those of the process. */
export function variableOf(options: Pick<StreamOptions, "env">, ...names: string[]): string | undefined {
  for (const environment of [options.env, process.env])
    for (const name of names) if (environment?.[name]) return environment[name];
  return undefined;
}
