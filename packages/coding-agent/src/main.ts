// Arguments → session → mode.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { helpText, type ParsedArgs, parseCommandLine } from "./args.js";
import type { ModeIo } from "./modes/io.js";
import { type ModeName, modes } from "./modes/index.js";
import { processIo } from "./modes/io.js";

/** Runs the command line; resolves with the exit code when everything has been written. */
export async function main(argv: readonly string[]): Promise<number> {
  const args = parseCommandLine(argv);
  const io = processIo();
  if (args.values.help) return say(io, helpText());
  if (args.values.version) return say(io, `${PI_VERSION}\n`);
  if (args.errors.length > 0) return fail(io, args.errors);
  return 0;
}
