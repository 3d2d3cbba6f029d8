// A model that is spoken to without a provider's package: one request, its events read into parts as they are asked for.

import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import { excerpt } from "../excerpt.js";
import type { Usage } from "../types.js";
import type { JsonBody, ModelWiring, PartStream, StreamingModel } from "./dialect.js";
import type { WireReader } from "./http.js";
import { failed, type WireExtra } from "./parts.js";

/** Turns the events of one answer into parts. */
export interface EventTranslator<E> {
  take(event: E): void;
  /** The wire has nothing more: what is left goes out. A `finish` part says that the answer is whole. */
  end(): void;
  /** Set when the answer has said that it is over; nothing after it counts. */
  readonly isOver: boolean;
}

export type PushPart = (part: LanguageModelV3StreamPart) => void;

/** Cuts bytes into events. `end` is called once, when the bytes are over; it may throw when they end in the middle. */
export interface Framing {
  feed(bytes: Uint8Array): void;
  end(): void;
}

export interface WireModelOptions<E> {
  url: string;
  wiring: Pick<ModelWiring, "fetch" | "takeBody">;
  makeBody(options: LanguageModelV3CallOptions): JsonBody;
  framing(emit: (event: E) => void): Framing;
  translator(push: PushPart): EventTranslator<E>;
}

/** The model of one call. */
export function wireModel<E>({ url, wiring, makeBody, framing, translator }: WireModelOptions<E>): StreamingModel {
  return {
    async doStream(options) {
      const { headers, abortSignal } = options;
      const response = await wiring.fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "user-agent": "pi", ...headers } as Record<string, string>,
        body: JSON.stringify(wiring.takeBody(makeBody(options))),
        ...(abortSignal && { signal: abortSignal }),
      });
      const reader = response.body?.getReader() as unknown as WireReader;
      return { stream: { getReader: () => new WireParts(reader, framing, translator) } };
    },
  };
}

/** The data of server-sent events. */
export function eventStream(emit: (data: string) => void): Framing {
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => emit(data) });
  return {
    feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    // A last event without its empty line counts.
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  };
}

/** An event's record; what is no JSON becomes an error part, and anything but an object is undefined. */
export function parseEvent(data: string, push: PushPart): JsonBody | undefined {
  try {
    const record: unknown = JSON.parse(data);
    return typeof record === "object" && record !== null ? (record as JsonBody) : undefined;
  } catch {
    push({ type: "error", error: failed("incomplete", `Cannot read the answer: not JSON: ${excerpt(data)}`) });
    return undefined;
  }
}

/** What was used for the parts so far, which may be pushed many times. */
export function usageSoFar(usage: Usage): LanguageModelV3StreamPart {
  return { type: "raw", rawValue: { usage } satisfies WireExtra };
}

/** Usage of a `finish` part: told before. */
const usageToldBefore = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** The end of an answer that is whole. */
export function finish(raw: string | undefined, refused = false): LanguageModelV3StreamPart {
  const unified = refused ? "content-filter" : "other";
  return { type: "finish", finishReason: { unified, raw }, usage: usageToldBefore };
}

type Step = Awaited<ReturnType<PartStream["read"]>>;

/** The answer's parts, made from its bytes when they are asked for: at most one read from the wire is ahead of them. */
class WireParts<E> implements PartStream {
  readonly #reader: WireReader;
  readonly #framing: Framing;
  readonly #translator: EventTranslator<E>;
  readonly #events: E[] = [];
  #nextEvent = 0;
  readonly #parts: LanguageModelV3StreamPart[] = [];
  #nextPart = 0;
  /** The wire has nothing more. */
  #ended = false;
  #finished = false;

  constructor(
    reader: WireReader,
    framing: WireModelOptions<E>["framing"],
    translator: WireModelOptions<E>["translator"],
  ) {
    this.#reader = reader;
    this.#framing = framing((event) => this.#events.push(event));
    this.#translator = translator((part) => this.#parts.push(part));
  }

  async read(): Promise<Step> {
    for (;;) {
      const part = this.#parts[this.#nextPart];
      if (part) {
        this.#nextPart += 1;
        return { done: false, value: part };
      }
      this.#parts.length = 0;
      this.#nextPart = 0;
      if (this.#finished) {
        await this.#skipRest();
        return { done: true };
      }
      if (this.#nextEvent < this.#events.length) this.#translator.take(this.#events[this.#nextEvent++] as E);
      else if (!this.#ended) await this.#fill();
      else {
        this.#translator.end();
        this.#finished = true;
      }
      if (this.#translator.isOver) this.#finished = true;
    }
  }

  async cancel(): Promise<void> {
    this.#ended = true;
    await this.#reader.cancel();
  }

  async #fill(): Promise<void> {
    this.#events.length = 0;
    this.#nextEvent = 0;
    const { done, value } = await this.#reader.read();
    if (!done) this.#framing.feed(value);
    else {
      this.#ended = true;
      this.#framing.end();
    }
  }

  /** A connection that is read to its end can be used again. */
  async #skipRest(): Promise<void> {
    while (!this.#ended) this.#ended = (await this.#reader.read()).done;
  }
}
