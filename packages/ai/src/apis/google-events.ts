// The chunks of a Gemini stream → parts: texts, thoughts and calls with their signatures, usage, and the end.

import { type EventTranslator, finish, type PushPart, parseEvent, usageSoFar } from "../language-model/wire-model.js";
import type { Usage } from "../types.js";
import { emptyUsage } from "../usage.js";

interface Chunk {
  candidates?: readonly ({ content?: { parts?: readonly ChunkPart[] }; finishReason?: string } | null)[];
  promptFeedback?: { blockReason?: string };
  usageMetadata?: RawUsage;
  modelVersion?: string;
  responseId?: string;
  error?: unknown;
}

interface ChunkPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name?: string; args?: unknown };
}

interface RawUsage {
  promptTokenCount?: number;
  toolUsePromptTokenCount?: number;
  candidatesTokenCount?: number;
  thoughtsTokenCount?: number;
  cachedContentTokenCount?: number;
}

export class GeminiTranslator implements EventTranslator<string> {
  readonly isOver = false;
  readonly #push: PushPart;
  readonly #callIds = new Set<string>();
  #described = false;
  #finishReason: string | undefined;

  constructor(push: PushPart) {
    this.#push = push;
  }

  take(data: string): void {
    const chunk = parseEvent(data, this.#push) as Chunk | undefined;
    if (!chunk) return;
    if (chunk.error) {
      this.#push({ type: "error", error: { error: chunk.error } });
      return;
    }
    if (!this.#described && (chunk.responseId || chunk.modelVersion)) {
      this.#described = true;
      this.#push({ type: "response-metadata", id: chunk.responseId, modelId: chunk.modelVersion });
    }
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) this.#read(part);
    // It counts what this chunk brought, so it comes behind the parts.
    if (chunk.usageMetadata) this.#push(usageSoFar(readUsage(chunk.usageMetadata)));
    this.#finishReason = candidate?.finishReason ?? chunk.promptFeedback?.blockReason ?? this.#finishReason;
  }

  /** The last chunk names the reason; without one the answer was cut off. */
  end(): void {
    if (this.#finishReason !== undefined) this.#push(finish(this.#finishReason));
  }

  #read({ text, thought, thoughtSignature, functionCall }: ChunkPart): void {
    const wire = thoughtSignature ? { providerMetadata: { wire: { signature: thoughtSignature } } } : {};
    if (functionCall) this.#call(functionCall, wire);
    else if (typeof text === "string")
      this.#push({ type: thought ? "reasoning-delta" : "text-delta", id: "", delta: text, ...wire });
  }

  /** Calls come whole. Not every server gives them ids, and some repeat one. */
  #call({ id, name = "", args }: NonNullable<ChunkPart["functionCall"]>, wire: object): void {
    const isNew = id !== undefined && id !== "" && !this.#callIds.has(id);
    const toolCallId = isNew ? id : `call_${crypto.randomUUID().replaceAll("-", "")}`;
    this.#callIds.add(toolCallId);
    this.#push({ type: "tool-call", toolCallId, toolName: name, input: JSON.stringify(args ?? {}), ...wire });
  }
}

/** The prompt's count has cached tokens in it; thoughts are counted beside the answer. */
function readUsage(raw: RawUsage): Usage {
  const usage = emptyUsage();
  usage.cacheRead = raw.cachedContentTokenCount ?? 0;
  usage.input = Math.max(0, (raw.promptTokenCount ?? 0) + (raw.toolUsePromptTokenCount ?? 0) - usage.cacheRead);
  usage.output = (raw.candidatesTokenCount ?? 0) + (raw.thoughtsTokenCount ?? 0);
  if (raw.thoughtsTokenCount !== undefined) usage.reasoning = raw.thoughtsTokenCount;
  usage.totalTokens = usage.input + usage.output + usage.cacheRead;
  return usage;
}
