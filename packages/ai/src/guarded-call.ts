// One running call under guard: start first, one end, idle watchdog, abort at once.

import { loadApi } from "./apis/index.js";
import { redactSecrets, secretsOf } from "./error-text.js";
import type { AssistantMessageEventStream } from "./event-stream.js";
import { MessageBuilder } from "./message-builder.js";
import { classifyProviderError, ProviderError } from "./provider-error.js";
import type { AssistantMessage, AssistantMessageEvent, Context, ErrorInfo, Model, StreamOptions } from "./types.js";
import { withEstimate } from "./usage.js";

type Step = IteratorResult<AssistantMessageEvent>;
const over: Step = { done: true, value: undefined };
const abortedText = "Request was aborted";

/**
 * Reads an API's answer on behalf of one reader. Whatever the API does, the reader sees `start`, block events and one
 * end; abort, timeout and a reader that leaves end the call at once, without waiting for the API to notice.
 */
export class GuardedCall implements AssistantMessageEventStream, AsyncIterator<AssistantMessageEvent> {
  readonly #model: Model;
  readonly #context: Context;
  readonly #options: StreamOptions;
  /** Ends the API's work when the API did not end it. */
  readonly #stop = new AbortController();
  readonly #startedAt = performance.now();
  #source: AsyncIterator<AssistantMessageEvent> | undefined;
  /** The message so far: the API's own once it has sent an event. */
  #partial: AssistantMessage | undefined;
  /** Events ready for the reader. */
  readonly #ready: AssistantMessageEvent[] = [];
  /** Blocks whose start the reader was given. */
  readonly #started = new Set<number>();
  #ended = false;
  /** Resolves the read that waits for the API. */
  #waiting: ((step: Step) => void) | undefined;
  #hasReader = false;
  readonly #result: Promise<AssistantMessage>;
  #resolveResult!: (message: AssistantMessage) => void;

  // The watchdog counts the time spent waiting for the API since its last event; between reads it stands still.
  readonly #idleLimit: number;
  #timer: NodeJS.Timeout | undefined;
  /** When the present wait began; -1 when nobody waits. */
  #waitingSince = -1;
  /** Runs until the API has sent its first event, which it does when the provider has taken the request. */
  #requestTimer: NodeJS.Timeout | undefined;

