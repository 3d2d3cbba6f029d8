// Cuts text to what a model is shown of it, at whole lines where possible and never inside a character.

/** Lines of a tool's output that a model is shown. */
export const defaultMaxLines = 2000;
/** UTF-8 bytes of a tool's output that a model is shown: 50 KB. */
export const defaultMaxBytes = 50 * 1024;

export interface TruncationLimits {
  maxLines?: number;
  maxBytes?: number;
}

/**
 * Text and what was cut from it. Sizes are lines and UTF-8 bytes; a LF at the end closes the last line and is no further one.
 * `lastLinePartial`: the kept text is a part of one line. `firstLineExceedsLimit`: nothing fits, `content` is empty.
 */
export interface TruncationResult {
  content: string;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  lastLinePartial: boolean;
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
}

/** What a tool tells of its truncation in `details`: everything but the text, which is the result itself. */
export type TruncationDetails = Omit<TruncationResult, "content">;

/** Keeps the first lines. When lines are cut, the last one kept has no LF. */
export function truncateHead(text: string, limits: TruncationLimits = {}): TruncationResult {
  const { maxLines = defaultMaxLines, maxBytes = defaultMaxBytes } = limits;
  const totalLines = countLines(text);
  const totalBytes = Buffer.byteLength(text);
  const totals = { totalLines, totalBytes, maxLines, maxBytes, lastLinePartial: false, firstLineExceedsLimit: false };
  if (totalLines <= maxLines && totalBytes <= maxBytes) return whole(text, totals);
  let end = 0;
  let lines = 0;
  let bytes = 0;
  let truncatedBy: "lines" | "bytes" = "lines";
  while (lines < maxLines && end < text.length) {
    const lineEnd = text.indexOf("\n", end);
    const next = lineEnd < 0 ? text.length : lineEnd;
    // The LF before this line counts, the one after it only when another line follows.
    const size = Buffer.byteLength(text.slice(end, next)) + (lines > 0 ? 1 : 0);
    if (bytes + size > maxBytes) {
      truncatedBy = "bytes";
      break;
    }
    bytes += size;
    lines++;
    end = next + 1;
  }
  return {
    ...totals,
    content: text.slice(0, Math.max(0, end - 1)),
    truncated: true,
    truncatedBy,
    outputLines: lines,
    outputBytes: bytes,
    firstLineExceedsLimit: lines === 0,
  };
}

/** Keeps the last lines; when the last line alone is too long, the end of it. */
export function truncateTail(text: string, limits: TruncationLimits = {}): TruncationResult {
  const { maxLines = defaultMaxLines, maxBytes = defaultMaxBytes } = limits;
  const totalLines = countLines(text);
  const totalBytes = Buffer.byteLength(text);
  const totals = { totalLines, totalBytes, maxLines, maxBytes, lastLinePartial: false, firstLineExceedsLimit: false };
  if (totalLines <= maxLines && totalBytes <= maxBytes) return whole(text, totals);
  let start = text.length;
  let lines = 0;
  let bytes = 0;
  let truncatedBy: "lines" | "bytes" = "lines";
  while (lines < maxLines && start > 0) {
    const lineStart = start >= 2 ? text.lastIndexOf("\n", start - 2) + 1 : 0;
    const size = Buffer.byteLength(text.slice(lineStart, start));
    if (bytes + size > maxBytes) {
      truncatedBy = "bytes";
      break;
    }
    bytes += size;
    lines++;
    start = lineStart;
  }
  const kept = { ...totals, truncated: true, truncatedBy };
  if (lines > 0) return { ...kept, content: text.slice(start), outputLines: lines, outputBytes: bytes };
  const content = endWithin(text, maxBytes);
  return { ...kept, content, outputLines: 1, outputBytes: Buffer.byteLength(content), lastLinePartial: true };
}

/** Cuts one line after `maxCharacters` UTF-16 units, never inside a surrogate pair. */
export function truncateLine(text: string, maxCharacters = 500): { text: string; wasTruncated: boolean } {
  if (text.length <= maxCharacters) return { text, wasTruncated: false };
  const pair = isHighSurrogate(text.charCodeAt(maxCharacters - 1));
  return { text: `${text.slice(0, pair ? maxCharacters - 1 : maxCharacters)}... [truncated]`, wasTruncated: true };
}

/** A number of bytes for people, in steps of 1,024: `1023B`, `1.0KB`, `50.0KB`, `4.8MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)}MB`;
}

/** The lines of a text; text after the last LF is one more. */
export function countLines(text: string): number {
  const breaks = countLineFeeds(text);
  return text.length > 0 && !text.endsWith("\n") ? breaks + 1 : breaks;
}

/** The LFs of a text. */
export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The longest end of a text within `maxBytes`, in whole characters. */
export function endWithin(text: string, maxBytes: number): string {
  let start = Math.max(0, text.length - maxBytes);
  let bytes = Buffer.byteLength(text.slice(start));
  while (bytes > maxBytes) {
    const code = text.codePointAt(start)!;
    start += code > 0xffff ? 2 : 1;
    bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  const splitsPair = start > 0 && isLowSurrogate(text.charCodeAt(start)) && isHighSurrogate(text.charCodeAt(start - 1));
  return text.slice(splitsPair ? start + 1 : start);
}

type Totals = Pick<
  TruncationResult,
  "totalLines" | "totalBytes" | "maxLines" | "maxBytes" | "lastLinePartial" | "firstLineExceedsLimit"
>;

function whole(text: string, totals: Totals): TruncationResult {
  return {
    ...totals,
    content: text,
    truncated: false,
    truncatedBy: null,
    outputLines: totals.totalLines,
    outputBytes: totals.totalBytes,
  };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
