// What a tool gave back → a result that can be shown to a model, stored and sent; tools come from outside.

import type { ImageContent, TextContent, Usage } from "@earendil-works/pi-ai";
import type { AgentToolResult } from "./types.js";

/**
 * The result without what is none of its fields. Throws an error that names the tool when its content is no list of
 * texts and images, or when its details or data are no JSON.
 */
export function checkedResult(result: AgentToolResult, name: string): AgentToolResult {
  if (!result || !Array.isArray(result.content)) throw new Error(`Tool "${name}" returned no content list`);
  const wrong = result.content.findIndex((block) => !isBlock(block));
  if (wrong >= 0) throw new Error(`Tool "${name}" returned content that is neither text nor image, at ${wrong}`);
  const { content, details, structuredContent, usage, terminate, isError } = result;
  for (const [what, value] of Object.entries({ details, structuredContent })) {
    const reason = whyNoJson(value);
    if (reason !== undefined) throw new Error(`Tool "${name}" returned ${what} that are no JSON: ${reason}`);
  }
  return {
    content,
    ...(details !== undefined && { details }),
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isUsage(usage) && { usage }),
    ...(terminate === true && { terminate }),
    ...(isError === true && { isError }),
  };
}

/** Whether something is a text or an image as messages have them. */
export function isBlock(block: unknown): block is TextContent | ImageContent {
  const { type, text, data, mimeType } = (block ?? {}) as Record<string, unknown>;
  if (type === "text") return typeof text === "string";
  return type === "image" && typeof data === "string" && typeof mimeType === "string";
}

function isUsage(usage: unknown): usage is Usage {
  const { input, output, cacheRead, cacheWrite, totalTokens, cost } = (usage ?? {}) as Record<string, unknown>;
  const counts = [input, output, cacheRead, cacheWrite, totalTokens];
  return counts.every((count) => typeof count === "number") && typeof cost === "object" && cost !== null;
}

/** Why a value cannot be written as JSON, on one line; undefined when it can. */
export function whyNoJson(value: unknown): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split("\n")[0] : "it is no JSON";
  }
}
