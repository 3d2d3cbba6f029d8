// The read tool: shows the lines of a text file from a given one on, or an image.

import type { FileHandle } from "node:fs/promises";
import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import * as Type from "typebox";
import { prepareImage, sniffImage } from "../lib/image.js";
import { openRegularFile, readRegularFileWithin } from "../lib/open-regular-file.js";
import type { ReadOperations } from "./operations.js";
import { resolveExistingPath, resolvePath } from "./paths.js";
import { readLines } from "./read-lines.js";
import { type BuiltInTool, checkAborted, systemReason, type ToolOptions } from "./tool.js";
import { defaultMaxBytes, formatSize, type TruncationDetails } from "./truncate.js";

export const readParameters = Type.Object({
  path: Type.String({ description: "The file, relative to the working directory or absolute" }),
  offset: Type.Optional(Type.Integer({ minimum: 1, description: "The line to start at; the first is 1" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many lines to read at most" })),
});

/** `truncation` is there when the limits of output cut the file, not when `limit` did. */
export interface ReadDetails {
  truncation?: TruncationDetails;
}

/** An image file above this many bytes is not read at all: 48 MB, 64 MB as base64. */
const maxImageBytes = 48 * 1024 * 1024;
/** Bytes looked at to tell what a file is. */
const sampleBytes = 8192;

/** `operations` reads files in place of this machine. */
export interface ReadToolOptions extends ToolOptions {
  operations?: ReadOperations;
}

export function createReadTool(options: ReadToolOptions): BuiltInTool<typeof readParameters, ReadDetails> {
  return {
    name: "read",
    label: "read",
    description:
      "Read a text file or an image (PNG, JPEG, GIF, WebP). Of a text the first 2000 lines or 50KB are returned, " +
      "whichever is less; a notice at the end says with which offset to go on. Use offset and limit for parts of large files.",
    promptSnippet: "Read text files and images",
    promptGuidelines: ["Use read to look at files, not cat, head or sed."],
    parameters: readParameters,
    async execute(_id, { path, offset, limit }, signal) {
      checkAborted(signal);
      const { operations } = options;
      const file = operations ? resolvePath(path, options.cwd) : resolveExistingPath(path, options.cwd);
      try {
        if (operations) {
          await operations.access(file);
          const bytes = Buffer.from(await operations.readFile(file));
          checkAborted(signal);
          const sample = bytes.subarray(0, sampleBytes);
          if (sniffImage(sample)) return await showImage(bytes, options);
          return sample.includes(0)
            ? binaryNote(path, bytes.length)
            : await readText(onePiece(bytes), path, { offset, limit });
        }
        const { handle, size } = await openRegularFile(file);
        try {
          const sample = await readSample(handle);
          checkAborted(signal);
          if (sniffImage(sample)) return await readImage(file, options, signal);
          if (sample.includes(0)) return binaryNote(path, size);
          const stream = handle.createReadStream({ highWaterMark: 256 * 1024, signal });
          return await readText(stream, path, { offset, limit });
        } finally {
          await handle.close();
        }
      } catch (error) {
        checkAborted(signal);
        const advice = (error as NodeJS.ErrnoException).code === "EISDIR" ? "; list it with ls" : "";
        throw new Error(`Cannot read "${path}": ${systemReason(error)}${advice}`);
      }
    },
  };
}

async function readSample(handle: FileHandle): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
  return buffer.subarray(0, bytesRead);
}

async function readImage(
  file: string,
  options: ToolOptions,
  signal: AbortSignal | undefined,
): Promise<AgentToolResult<ReadDetails>> {
  const tooLarge = (bytes: number) =>
    new Error(`the image has ${formatSize(bytes)}, more than the ${formatSize(maxImageBytes)} that can be shown`);
  const bytes = await readRegularFileWithin(file, { maxBytes: maxImageBytes, tooLarge, signal });
  return showImage(bytes, options);
}

async function showImage(bytes: Buffer, options: ToolOptions): Promise<AgentToolResult<ReadDetails>> {
  const image = await prepareImage(
    { data: bytes.toString("base64"), mimeType: "" },
    { ...options.imageLimits, ...(options.autoResizeImages === false ? { resize: false } : {}) },
  );
  const note = image.note ? `\n[${image.note}]` : "";
  return {
    content: [
      { type: "text", text: `Read image file [${image.mimeType}]${note}` },
      { type: "image", data: image.data, mimeType: image.mimeType },
    ],
  };
}

function binaryNote(path: string, size: number): AgentToolResult<ReadDetails> {
  const text = `[Binary file "${path}", ${formatSize(size)}: not shown. Look into it with bash: file, strings or xxd]`;
  return { content: [{ type: "text", text }] };
}

async function* onePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function readText(
  chunks: AsyncIterable<Buffer>,
  path: string,
  range: { offset?: number; limit?: number },
): Promise<AgentToolResult<ReadDetails>> {
  const { offset = 1, limit } = range;
  const read = await readLines(chunks, { offset, limit });
  const lineCount = read.totalIsKnown ? String(read.totalLines) : `more than ${read.totalLines}`;
  if (offset > 1 && offset > read.totalLines && read.totalIsKnown)
    throw new Error(`offset ${offset} is beyond the end, the file has ${lineCount} lines`);
  const { truncation } = read;
  if (truncation.firstLineExceedsLimit) {
    const size = `${read.totalIsKnown ? "" : "more than "}${formatSize(read.firstLineBytes)}`;
    const way = `sed -n '${offset}p' ${shellQuote(path)} | head -c ${defaultMaxBytes}`;
    const text = `[Line ${offset} has ${size}, more than the ${formatSize(defaultMaxBytes)} that can be shown. Use bash: ${way}]`;
    return { content: [{ type: "text", text }], details: { truncation: withoutContent(truncation) } };
  }
  const next = offset + truncation.outputLines;
  let text = truncation.content;
  if (truncation.truncated) {
    const limited = truncation.truncatedBy === "bytes" ? ` (${formatSize(defaultMaxBytes)} limit)` : "";
    text += `\n\n[Showing lines ${offset}-${next - 1} of ${lineCount}${limited}. Use offset=${next} to continue.]`;
    return { content: [{ type: "text", text }], details: { truncation: withoutContent(truncation) } };
  }
  if (next <= read.totalLines || !read.totalIsKnown) {
    text = `${text.replace(/\n$/, "")}\n\n[Showing lines ${offset}-${next - 1} of ${lineCount}. Use offset=${next} to continue.]`;
  }
  return { content: [{ type: "text", text }] };
}

function withoutContent({ content: _, ...details }: { content: string } & TruncationDetails): TruncationDetails {
  return details;
}

function shellQuote(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
