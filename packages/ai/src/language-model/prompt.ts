// Turns a context into the prompt of the providers' common interface, for one target model.

import { createHash } from "node:crypto";
import type {
  JSONObject,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";
import type {
  AssistantMessage,
  Context,
  ImageContent,
  Message,
  Model,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../types.js";
import { sendableTranscript } from "./transcript.js";

/** What a model accepts in a prompt. Everything conversion depends on is in `key` or constant for it. */
export interface PromptTarget {
  model: Model;
  /** Names the target; what was converted for one key is used again for the same key only. */
  key: string;
  /** The longest tool call id the API accepts; ids are letters, digits, `_` and `-` everywhere. */
  longestToolCallId: number;
  /** Makes an id the API accepts, where that is not enough; the same for the same id. */
  toolCallId?: (id: string) => string;
  /** False: images of tool results follow in a user message. */
  imagesInToolResults: boolean;
  /** The part that gives the model's own thinking back; undefined leaves it out. */
  thinkingPart?: (block: ThinkingContent) => LanguageModelV3ReasoningPart | LanguageModelV3TextPart | undefined;
  /** Fields for the message of an own answer, such as reasoning in a field of its own. */
  assistantFields?: (message: AssistantMessage) => JSONObject | undefined;
  /** Fields for a tool result. */
  toolResultFields?: (message: ToolResultMessage) => JSONObject | undefined;
  /** The name the provider's package reads such fields under. */
  fieldsKey?: string;
  /** Text of an assistant message between tool results and a user message, for servers that demand one. */
  assistantAfterToolResult?: string;
}

export interface ConvertedPrompt {
  prompt: LanguageModelV3Prompt;
  /** Ids of failed tool calls whose result has images: the common interface cannot say both. */
  failedWithImages: string[];
}

/** Text that stands where there was nothing to send; providers refuse empty content. */
const emptyText = "(empty)";
const emptyOutput = "(no output)";
const imageLeftOut = "[image left out: this model takes text only]";

type ContentPart = LanguageModelV3TextPart | LanguageModelV3FilePart;

interface Converted {
  key: string;
  /** Undefined: nothing of the message is left to send. */
  message: LanguageModelV3Message | undefined;
  /** Images that belong into a user message behind the tool results. */
  images?: LanguageModelV3FilePart[];
  failedWithImages?: string;
}

/** Messages do not change once they are in a history, so each is converted once a target. */
const converted = new WeakMap<Message, Converted>();

/** The prompt for a target. A long history costs only what was added since the last call. */
export function makePrompt(context: Context, target: PromptTarget): ConvertedPrompt {
  const prompt: LanguageModelV3Prompt = [];
  const failedWithImages: string[] = [];
  if (context.systemPrompt?.trim()) prompt.push({ role: "system", content: wellFormed(context.systemPrompt) });
  let images: LanguageModelV3FilePart[] = [];
  let afterToolResult = false;

  for (const source of sendableTranscript(context.messages)) {
    const entry = convert(source, target);
    if (source.role !== "toolResult") {
      const bridge = source.role === "user" || images.length > 0 ? target.assistantAfterToolResult : undefined;
      if (afterToolResult && bridge) prompt.push({ role: "assistant", content: [{ type: "text", text: bridge }] });
      if (images.length > 0) prompt.push(imagesMessage(images));
      images = [];
      afterToolResult = false;
    }
    if (entry.message) prompt.push(entry.message);
    if (source.role === "toolResult") {
      afterToolResult = true;
      if (entry.images) images.push(...entry.images);
      if (entry.failedWithImages) failedWithImages.push(entry.failedWithImages);
    }
  }
  if (images.length > 0) {
    const bridge = target.assistantAfterToolResult;
    if (bridge) prompt.push({ role: "assistant", content: [{ type: "text", text: bridge }] });
    prompt.push(imagesMessage(images));
  }
  return { prompt, failedWithImages };
}

function convert(source: Message, target: PromptTarget): Converted {
  const known = converted.get(source);
  if (known?.key === target.key) return known;
  const entry =
    source.role === "user"
      ? { key: target.key, message: convertUser(source, target) }
      : source.role === "assistant"
        ? { key: target.key, message: convertAssistant(source, target) }
        : convertToolResult(source, target);
  converted.set(source, entry);
  return entry;
}

function convertUser(source: UserMessage, target: PromptTarget): LanguageModelV3Message {
  const blocks =
    typeof source.content === "string" ? [{ type: "text" as const, text: source.content }] : source.content;
  const content = contentParts(blocks, target);
  return { role: "user", content: content.length > 0 ? content : [{ type: "text", text: emptyText }] };
}

function contentParts(blocks: readonly (TextContent | ImageContent)[], target: PromptTarget): ContentPart[] {
  const parts: ContentPart[] = [];
  const takesImages = target.model.input.includes("image");
  for (const block of blocks) {
    if (block.type === "text") {
      if (block.text.trim() !== "") parts.push({ type: "text", text: wellFormed(block.text) });
    } else if (takesImages) {
      parts.push({ type: "file", mediaType: block.mimeType, data: block.data });
    } else if (!parts.some((part) => part.type === "text" && part.text === imageLeftOut)) {
      parts.push({ type: "text", text: imageLeftOut });
    }
  }
  return parts;
}

function convertAssistant(source: AssistantMessage, target: PromptTarget): LanguageModelV3Message | undefined {
  const { model } = target;
  const own = source.api === model.api && source.provider === model.provider && source.model === model.id;
  const content: (LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart)[] = [];
  for (const block of source.content) {
    if (block.type === "text") {
      const signature = own ? block.textSignature : undefined;
      if (block.text.trim() !== "")
        content.push({ type: "text", text: wellFormed(block.text), ...wireOptions({ signature }) });
    } else if (block.type === "toolCall") {
      content.push(toolCallPart(block, own, target));
    } else {
      const part = own ? target.thinkingPart?.(block) : thinkingAsText(block);
      if (part) content.push(part);
    }
  }
  const fields = own ? target.assistantFields?.(source) : undefined;
  if (content.length === 0) return undefined;
  return { role: "assistant", content, ...providerFields(fields, target) };
}

/** Thinking of another model is plain text to this one; a redacted block says nothing to it. */
export function thinkingAsText(block: ThinkingContent): LanguageModelV3TextPart | undefined {
  if (block.redacted || block.thinking.trim() === "") return undefined;
  return { type: "text", text: wellFormed(block.thinking) };
}

function toolCallPart(block: ToolCall, own: boolean, target: PromptTarget): LanguageModelV3ToolCallPart {
  const part: LanguageModelV3ToolCallPart = {
    type: "tool-call",
    toolCallId: toolCallIdFor(block.id, target),
    toolName: block.name,
    input: wellFormedValue(block.arguments),
  };
  return own ? { ...part, ...wireOptions({ signature: block.thoughtSignature, namespace: block.namespace }) } : part;
}

function convertToolResult(source: ToolResultMessage, target: PromptTarget): Converted {
  const parts = contentParts(source.content, target);
  const texts = parts.filter((part): part is LanguageModelV3TextPart => part.type === "text").map((part) => part.text);
  const images = parts.filter((part): part is LanguageModelV3FilePart => part.type === "file");
  const toolCallId = toolCallIdFor(source.toolCallId, target);
  const native = images.length > 0 && target.imagesInToolResults;
  const text = texts.join("\n") || (images.length > 0 ? "(see the image)" : emptyOutput);
  const output: LanguageModelV3ToolResultPart["output"] = native
    ? {
        type: "content",
        value: [
          ...texts.map((value) => ({ type: "text" as const, text: value })),
          ...images.map((image) => ({
            type: "image-data" as const,
            data: image.data as string,
            mediaType: image.mediaType,
          })),
        ],
      }
    : { type: source.isError ? "error-text" : "text", value: text };
  const part: LanguageModelV3ToolResultPart = {
    type: "tool-result",
    toolCallId,
    toolName: source.toolName,
    output,
    ...providerFields(target.toolResultFields?.(source), target),
  };
  const entry: Converted = { key: target.key, message: { role: "tool", content: [part] } };
  if (images.length > 0 && !native) entry.images = images;
  if (native && source.isError) entry.failedWithImages = toolCallId;
  return entry;
}

function imagesMessage(images: LanguageModelV3FilePart[]): LanguageModelV3Message {
  return { role: "user", content: [{ type: "text", text: "Images from the tool results above:" }, ...images] };
}

/** What own blocks carry for the API that made them, under the name `wire`; undefined when there is nothing. */
function wireOptions(fields: { signature?: string; namespace?: string }) {
  const known = Object.entries(fields).filter(([, value]) => value);
  return known.length > 0 ? { providerOptions: { wire: Object.fromEntries(known) as JSONObject } } : undefined;
}

function toolCallIdFor(id: string, target: PromptTarget): string {
  return target.toolCallId?.(id) ?? validToolCallId(id, target.longestToolCallId);
}

function providerFields(fields: JSONObject | undefined, target: PromptTarget) {
  return fields && target.fieldsKey ? { providerOptions: { [target.fieldsKey]: fields } } : undefined;
}

/**
 * An id every provider accepts, the same for the same id: `[a-zA-Z0-9_-]`, at most `longest` characters. An id that had
 * to be changed ends in a hash of the original, so that two of them never meet.
 */
export function validToolCallId(id: string, longest: number): string {
  if (id.length > 0 && id.length <= longest && /^[a-zA-Z0-9_-]+$/.test(id)) return id;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
  const readable = id.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, longest - hash.length - 1);
  return `${readable || "call"}_${hash}`;
}

/** Lone surrogates, which no UTF-8 request can carry, become U+FFFD. */
export function wellFormed(text: string): string {
  const strings = text as string & { isWellFormed(): boolean; toWellFormed(): string };
  return strings.isWellFormed() ? text : strings.toWellFormed();
}

function wellFormedValue(value: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(value);
  // JSON.stringify writes a lone surrogate, and nothing else that is not a pair, as \udXXX.
  if (!/\\ud[89a-f]/i.test(text)) return value;
  return JSON.parse(text, (_key, item) => (typeof item === "string" ? wellFormed(item) : item));
}
