// One running call under guard: start first, one end, idle watchdog, abort at once.

import { type ApiImplementation, loadApi } from "./apis/index.js";
import type { AssistantMessageEventStream } from "./event-stream.js";
import { MessageBuilder } from "./message-builder.js";
import { classifyProviderError, ProviderError } from "./provider-error.js";
import type { AssistantMessage, AssistantMessageEvent, Context, ErrorInfo, Model, StreamOptions } from "./types.js";

type Step = IteratorResult<AssistantMessageEvent>;
const over: Step = { done: true, value: undefined };

/**
 * Reads an API's answer on behalf of one reader. Whatever the API does, the reader sees `start`, block events and one
 * end; abort, timeout and a reader that leaves end the call at once, without waiting for the API to notice.
 */
export class GuardedCall implements AssistantMessageEventStream, AsyncIterator<AssistantMessageEvent> {
  readonly #model: Model;
  readonly #context: Context;
  readonly #options: StreamOptions;
  /** Ends the API's work. */
  readonly #stop = new AbortController();
  readonly #startedAt = performance.now();
  #source: AsyncIterator<AssistantMessageEvent> | undefined;
  /** The message so far; the API's own once it has said `start`. */
  #partial: AssistantMessage | undefined;
  #ready: AssistantMessageEvent[] = [];
  #ended = false;
  /** Resolves the read that waits for the API. */
  #waiting: ((step: Step) => void) | undefined;
  #hasReader = false;
  #resolveResult: ((message: AssistantMessage) => void) | undefined;
  #result: Promise<AssistantMessage> | undefined;

  // The watchdog: time spent waiting for the API since its last meaningful event. It stands still between reads.
  #timer: NodeJS.Timeout | undefined;
  #idleMs = 0;
  #waitingSince = 0;

  constructor(model: Model, context: Context, options: StreamOptions) {
    this.#model = model;
    this.#context = context;
    this.#options = options;
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<AssistantMessageEvent> {
    this.#hasReader = true;
    return this;
  }

  result(): Promise<AssistantMessage> {
    if (!this.#result) {
      this.#result = new Promise((resolve) => {
        this.#resolveResult = resolve;
      });
      this.#settleResult();
      // A reader that comes in the same turn of the event loop reads the stream itself.
      queueMicrotask(() => {
        if (!this.#hasReader) void this.#readAll();
      });
    }
    return this.#result;
  }

  next(): Promise<Step> {
    const event = this.#ready.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve(over);
    if (this.#options.signal?.aborted) {
      this.#onAbort();
      return this.next();
    }
    return new Promise<Step>((resolve) => {
      this.#waiting = resolve;
      this.#startWaiting();
      this.#pull();
    });
  }

  /** The reader leaves: the call ends as aborted. */
  return(): Promise<Step> {
    if (!this.#ended) this.#fail("aborted", { kind: "aborted" }, "Request was aborted");
    this.#ready = [];
    return Promise.resolve(over);
  }

  #pull(): void {
    if (this.#source) this.#source.next().then(this.#onStep, this.#onError);
    else this.#open().then(this.#onStep, this.#onError);
  }

  async #open(): Promise<Step> {
    const api: ApiImplementation | undefined = await loadApi(this.#model.api);
    if (!api)
      throw new ProviderError(`Cannot call "${this.#model.id}": unknown API "${this.#model.api}"`, {
        kind: "invalid_request",
      });
    if (this.#ended) return over;
    const options = { ...this.#options, signal: this.#stop.signal };
    this.#source = api.stream(this.#model, this.#context, options)[Symbol.asyncIterator]();
    return this.#source.next();
  }

  readonly #onStep = (step: Step): void => {
    if (this.#ended) return;
    if (step.done) {
      const text = `Stream of "${this.#model.id}" ended before its last event`;
      this.#fail("error", { kind: "incomplete" }, text);
      return;
    }
    const event = step.value;
    if (event.type === "start") this.#partial = event.partial;
    else if (!this.#partial) {
      // The API did not say `start`: say it first, on its own message.
      this.#partial = event.type === "done" ? event.message : event.type === "error" ? event.error : event.partial;
      this.#ready.push(event);
      if (event.type === "done" || event.type === "error") this.#end();
      this.#answer({ type: "start", partial: this.#partial });
      return;
    }
    if (event.type === "done" || event.type === "error") this.#end();
    this.#answer(event);
  };

  readonly #onError = (cause: unknown): void => {
    if (this.#ended) return;
    const error = classifyProviderError(cause, this.#options.apiKey);
    this.#fail(error.info.kind === "aborted" ? "aborted" : "error", error.info, error.message);
  };

  readonly #onAbort = (): void => {
    if (!this.#ended) this.#fail("aborted", { kind: "aborted" }, "Request was aborted");
  };

  #fail(reason: "error" | "aborted", info: ErrorInfo, text: string): void {
    const builder = this.#partial
      ? MessageBuilder.of(this.#partial)
      : MessageBuilder.begin({ model: this.#model, thinkingLevel: this.#options.thinkingLevel });
    if (!this.#partial) this.#ready.push(builder.start());
    this.#partial = builder.message;
    const events = builder.fail(reason, info, text);
    this.#ready.push(...events);
    this.#end();
    const first = this.#waiting ? this.#ready.shift() : undefined;
    if (first) this.#answer(first);
  }

  /** After this nothing more is read from the API. */
  #end(): void {
    this.#ended = true;
    this.#partial!.durationMs ??= Math.round(performance.now() - this.#startedAt);
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#stop.abort();
    // The API's own clean-up; nobody waits for it, and it can fail no one.
    void Promise.resolve(this.#source?.return?.()).catch(() => undefined);
    this.#settleResult();
  }

  #settleResult(): void {
    if (this.#ended && this.#partial) this.#resolveResult?.(this.#partial);
  }

  #answer(event: AssistantMessageEvent): void {
    const resolve = this.#waiting;
    this.#waiting = undefined;
    this.#stopWaiting(event);
    if (resolve) resolve({ done: false, value: event });
    else this.#ready.push(event);
  }

  async #readAll(): Promise<void> {
    while (!(await this.next()).done) {
      // The final message is all that is asked for.
    }
  }

  #startWaiting(): void {
    const limit = this.#options.idleTimeoutMs;
    if (!limit || !(limit > 0)) return;
    this.#waitingSince = performance.now();
    // One timer serves many reads: it is armed again only when it fires too early.
    this.#timer ??= setTimeout(this.#onTimer, Math.max(1, limit - this.#idleMs));
  }

  #stopWaiting(event: AssistantMessageEvent): void {
    if (this.#waitingSince === 0) return;
    if (event.type === "start") this.#idleMs += performance.now() - this.#waitingSince;
    else this.#idleMs = 0;
    this.#waitingSince = 0;
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    const limit = this.#options.idleTimeoutMs ?? 0;
    if (this.#ended || this.#waitingSince === 0) return;
    const left = limit - this.#idleMs - (performance.now() - this.#waitingSince);
    if (left > 0) this.#timer = setTimeout(this.#onTimer, Math.ceil(left));
    else this.#fail("error", { kind: "timeout" }, `No answer from "${this.#model.provider}" for ${limit} ms`);
  };
}
