// Finds in a session file where the part begins that its latest compaction kept, without reading all of it.

import { fstatSync, readSync } from "node:fs";

/** Bytes of a file below which it does not matter what of it is in memory. */
const smallFile = 1 << 20;
const chunkSize = 1 << 20;
/** Longer than what is searched for. */
const overlap = 512;
/** A summary is much shorter. */
const longestCompaction = 1 << 20;

/**
 * Bytes from the start of the file to a place in the first entry that the latest compaction kept; 0 when there is no
 * compaction or its entry is not understood. A guess: another branch may be the active one.
 */
export function keptFrom(fd: number): number {
  const { size } = fstatSync(fd);
  if (size < smallFile) return 0;
  const compaction = findLast(fd, '\n{"type":"compaction"', size);
  if (compaction === undefined) return 0;
  const first = firstKeptOf(fd, compaction + 1);
  if (first === undefined) return 0;
  return findLast(fd, `"id":${JSON.stringify(first)},"parentId"`, compaction) ?? compaction;
}

function firstKeptOf(fd: number, offset: number): string | undefined {
  const bytes = Buffer.allocUnsafe(longestCompaction);
  const line = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset));
  const LF = line.indexOf(10);
  try {
    const { firstKeptEntryId } = JSON.parse(line.toString("utf8", 0, LF < 0 ? line.length : LF)) as Record<
      string,
      unknown
    >;
    return typeof firstKeptEntryId === "string" && firstKeptEntryId.length < 256 ? firstKeptEntryId : undefined;
  } catch {
    return undefined;
  }
}

/** Where a text stands for the last time before `end`. */
function findLast(fd: number, text: string, end: number): number | undefined {
  const bytes = Buffer.allocUnsafe(chunkSize + overlap);
  for (let from = end; from > 0; ) {
    from = Math.max(0, from - chunkSize);
    const length = readSync(fd, bytes, 0, Math.min(bytes.length, end - from), from);
    const at = bytes.subarray(0, length).lastIndexOf(text);
    if (at >= 0) return from + at;
  }
  return undefined;
}
