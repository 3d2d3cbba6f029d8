// Where a bug goes that has ended nothing, when nobody asked to be told.

import { textOf } from "./error-text.js";

/** Tells the process of an error as a warning, which Node writes to stderr unless it is told otherwise. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : textOf(error));
}
