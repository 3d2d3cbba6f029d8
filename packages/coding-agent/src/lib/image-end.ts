// Tells whether an image's data goes on to its end, which providers check and a cut download does not pass.

import type { ImageMimeType } from "./image-size.js";

/**
 * Whether the parts of an image are all there, by their lengths alone; what is in them is not decoded, and bytes behind the
 * end do no harm. An animated GIF needs its first picture only, as those who show it do.
 */
export function isWholeImage(data: Uint8Array, kind: ImageMimeType): boolean {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (kind === "image/png") return isWholePng(bytes);
  if (kind === "image/jpeg") return isWholeJpeg(bytes);
  if (kind === "image/gif") return isWholeGif(bytes);
  return bytes.length >= 8 + bytes.readUInt32LE(4);
}

/** Chunks of length, name, data and checksum up to IEND, with at least one of picture data (PNG, clause 5.3). */
function isWholePng(bytes: Buffer): boolean {
  let hasData = false;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (name === "IEND") return hasData;
    hasData ||= name === "IDAT" && bytes.readUInt32BE(at) > 0;
  }
  return false;
}

/** Segments up to the first scan, then an end-of-image marker (ITU T.81, B.1): one before would be that of a thumbnail. */
function isWholeJpeg(bytes: Buffer): boolean {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda)
    at += bytes[at + 1] === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  if (bytes[at] !== 0xff || bytes[at + 1] !== 0xda) return false;
  return bytes.indexOf("ffd9", at + 2, "hex") >= 0;
}

/** Extensions up to the first picture, and that picture (GIF89a, sections 18 to 24). */
function isWholeGif(bytes: Buffer): boolean {
  let at = 13 + colorTableBytes(bytes[10]);
  while (bytes[at] === 0x21) at = endOfBlocks(bytes, at + 2);
  if (bytes[at] !== 0x2c) return false;
  // The descriptor, its colours, and one byte with the size of codes.
  return endOfBlocks(bytes, at + 10 + colorTableBytes(bytes[at + 9]) + 1) <= bytes.length;
}

/** Three bytes for each colour of a table whose flags these are; 0 when there is none. */
function colorTableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Behind the empty block that ends a row of blocks; behind the bytes when they end before it. */
function endOfBlocks(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== 0) at += 1 + bytes[at]!;
  return at + 1;
}
