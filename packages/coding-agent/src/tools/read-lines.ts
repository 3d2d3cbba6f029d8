// Takes a range of lines out of a stream of bytes without keeping the rest.

import { defaultMaxBytes, defaultMaxLines, type TruncationResult, truncateHead } from "./truncate.js";

/** Bytes read after the range to count the file's lines; a larger file's count stays open. */
const maxCountedBytes = 256 * 1024 * 1024;

/**
 * The range, cut to the limits of output. `totalLines` counts the whole stream when `totalIsKnown`, otherwise as far as it
 * was read. `firstLineBytes` is the size of the first line of the range, likewise.
 */
export interface LinesRead {
  truncation: TruncationResult;
  totalLines: number;
  totalIsKnown: boolean;
  firstLineBytes: number;
}

/** Reads lines `offset` (1 = the first) to `offset + limit - 1`. A byte-order mark at the start is left out. */
export async function readLines(
  chunks: AsyncIterable<Buffer>,
  range: { offset: number; limit?: number },
): Promise<LinesRead> {
  const { offset, limit = Number.POSITIVE_INFINITY } = range;
  // One line more than is shown, to know that there is more.
  const wantedLines = Math.min(limit, defaultMaxLines + 1);
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let firstLineBytes = 0;
  let lineFeeds = 0; // before the byte looked at
  let read = 0;
  let lastByte = 0x0a;
  let totalIsKnown = true;
  for await (const chunk of chunks) {
    let from = 0;
    while (from < chunk.length) {
      const lineFeed = chunk.indexOf(0x0a, from);
      const end = lineFeed < 0 ? chunk.length : lineFeed + 1;
      const line = lineFeeds + 1;
      if (line === offset) firstLineBytes += end - from - (lineFeed < 0 ? 0 : 1);
      if (line >= offset && line < offset + wantedLines && keptBytes <= defaultMaxBytes + 1) {
        // A line may be of any length: no more of it is kept than shows that it is too long.
        const part = chunk.subarray(from, Math.min(end, from + defaultMaxBytes + 2));
        kept.push(part);
        keptBytes += part.length;
      }
      if (lineFeed >= 0) lineFeeds++;
      from = end;
    }
    if (chunk.length > 0) lastByte = chunk[chunk.length - 1]!;
    read += chunk.length;
    if (read > maxCountedBytes && lineFeeds >= offset && isEnough(keptBytes, lineFeeds - offset + 1, wantedLines)) {
      totalIsKnown = false;
      break;
    }
  }
  const text = Buffer.concat(kept).toString("utf8");
  const truncation = truncateHead(offset === 1 ? text.replace(/^\ufeff/, "") : text);
  const totalLines = lineFeeds + (lastByte === 0x0a ? 0 : 1);
  return { truncation, totalLines, totalIsKnown, firstLineBytes };
}

function isEnough(keptBytes: number, keptLines: number, wantedLines: number): boolean {
  return keptBytes > defaultMaxBytes || keptLines >= wantedLines;
}
