// Reads a file line by line without loading it whole; lines end at LF only.

import { fstatSync, readSync } from "node:fs";

/** One line. `bytes` is valid only until the next line is asked for and holds neither the LF nor a CR before it. */
export interface Line {
  bytes: Buffer;
  /** Bytes from the start of the file to the start of the line. */
  offset: number;
  /** Bytes from the start of the file to behind the line's LF. */
  end: number;
  /** False for a last line without LF. */
  terminated: boolean;
}

/** Large enough that the number of reads does not matter, small enough to be kept in cache. */
const chunkSize = 1 << 20;
const LF = 10;
const CR = 13;

/** The lines of an open file from byte `offset` on. Stop early by leaving the loop. */
export function* readLines(fd: number, offset = 0): Generator<Line> {
  // One byte more than is left, so that a small file takes one read and the end is noticed by the next.
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(chunkSize, fstatSync(fd).size - offset + 1)));
  const line: Line = { bytes: buffer, offset, end: offset, terminated: true };
  let position = offset;
  let carried: Buffer[] = [];
  for (;;) {
    const length = readSync(fd, buffer, 0, buffer.length, position);
    if (length === 0) break;
    position += length;
    let from = 0;
    for (let at = buffer.indexOf(LF); at >= 0 && at < length; at = buffer.indexOf(LF, from)) {
      line.bytes = take(carried, buffer, from, at);
      if (carried.length > 0) carried = [];
      line.offset = line.end;
      from = at + 1;
      line.end = position - length + from;
      yield line;
    }
    if (from < length) carried.push(Buffer.from(buffer.subarray(from, length)));
  }
  if (carried.length === 0) return;
  line.bytes = take(carried, buffer, 0, 0);
  line.offset = line.end;
  line.end = position;
  line.terminated = false;
  yield line;
}

/** The first bytes of a file without the mark that some editors put there (U+FEFF). */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function take(carried: Buffer[], buffer: Buffer, from: number, to: number): Buffer {
  let bytes = buffer.subarray(from, to);
  if (carried.length > 0) bytes = Buffer.concat([...carried, bytes]);
  return bytes[bytes.length - 1] === CR ? bytes.subarray(0, -1) : bytes;
}
