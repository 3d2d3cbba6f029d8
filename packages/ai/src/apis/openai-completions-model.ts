// One chat completions request, read straight from its events. The provider package for this API costs 300 KB of code
// and 150 ms of CPU on the first call (measured on Node 20), which every local server and proxy would pay.

import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import type { JsonBody, ModelWiring, StreamingModel } from "../language-model/dialect.js";
import {
  type EventTranslator,
  eventStream,
  finish,
  type PushPart,
  parseEvent,
  wireModel,
} from "../language-model/wire-model.js";
import { type Chunk, type Delta, textOfContent } from "./openai-completions-chunks.js";
import { ToolCallAssembler } from "./openai-completions-tool-calls.js";

export interface ChatModelOptions {
  url: string;
  wiring: Pick<ModelWiring, "fetch" | "takeBody">;
  makeBody(options: LanguageModelV3CallOptions): JsonBody;
  /** Sees every chunk before its parts are made. */
  onChunk: (chunk: Chunk) => void;
}

export function chatModel({ onChunk, ...options }: ChatModelOptions): StreamingModel {
  return wireModel<string>({
    ...options,
    framing: eventStream,
    translator: (push) => new ChunkTranslator(push, onChunk),
  });
}

class ChunkTranslator implements EventTranslator<string> {
  isOver = false;
  readonly #push: PushPart;
  readonly #onChunk: (chunk: Chunk) => void;
  readonly #calls: ToolCallAssembler;
  #described = false;
  #refused = false;
  #rawReason: string | undefined;

  constructor(push: PushPart, onChunk: (chunk: Chunk) => void) {
    this.#push = push;
    this.#onChunk = onChunk;
    this.#calls = new ToolCallAssembler(push);
  }

  take(data: string): void {
    if (data === "[DONE]") {
      this.end();
      return;
    }
    const chunk = parseEvent(data, this.#push) as Chunk | undefined;
    if (!chunk) return;
    if (!chunk.error && Array.isArray(chunk.choices)) this.#read(chunk);
    // Anything else may still have a meaning; the dialect knows.
    else this.#push({ type: "error", error: { name: "AI_TypeValidationError", value: chunk } });
  }

  /** Whether a missing finish reason is a failure, the dialect decides. */
  end(): void {
    this.isOver = true;
    this.#calls.endAll();
    this.#push(finish(this.#rawReason, this.#refused));
  }

  #read(chunk: Chunk): void {
    this.#onChunk(chunk);
    if (!this.#described) {
      this.#described = true;
      const { id, model } = chunk;
      this.#push({ type: "response-metadata", id: id ?? undefined, modelId: model ?? undefined });
    }
    const choice = chunk.choices?.[0];
    if (typeof choice?.finish_reason === "string") this.#rawReason = choice.finish_reason;
    if (choice?.delta) this.#readDelta(choice.delta);
  }

  #readDelta(delta: Delta): void {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (typeof reasoning === "string" && reasoning) this.#thinking(reasoning);
    const { content } = delta;
    if (typeof content === "string") this.#text(content);
    else if (Array.isArray(content)) {
      for (const { isThinking, text } of textOfContent(content)) isThinking ? this.#thinking(text) : this.#text(text);
    }
    if (typeof delta.refusal === "string" && delta.refusal) {
      this.#refused = true;
      this.#text(delta.refusal);
    }
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.#calls.add(call);
  }

  #text(delta: string): void {
    if (!delta) return;
    this.#calls.endWhole();
    this.#push({ type: "text-delta", id: "text", delta });
  }

  #thinking(delta: string): void {
    this.#calls.endWhole();
    this.#push({ type: "reasoning-delta", id: "reasoning", delta });
  }
}
