// The chunks of chat completion servers, and what stands in them beside text: usage in odd places, odd reasoning.

import type { PartReader } from "../language-model/parts.js";
import type { Usage } from "../types.js";
import { emptyUsage } from "../usage.js";
import type { ToolCallDelta } from "./openai-completions-tool-calls.js";

/** Fields that servers put reasoning text in; the package knows the first two. */
const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text"] as const;
type ReasoningField = (typeof reasoningFields)[number];

export function isReasoningField(name: string): name is ReasoningField {
  return (reasoningFields as readonly string[]).includes(name);
}

export interface Chunk {
  id?: string | null;
  model?: string | null;
  usage?: RawUsage | null;
  choices?: readonly ({ usage?: RawUsage | null; delta?: Delta | null; finish_reason?: unknown } | null)[] | null;
  error?: unknown;
}

export type Delta = { [field in ReasoningField]?: unknown } & {
  content?: unknown;
  refusal?: unknown;
  reasoning_details?: unknown;
  tool_calls?: readonly ToolCallDelta[] | null;
};

interface RawUsage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
  completion_tokens_details?: { reasoning_tokens?: number | null } | null;
  /** DeepSeek's name for cached tokens. */
  prompt_cache_hit_tokens?: number | null;
  /** Mistral's. */
  num_cached_tokens?: number | null;
}

type Detail = Record<string, unknown>;

/**
 * Sees every chunk before its parts are made. Nothing is read ahead of the consumer, so what is told to the reader here
 * comes behind the parts of the chunks before and ahead of the parts of this one.
 */
export function chunkReader(reader: PartReader): (chunk: Chunk) => void {
  /** OpenRouter's reasoning records, which go back as they came. */
  const details: Detail[] = [];
  let field: ReasoningField | undefined;
  reader.defaultSignature = () => {
    const signature = details.length > 0 ? JSON.stringify(details) : field;
    details.length = 0;
    return signature;
  };
  return (chunk) => {
    const choice = chunk.choices?.[0];
    const usage = chunk.usage ?? choice?.usage;
    if (usage) reader.setUsage(readUsage(usage));
    const delta = choice?.delta;
    if (!delta) return;
    const named = reasoningFields.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (named) field = named;
    if (named === "reasoning_text") reader.thinking(delta.reasoning_text as string);
    if (Array.isArray(delta.reasoning_details)) {
      for (const detail of delta.reasoning_details as (Detail | null)[]) {
        if (!detail || typeof detail !== "object") continue;
        // The text is in `reasoning` too, as a rule; where it is not, it is in the record alone.
        if (named === undefined) reader.thinking(textOf(detail));
        collect(details, detail);
      }
    }
  };
}

interface ContentText {
  isThinking: boolean;
  text: string;
}

/** Content that comes as a list of parts: texts, and thinking with texts of its own. */
export function textOfContent(parts: readonly unknown[]): ContentText[] {
  return (parts as ({ type?: unknown; text?: unknown; thinking?: unknown } | null)[]).flatMap((part): ContentText[] => {
    if (part?.type === "text" && typeof part.text === "string") return [{ isThinking: false, text: part.text }];
    if (part?.type !== "thinking" || !Array.isArray(part.thinking)) return [];
    return textOfContent(part.thinking).map(({ text }) => ({ isThinking: true, text }));
  });
}

/** A chunk without choices may still have usage or an error; anything else in it has no meaning here. */
export function readOddChunk(chunk: unknown, reader: PartReader): void {
  if (typeof chunk !== "object" || chunk === null) return;
  const { error, usage, choices } = chunk as Chunk;
  if (error) reader.failWith(error);
  if (usage) reader.setUsage(readUsage(usage));
  const finishReason = choices?.[0]?.finish_reason;
  if (typeof finishReason === "string") reader.setRawStopReason(finishReason);
}

/** `prompt_tokens` counts cached tokens too; ours do not. */
function readUsage(raw: RawUsage): Usage {
  const usage = emptyUsage();
  usage.cacheRead =
    raw.prompt_tokens_details?.cached_tokens ?? raw.prompt_cache_hit_tokens ?? raw.num_cached_tokens ?? 0;
  usage.cacheWrite = raw.prompt_tokens_details?.cache_write_tokens ?? 0;
  usage.input = Math.max(0, (raw.prompt_tokens ?? 0) - usage.cacheRead - usage.cacheWrite);
  usage.output = raw.completion_tokens ?? 0;
  const reasoning = raw.completion_tokens_details?.reasoning_tokens;
  if (typeof reasoning === "number") usage.reasoning = reasoning;
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return usage;
}

function textOf(detail: Detail): string {
  const text = detail.text ?? detail.summary;
  return typeof text === "string" ? text : "";
}

/** Pieces of one record come one after the other; they are put together as their text is. */
function collect(details: Detail[], detail: Detail): void {
  const last = details.at(-1);
  const continues = last && last.type === detail.type && last.index === detail.index && !("data" in detail);
  if (!continues) {
    details.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const known = last[name];
    if ((name === "text" || name === "summary") && typeof known === "string") last[name] = `${known}${value ?? ""}`;
    else if (value !== null && value !== undefined) last[name] = value;
  }
}
