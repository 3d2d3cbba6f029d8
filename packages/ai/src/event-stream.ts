// The streams of events a call answers with: what a reader sees, and one that is pushed into.

import type { AssistantMessage, AssistantMessageEvent } from "./types.js";

/**
 * The events of one call, pulled by one reader, and its final message. `result` never rejects; called without a reader
 * it reads the stream itself. Leaving the loop early ends the call.
 */
export interface AssistantMessageEventStream extends AsyncIterable<AssistantMessageEvent> {
  result(): Promise<AssistantMessage>;
}

/** A stream that its maker pushes events into; it ends at the first `done` or `error`. It buffers without limit. */
export class PushedEventStream implements AssistantMessageEventStream {
  readonly #events: AssistantMessageEvent[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  #resolveResult!: (message: AssistantMessage) => void;
  readonly #result = new Promise<AssistantMessage>((resolve) => {
    this.#resolveResult = resolve;
  });

  /** Events after the last one are dropped. */
  push(event: AssistantMessageEvent): void {
    if (this.#ended) return;
    this.#events.push(event);
    if (event.type === "done") this.end(event.message);
    else if (event.type === "error") this.end(event.error);
    else this.#wake?.();
  }

  /** Closes the stream; `message` is its result when no last event gave one. */
  end(message?: AssistantMessage): void {
    if (message) this.#resolveResult(message);
    this.#ended = true;
    this.#wake?.();
  }

  result(): Promise<AssistantMessage> {
    return this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<AssistantMessageEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event) yield event;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

/** A stream to push events into, for an API written outside this package. */
export function createAssistantMessageEventStream(): PushedEventStream {
  return new PushedEventStream();
}
