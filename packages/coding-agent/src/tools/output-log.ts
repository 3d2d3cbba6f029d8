// Writes the whole output of a truncated command to a private file, in large pieces and no faster than the disk takes them.

import { randomBytes } from "node:crypto";
import { close, openSync, write } from "node:fs";
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
  #batch: { text: string; bytes: number }[] = [];
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

  /** Adds text of `bytes` UTF-8 bytes; a promise tells when the disk has caught up. */
  write(text: string, bytes: number): Promise<void> | undefined {
    if (this.#failed || this.#cut) return undefined;
    if (this.#accepted + bytes > maxLogBytes) {
      this.#cut = true;
      return undefined;
    }
    this.#accepted += bytes;
    this.#batch.push({ text, bytes });
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
      const bytes = encode(this.#batch, this.#batchBytes);
      this.#batch = [];
      this.#batchBytes = 0;
      this.#failed = !(await writeAll(this.#descriptor, bytes));
    }
    this.#writing = undefined;
  }
}

function encode(pieces: readonly { text: string; bytes: number }[], total: number): Buffer {
  const buffer = Buffer.allocUnsafe(total);
  let at = 0;
  // As many bytes as characters: ASCII, which is copied faster as latin1.
  for (const { text, bytes } of pieces) at += buffer.write(text, at, text.length === bytes ? "latin1" : "utf8");
  return buffer.subarray(0, at);
}

function writeAll(descriptor: number, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const next = (offset: number) =>
      write(descriptor, bytes, offset, bytes.length - offset, null, (error, written) => {
        if (error) resolve(false);
        else if (offset + written < bytes.length) next(offset + written);
        else resolve(true);
      });
    next(0);
  });
}
