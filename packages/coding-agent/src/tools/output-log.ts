// Writes the whole output of a truncated command to a private file, in large pieces and no faster than the disk takes them.

import { randomBytes } from "node:crypto";
import { close, openSync, write, writev } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Bytes of one log: 200 MB. Output beyond it is left out. */
export const maxLogBytes = 200 * 1024 * 1024;

/** Collected before they are written: large writes cost a fraction of the CPU of many small ones. */
const batchBytes = 256 * 1024;
/** Waiting for the disk above which the program's pipe is paused. */
const maxWaitingBytes = 1024 * 1024;

/** A log that is being written. It gives up quietly at the first error: the command matters more than its log. */
export class OutputLog {
  readonly path: string;
  readonly #descriptor: number;
  #batch: (string | Uint8Array)[] = [];
  #batchBytes = 0;
  #accepted = 0;
  #writing: Promise<void> | undefined;
  #failed = false;
  #cut = false;

  /** Makes `pi-bash-<hex>.log` in `folder`, readable by the user alone. Throws the system's error. */
  constructor(folder: string = tmpdir()) {
    this.path = join(folder, `pi-bash-${randomBytes(8).toString("hex")}.log`);
    this.#descriptor = openSync(this.path, "wx", 0o600);
  }

  /** Whether everything written so far is, or will be, in the file. */
  get isComplete(): boolean {
    return !this.#failed && !this.#cut;
  }

  /** Adds text, or the bytes of it, `bytes` in number; a promise tells when the disk has caught up. */
  write(text: string | Uint8Array, bytes: number): Promise<void> | undefined {
    if (this.#failed || this.#cut) return undefined;
    if (this.#accepted + bytes > maxLogBytes) {
      this.#cut = true;
      return undefined;
    }
    this.#accepted += bytes;
    this.#batch.push(text);
    this.#batchBytes += bytes;
    if (this.#batchBytes >= batchBytes) this.#writing ??= this.#drain(batchBytes);
    return this.#batchBytes > maxWaitingBytes ? this.#writing : undefined;
  }

  /** Writes what is left and closes the file. False when the file is of no use because writing failed. */
  async end(): Promise<boolean> {
    await this.#writing;
    await this.#drain(1);
    await new Promise<void>((resolve) => close(this.#descriptor, () => resolve()));
    return !this.#failed;
  }

  /** Writes batches until less than `least` bytes wait. */
  async #drain(least: number): Promise<void> {
    while (this.#batchBytes >= least && !this.#failed) {
      const batch = this.#batch.map((text) => (typeof text === "string" ? Buffer.from(text) : text));
      this.#batch = [];
      this.#batchBytes = 0;
      this.#failed = !(await writeAll(this.#descriptor, batch));
    }
    this.#writing = undefined;
  }
}

/** False when the system refuses. */
function writeAll(descriptor: number, pieces: Uint8Array[]): Promise<boolean> {
  return new Promise((resolve) => {
    const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const rest = (bytes: Buffer) =>
      write(descriptor, bytes, (error, written) => {
        if (error || written === bytes.length) resolve(!error);
        else rest(bytes.subarray(written));
      });
    writev(descriptor, pieces, (error, written) => {
      if (error || written === total) resolve(!error);
      else rest(Buffer.concat(pieces).subarray(written));
    });
  });
}
