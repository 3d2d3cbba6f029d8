// The prompts of a command line: messages, `@file` texts and images, and what is piped in.

import { resolve } from "node:path";
import type { ImageContent } from "@earendil-works/pi-ai";
import { expandHome } from "./lib/agent-directory.js";
import { prepareImage, sniffImage } from "./lib/image.js";
import { readRegularFile } from "./lib/read-regular-file.js";
import type { Prompt } from "./modes/one-shot.js";

/**
 * Piped text and files go before the first message. Throws an error that names the file when one cannot be read or is
 * neither text nor an image.
 */
export async function commandLinePrompts(
  { messages, files }: { messages: readonly string[]; files: readonly string[] },
  cwd: string,
  piped: string,
): Promise<Prompt[]> {
  const parts: string[] = [];
  const images: ImageContent[] = [];
  if (piped.trim()) parts.push(piped);
  for (const file of files) {
    const path = resolve(cwd, expandHome(file));
    const bytes = readBytes(file, path);
    if (sniffImage(bytes)) {
      const { data, mimeType } = await imageOf(file, bytes);
      parts.push(`<file name="${path}"></file>\n`);
      images.push({ type: "image", data, mimeType });
    } else {
      parts.push(`<file name="${path}">\n${textOf(file, bytes)}\n</file>\n`);
    }
  }
  const [first, ...rest] = messages;
  const text =
    parts.join("") +
    (first === undefined ? "" : parts.length > 0 && !parts.at(-1)?.endsWith("\n") ? `\n${first}` : first);
  if (!text && images.length === 0) return [];
  return [{ text, ...(images.length > 0 && { images }) }, ...rest.map((message) => ({ text: message }))];
}

function readBytes(file: string, path: string): Buffer {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw new Error(`Cannot read "${file}": ${(error as Error).message}`);
  }
}

async function imageOf(file: string, bytes: Buffer) {
  try {
    return await prepareImage({ data: bytes.toString("base64"), mimeType: "" });
  } catch (error) {
    throw new Error(`Cannot use "${file}": ${(error as Error).message}`);
  }
}

function textOf(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`Cannot use "${file}": it is neither UTF-8 text nor an image`);
  }
}

/** Everything on stdin, decoded as UTF-8. */
export async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString("utf8");
}
