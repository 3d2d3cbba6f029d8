// One call over a provider's package: makes the prompt, opens the stream, reads it as fast as it is pulled.

import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import type { ApiImplementation } from "../apis/index.js";
import { MessageBuilder } from "../message-builder.js";
import { classifyProviderError } from "../provider-error.js";
import { splitLogin } from "../sendable.js";
import type { AssistantMessageEvent, Model, StreamOptions } from "../types.js";
import { checkHeaders } from "./check-request.js";
import type { Dialect, DialectCall, JsonBody, PartStream } from "./dialect.js";
import { makeFetch, type WireRequest } from "./fetch.js";
import { PartReader } from "./parts.js";
import { type ConvertedPrompt, makePrompt } from "./prompt.js";

type Step = IteratorResult<AssistantMessageEvent>;
type ReadStep = Awaited<ReturnType<PartStream["read"]>>;
const over: Step = { done: true, value: undefined };

/** How long, in milliseconds, a finished answer's connection may take to close before it is cut instead of kept for reuse. */
const closingTime = 1000;

/** An API that speaks through a provider's package. */
export function makeApi(dialect: Dialect): ApiImplementation {
  return {
    stream: (model, context, options) => ({
      [Symbol.asyncIterator]: () => new LanguageModelCall(dialect, { model, context, options }),
    }),
  };
}

class LanguageModelCall implements AsyncIterator<AssistantMessageEvent> {
  readonly #dialect: Dialect;
  readonly #call: DialectCall;
  readonly #builder: MessageBuilder;
  readonly #parts: PartReader;
  #stream: PartStream | undefined;
  #opening = false;
  #accepted = false;
  #reading = false;
  /** Events not yet delivered begin at `#next`. */
  readonly #events: AssistantMessageEvent[] = [];
  #next = 0;
  #ended = false;
  #resolve: ((step: Step) => void) | undefined;

  constructor(dialect: Dialect, call: DialectCall) {
    this.#dialect = dialect;
    this.#call = { ...call, model: withLoginApart(call.model) };
    this.#builder = MessageBuilder.begin({ model: call.model, thinkingLevel: call.options.thinkingLevel });
    this.#parts = new PartReader(this.#builder, dialect, call, (event) => this.#emit(event));
  }

  next(): Promise<Step> {
    if (this.#next < this.#events.length) return Promise.resolve(this.#shift());
    if (this.#ended) return Promise.resolve(over);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#read();
    });
  }

  /** The reader is done: a finished answer's connection is kept for the next call, any other is closed. */
  return(): Promise<Step> {
    this.#ended = true;
    const stream = this.#stream;
    const isWhole = this.#builder.message.stopReason !== "error" && this.#builder.message.stopReason !== "aborted";
    if (stream && this.#parts.isOver && isWhole) void drain(stream);
    else stream?.cancel().catch(() => undefined);
    return Promise.resolve(over);
  }

  async #open(): Promise<PartStream> {
    const { model, context, options } = this.#call;
    const prompt = makePrompt(context, this.#dialect.promptTarget(model));
    const wire: WireRequest = {
      model,
      options,
      payload: undefined,
      onAccepted: () => this.#accept(),
      refusalText: (status, body) => this.#dialect.refusalText(status, body, this.#call),
    };
    const { authorize } = this.#dialect;
    if (authorize) wire.authorize = (request) => authorize(request, this.#call);
    if (this.#dialect.inspector) wire.inspect = this.#dialect.inspector(this.#parts);
    const languageModel = this.#dialect.makeModel(this.#call, {
      fetch: makeFetch(wire),
      reader: this.#parts,
      takeBody: (body: JsonBody) => {
        this.#dialect.editBody(body, this.#call, prompt);
        wire.payload = body;
        return {};
      },
    });
    const { stream } = await languageModel.doStream(this.#callOptions(prompt));
    return stream.getReader() as PartStream;
  }

  #callOptions({ prompt }: ConvertedPrompt): LanguageModelV3CallOptions {
    const { model, context, options } = this.#call;
    const custom = withLowerCaseNames({ ...model.headers, ...options.headers });
    const headers = this.#dialect.headers(this.#call, custom);
    checkHeaders(model, headers, options.apiKey);
    const callOptions: LanguageModelV3CallOptions = { prompt, headers, abortSignal: options.signal };
    if (context.tools?.length)
      callOptions.tools = context.tools.map((tool) => ({
        type: "function",
        name: tool.name,
        description: tool.description,
        inputSchema: tool.parameters,
        ...(tool.constrainedSampling?.type === "json_schema" && { strict: true }),
      }));
    return callOptions;
  }

  /** The provider took the request: the message begins, though its first delta may be long in coming. */
  #accept(): void {
    this.#accepted = true;
    this.#emit(this.#builder.start());
  }

