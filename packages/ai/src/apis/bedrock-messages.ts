// The bridge's prompt → the messages, system prompt and tools of a Bedrock Converse body.

import type { JSONObject, LanguageModelV3CallOptions, LanguageModelV3Message } from "@ai-sdk/provider";
import { onceAMessage } from "../language-model/once-a-message.js";

type Part = Exclude<LanguageModelV3Message["content"], string>[number];
type ResultPart = Extract<Part, { type: "tool-result" }>;

export interface BedrockMessage {
  role: "user" | "assistant";
  content: JSONObject[];
}

const blocksOf = onceAMessage((message: Exclude<LanguageModelV3Message, { role: "system" }>) =>
  message.content.map(blockOf),
);

/** Messages in turn, as the API demands: what users say in a row, and results before it, are blocks of one message. */
export function converseMessages(prompt: readonly LanguageModelV3Message[]): BedrockMessage[] {
  const messages: BedrockMessage[] = [];
  for (const message of prompt) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = blocksOf(message);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content: [...content] });
  }
  return messages;
}

export function systemBlocks(prompt: readonly LanguageModelV3Message[]): JSONObject[] {
  return prompt.flatMap((message) => (message.role === "system" ? [{ text: message.content }] : []));
}

/**
 * The tools of a body. A conversation with calls is refused without tools, so a call without them names the tools that
 * its history used.
 */
export function converseTools(
  tools: LanguageModelV3CallOptions["tools"],
  prompt: readonly LanguageModelV3Message[],
  supportsStrict: boolean,
): JSONObject[] {
  if (!tools?.length) return namesInHistory(prompt).map((name) => toolSpec({ name, inputSchema: { type: "object" } }));
  return tools.flatMap((tool) => {
    if (tool.type !== "function") return [];
    const { name, description, inputSchema, strict } = tool;
    return [
      toolSpec({
        name,
        ...(description && { description }),
        ...(supportsStrict && strict && { strict: true }),
        inputSchema: inputSchema as JSONObject,
      }),
    ];
  });
}

function toolSpec({ inputSchema, ...spec }: JSONObject & { inputSchema: JSONObject }): JSONObject {
  return { toolSpec: { ...spec, inputSchema: { json: inputSchema } } };
}

function namesInHistory(prompt: readonly LanguageModelV3Message[]): string[] {
  const names = new Set<string>();
  for (const message of prompt)
    if (message.role === "assistant")
      for (const part of message.content) if (part.type === "tool-call") names.add(part.toolName);
  return [...names];
}

function blockOf(part: Part): JSONObject {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "file":
      return imageBlock(part.mediaType, part.data as string);
    case "reasoning":
      return reasoningBlock(part.text, part.providerOptions?.wire);
    case "tool-call":
      return { toolUse: { toolUseId: part.toolCallId, name: part.toolName, input: part.input as JSONObject } };
    case "tool-result":
      return toolResult(part);
    default:
      return {};
  }
}

function reasoningBlock(text: string, wire: JSONObject | undefined): JSONObject {
  if (wire?.redacted) return { reasoningContent: { redactedContent: wire.signature } };
  return { reasoningContent: { reasoningText: { text, signature: wire?.signature } } };
}

/** Formats are named as the API names them: `image/png` is `png`. */
function imageBlock(mediaType: string, bytes: string): JSONObject {
  return { image: { format: mediaType.replace(/^image\//, ""), source: { bytes } } };
}

function toolResult({ toolCallId, output }: ResultPart): JSONObject {
  const failed = output.type === "error-text";
  let content: JSONObject[] = [];
  if (output.type === "text" || output.type === "error-text") content = [{ text: output.value }];
  else if (output.type === "content")
    content = output.value.flatMap((item): JSONObject[] => {
      if (item.type === "text") return [{ text: item.text }];
      return item.type === "image-data" ? [imageBlock(item.mediaType, item.data)] : [];
    });
  return { toolResult: { toolUseId: toolCallId, content, ...(failed && { status: "error" }) } };
}
