// Frames records as JSON lines: bytes are split at LF and nowhere else, values become one line each.

import { stringifyDeep } from "./deep-json.js";

/** Bytes of one record above which it is reported as oversized instead of kept: 128 MB. */
export const defaultMaxRecordBytes = 128 * 1024 * 1024;

/** One record of a byte stream: its text without the line ending, or the news that it was too long and is left out. */
export type SplitLine = { oversized: false; text: string } | { oversized: true };

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const keptCapacity = 1024 * 1024;

/**
 * Splits chunks of bytes into lines at LF; one CR before the LF is dropped. A line is decoded as UTF-8 when it is whole, so
 * characters cut by a chunk's edge stay intact. A line above `maxBytes` is reported once, as soon as that is known, and its
 * bytes up to the next LF are dropped.
 *
 * @example
 * const splitter = new LineSplitter();
 * splitter.push(Buffer.from('{"a":1}\n{"b"')); // [{ oversized: false, text: '{"a":1}' }]
 * splitter.push(Buffer.from(":2}")); // []
 * splitter.end(); // [{ oversized: false, text: '{"b":2}' }]
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #pending = Buffer.alloc(0);
  #length = 0;
  #skipping = false;

  constructor(options: { maxBytes?: number } = {}) {
    this.#maxBytes = options.maxBytes ?? defaultMaxRecordBytes;
  }

  /** Takes the next bytes and gives the lines they complete. */
  push(chunk: Uint8Array): SplitLine[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: SplitLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      this.#finish(bytes.subarray(start, end), lines);
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start), lines);
    return lines;
  }

  /** Ends the stream; bytes after the last LF are a line too. */
  end(): SplitLine[] {
    const lines: SplitLine[] = [];
    if (this.#length > 0 || this.#skipping) this.#finish(Buffer.alloc(0), lines);
    return lines;
  }

  #finish(rest: Buffer, lines: SplitLine[]): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    if (this.#length + rest.length > this.#maxBytes) {
      this.#forget();
      lines.push({ oversized: true });
      return;
    }
    let line = rest;
    if (this.#length > 0) {
      this.#append(rest);
      line = this.#pending.subarray(0, this.#length);
    }
    const end = line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    lines.push({ oversized: false, text: line.toString("utf8", 0, end) });
    this.#forget();
  }

  #keep(rest: Buffer, lines: SplitLine[]): void {
    if (this.#skipping) return;
    if (this.#length + rest.length > this.#maxBytes) {
      this.#forget();
      this.#skipping = true;
      lines.push({ oversized: true });
      return;
    }
    this.#append(rest);
  }

  // The buffer doubles, so a long line costs linear time however small its chunks are.
  #append(bytes: Buffer): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#pending.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#pending.length * 2, 4096));
      this.#pending.copy(grown, 0, 0, this.#length);
      this.#pending = grown;
    }
    bytes.copy(this.#pending, this.#length);
    this.#length = needed;
  }

  #forget(): void {
    this.#length = 0;
    if (this.#pending.length > keptCapacity) this.#pending = Buffer.alloc(0);
  }
}

/**
 * One value as one line of JSON with its LF. U+2028 and U+2029 are escaped, because some readers take them for line ends;
 * JSON.stringify escapes lone surrogates itself, so the line is always valid UTF-8. Throws for a value JSON has no form for.
 */
export function encodeRecord(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`Cannot encode a value of type ${typeof value} as JSON`);
  // Two searches cost next to nothing on a line without them, a regular expression does not.
  if (!text.includes("\u2028") && !text.includes("\u2029")) return `${text}\n`;
  return `${text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Too deep for the stack; anything else (a cycle, a bigint) is the caller's mistake.
    if (error instanceof RangeError) return stringifyDeep(value);
    throw error;
  }
}