  #read(): void {
    if (this.#reading || this.#ended) return;
    if (this.#stream) {
      this.#reading = true;
      const { onStreamEvent } = this.#call.options;
      const step = this.#stream.read();
      (onStreamEvent ? shown(step, onStreamEvent) : step).then(this.#onPart, this.#onError);
    } else if (!this.#opening) {
      this.#opening = true;
      this.#open().then(this.#onOpen, this.#onError);
    }
  }

  readonly #onOpen = (stream: PartStream): void => {
    this.#stream = stream;
    if (this.#ended) stream.cancel().catch(() => undefined);
    else if (this.#resolve) this.#read();
  };

  readonly #onPart = (step: ReadStep): void => {
    this.#reading = false;
    if (this.#ended) return;
    if (!step.done) this.#parts.take(step.value);
    if (step.done || this.#parts.isOver) this.#conclude();
    else if (this.#resolve) this.#read();
  };

  readonly #onError = (cause: unknown): void => {
    this.#reading = false;
    if (this.#ended) return;
    const record = this.#accepted ? firstEventError(cause) : undefined;
    if (record) this.#parts.failWith(record);
    else this.#parts.fail(classifyProviderError(cause));
    this.#conclude();
  };

  #conclude(): void {
    this.#ended = true;
    this.#parts.conclude();
  }

  #emit(event: AssistantMessageEvent): void {
    this.#events.push(event);
    const resolve = this.#resolve;
    if (!resolve) return;
    this.#resolve = undefined;
    resolve(this.#shift());
  }

  #shift(): Step {
    const value = this.#events[this.#next++]!;
    if (this.#next === this.#events.length) {
      this.#events.length = 0;
      this.#next = 0;
    }
    return { done: false, value };
  }
}

/**
 * The error record of an answer that began with one. A package may report it as a refusal, with a status it made up;
 * when the first event is one it cannot read, that is no record, and the answer is incomplete.
 */
function firstEventError(cause: unknown): unknown {
  const body = (cause as { responseBody?: unknown } | undefined)?.responseBody;
  if (typeof body !== "string") return undefined;
  try {
    const record = JSON.parse(body) as { name?: string; type?: string };
    if (record.name?.startsWith("AI_"))
      return { error: { type: "invalid_stream", message: "The answer does not begin as the API says" } };
    return { type: "error", error: record };
  } catch {
    return undefined;
  }
}

/** A user and password in the base URL go as a header, which every way of sending takes. */
function withLoginApart(model: Model): Model {
  const { address, login } = splitLogin(model.baseUrl);
  return login === undefined
    ? model
    : { ...model, baseUrl: address, headers: { authorization: login, ...model.headers } };
}

function withLowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A part that somebody looks at first. */
async function shown(
  reading: Promise<ReadStep>,
  onStreamEvent: NonNullable<StreamOptions["onStreamEvent"]>,
): Promise<ReadStep> {
  const step = await reading;
  if (!step.done) await onStreamEvent(step.value);
  return step;
}

/** Reads to the end, so that the connection can be used again; cuts it when the server does not close in time. */
async function drain(stream: PartStream): Promise<void> {
  const timer = setTimeout(() => void stream.cancel().catch(() => undefined), closingTime);
  timer.unref();
  try {
    while (!(await stream.read()).done) {
      // Nothing after the end counts.
    }
  } catch {
    // A connection that breaks after the answer has lost nothing.
  } finally {
    clearTimeout(timer);
  }
}