  constructor(model: Model, context: Context, options: StreamOptions) {
    this.#model = model;
    this.#context = context;
    this.#options = options;
    this.#idleLimit = options.idleTimeoutMs !== undefined && options.idleTimeoutMs > 0 ? options.idleTimeoutMs : 0;
    this.#result = new Promise((resolve) => {
      this.#resolveResult = resolve;
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<AssistantMessageEvent> {
    this.#hasReader = true;
    return this;
  }

  result(): Promise<AssistantMessage> {
    // A reader that comes in the same turn of the event loop reads the stream itself.
    queueMicrotask(() => {
      if (this.#hasReader) return;
      this.#hasReader = true;
      void this.#readAll();
    });
    return this.#result;
  }

  next(): Promise<Step> {
    if (this.#options.signal?.aborted) this.#onAbort();
    const event = this.#ready.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve(over);
    return new Promise<Step>((resolve) => {
      this.#waiting = resolve;
      this.#startWaiting();
      if (this.#source) this.#source.next().then(this.#onStep, this.#onError);
      else this.#open().then(this.#onStep, this.#onError);
    });
  }

  /** The reader leaves: a call that has not ended counts as aborted. */
  return(): Promise<Step> {
    this.#onAbort();
    this.#ready.length = 0;
    return Promise.resolve(over);
  }

  async #open(): Promise<Step> {
    this.#options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    const api = await loadApi(this.#model.api);
    if (!api) {
      const text = `Cannot call model "${this.#model.id}": unknown API "${this.#model.api}"`;
      throw new ProviderError(text, { kind: "invalid_request" });
    }
    if (this.#ended) return over;
    const { requestTimeoutMs = 0 } = this.#options;
    if (requestTimeoutMs > 0)
      this.#requestTimer = setTimeout(() => this.#onRequestTimeout(requestTimeoutMs), requestTimeoutMs);
    const options = { ...this.#options, signal: this.#stop.signal };
    this.#source = api.stream(this.#model, this.#context, options)[Symbol.asyncIterator]();
    return this.#source.next();
  }

  readonly #onStep = (step: Step): void => {
    if (this.#ended) return;
    clearTimeout(this.#requestTimer);
    if (step.done) {
      this.#fail("error", { kind: "incomplete" }, "Stream ended before the answer was complete");
      return;
    }
    const event = step.value;
    const isLast = event.type === "done" || event.type === "error";
    if (!this.#partial) {
      this.#partial = event.type === "done" ? event.message : event.type === "error" ? event.error : event.partial;
      if (event.type !== "start") this.#ready.push({ type: "start", partial: this.#partial });
    }
    if (event.type.endsWith("_start")) this.#started.add((event as { contentIndex: number }).contentIndex);
    this.#ready.push(event);
    if (isLast) this.#end();
    this.#answer();
  };

  /** The start of a block whose end is about to be told: it was still on its way when the call was cut. */
  #missingStart(event: AssistantMessageEvent): AssistantMessageEvent | undefined {
    if (!("contentIndex" in event) || !event.type.endsWith("_end") || this.#started.has(event.contentIndex))
      return undefined;
    const { contentIndex, partial } = event;
    if (event.type === "toolcall_end")
      return { type: "toolcall_start", contentIndex, id: event.toolCall.id, toolName: event.toolCall.name, partial };
    return { type: event.type === "text_end" ? "text_start" : "thinking_start", contentIndex, partial };
  }

  readonly #onError = (cause: unknown): void => {
    if (this.#ended) return;
    const { info, message } = classifyProviderError(cause, secretsOf(this.#options, this.#model));
    // Nobody asked for an abort, or the call would be over: it was the connection that was given up.
    this.#fail("error", info.kind === "aborted" ? { ...info, kind: "transport" } : info, message);
  };

  readonly #onAbort = (): void => {
    if (!this.#ended) this.#fail("aborted", { kind: "aborted" }, abortedText);
  };

  #fail(reason: "error" | "aborted", info: ErrorInfo, text: string): void {
    const builder = this.#partial
      ? MessageBuilder.of(this.#partial)
      : MessageBuilder.begin({ model: this.#model, thinkingLevel: this.#options.thinkingLevel });
    if (!this.#partial) this.#ready.push(builder.start());
    this.#partial = builder.message;
    for (const event of builder.fail(reason, info, text)) {
      const start = this.#missingStart(event);
      if (start) this.#ready.push(start);
      this.#ready.push(event);
    }
    this.#end(true);
    this.#answer();
  }

  /** After this nothing more is read from the API; `cut` when it was not the API that ended the call. */
  #end(cut = false): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#requestTimer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    const message = this.#partial!;
    if (message.stopReason === "error" || message.stopReason === "aborted") {
      const { characters, reportedCharacters } = MessageBuilder.of(message);
      message.usage = withEstimate(this.#model, message.usage, characters, reportedCharacters);
    }
    message.durationMs ??= Math.round(performance.now() - this.#startedAt);
    if (message.errorMessage) this.#redact(message, secretsOf(this.#options, this.#model));
    if (cut) this.#stop.abort();
    // The API cleans up after itself; nobody waits for it, and its failure is nobody's.
    Promise.resolve(this.#source?.return?.()).catch(() => undefined);
    this.#resolveResult(message);
  }

  /** Servers send back what they were sent, in all that they are asked to name. */
  #redact(message: AssistantMessage, secrets: readonly string[]): void {
    message.errorMessage = redactSecrets(message.errorMessage ?? "", secrets);
    if (message.rawStopReason) message.rawStopReason = redactSecrets(message.rawStopReason, secrets);
    if (message.error?.code) message.error = { ...message.error, code: redactSecrets(message.error.code, secrets) };
  }

  /** Gives the waiting read the next event. */
  #answer(): void {
    const resolve = this.#waiting;
    if (!resolve) return;
    this.#waiting = undefined;
    this.#waitingSince = -1;
    resolve({ done: false, value: this.#ready.shift()! });
  }

  async #readAll(): Promise<void> {
    while (!(await this.next()).done) {
      // Only the final message is asked for.
    }
  }

  #startWaiting(): void {
    if (this.#idleLimit === 0) return;
    this.#waitingSince = performance.now();
    // One timer serves many reads: it is armed again when it fires too early.
    this.#timer ??= setTimeout(this.#onTimer, this.#idleLimit);
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    if (this.#ended || this.#waitingSince < 0) return;
    const left = this.#idleLimit - (performance.now() - this.#waitingSince);
    if (left > 0) this.#timer = setTimeout(this.#onTimer, Math.ceil(left));
    else
      this.#fail(
        "error",
        { kind: "timeout" },
        `No answer from "${this.#model.provider}" for ${this.#idleLimit / 1000} seconds`,
      );
  };

  #onRequestTimeout(limit: number): void {
    if (this.#ended) return;
    const text = `"${this.#model.provider}" did not take the request within ${limit / 1000} seconds`;
    this.#fail("error", { kind: "timeout" }, text);
  }
}
