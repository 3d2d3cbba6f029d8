// Tells an image's kind and size from its first bytes, so that most images never need the image library.

export type ImageMimeType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/**
 * The kind of image the bytes are, whatever their file is called; undefined for anything else. Its first bytes are enough. A
 * text that begins with the letters of a GIF or WebP is none.
 */
export function sniffImage(bytes: Uint8Array): ImageMimeType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return isText(bytes) ? undefined : "image/gif";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return isText(bytes) ? undefined : "image/webp";
  return undefined;
}

/** Bytes looked at to tell a text: headers and colours of a GIF take less, and hold control bytes. */
const textBytes = 8192;

/** Whether the first bytes are UTF-8 without control characters other than those of texts. */
function isText(bytes: Uint8Array): boolean {
  try {
    // Streaming: a character cut by the end of the bytes is no fault.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, textBytes), { stream: true });
    return !/[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/.test(text);
  } catch {
    return false;
  }
}

/** Width and height in pixels as the header gives them, before any rotation; undefined when it is cut or odd. */
export function imageSize(data: Uint8Array): { width: number; height: number } | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const kind = sniffImage(bytes);
  if (kind === "image/jpeg") return jpegSize(bytes);
  if (kind === undefined || bytes.length < 30)
    return kind === "image/gif" && bytes.length >= 10 ? gifSize(bytes) : undefined;
  if (kind === "image/gif") return gifSize(bytes);
  return kind === "image/png" ? pngSize(bytes) : webpSize(bytes);
}

/** The header is the first chunk (PNG, clause 5.6). */
function pngSize(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): { width: number; height: number } {
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The three forms of a WebP header: extended, lossless, lossy (RFC 9649). */
function webpSize(bytes: Buffer): { width: number; height: number } | undefined {
  const form = bytes.toString("latin1", 12, 16);
  if (form === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (form === "VP8L") {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (form === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  return undefined;
}

/** Walks the segments up to the frame header (ITU T.81, markers C0 to CF without C4, C8 and CC). */
function jpegSize(bytes: Buffer): { width: number; height: number } | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
