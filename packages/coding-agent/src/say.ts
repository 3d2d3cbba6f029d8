// An output of the command line that is no mode's.

import type { ModeIo } from "./modes/io.js";

/** Writes an output and waits until it is taken. Resolves with the exit code: 1 when it could not be written. */
export async function say(io: Pick<ModeIo, "writeText" | "drained" | "failed">, output: string): Promise<number> {
  io.writeText(output);
  await io.drained();
  return io.failed ? 1 : 0;
}
