// What a command says of arguments it cannot take.

import { textOf } from "./lib/error-text.js";

/** Node explains behind an unknown option how to pass it as an argument: longer than our line, and no advice of ours. */
export function optionErrorText(error: unknown): string {
  return textOf(error).split(". To specify")[0] as string;
}
