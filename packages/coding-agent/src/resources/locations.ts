// Where things live: the user's agent directory and the project's own directory.

import { join, resolve } from "node:path";
import { expandHome } from "../lib/agent-directory.js";

export { agentDirectory, expandHome } from "../lib/agent-directory.js";

/** A path somebody wrote, absolute: a leading `~` is the home directory, others are relative to `base`. */
export function resolveHome(base: string, path: string): string {
  return resolve(base, expandHome(path));
}

/** The directory of a project's resources, below its working directory. */
export const projectDirectoryName = ".pi";

export function projectDirectory(cwd: string): string {
  return join(cwd, projectDirectoryName);
}

/**
 * The directory sessions were asked to be in, absolute; undefined for the usual one. The option wins over
 * `PI_CODING_AGENT_SESSION_DIR`, which wins over the setting.
 */
export function chosenSessionDirectory(
  cwd: string,
  choice: { option?: string; env: Record<string, string | undefined>; setting?: string },
): string | undefined {
  const chosen = choice.option || choice.env.PI_CODING_AGENT_SESSION_DIR || choice.setting;
  return chosen ? resolve(cwd, expandHome(chosen)) : undefined;
}
