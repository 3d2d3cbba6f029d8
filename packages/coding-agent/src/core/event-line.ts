// The one serial line every event of a session passes: extension handlers, then the store, then subscribers.

import type { AgentSessionEvent } from "./events.js";

/**
 * Takes an event; a returned promise tells the emitter to wait until the reader has caught up. That promise must not wait
 * for the session itself (`abort`, `waitForIdle`), which waits for the event to be heard.
 */
export type EventListener = (event: AgentSessionEvent) => undefined | Promise<void>;

/** Emits an event into the line. */
export type Emit = EventListener;

interface EventLineSteps {
  /** Handlers that may take time; absent when there is none, so that nothing waits for them. */
  extensions?: (event: AgentSessionEvent) => undefined | Promise<void>;
  /** Records the event; synchronous, so that what is announced has been written. */
  store: (event: AgentSessionEvent) => void;
  /** Told of a listener that threw; the others and the emitter go on. */
  fault: (error: unknown) => void;
}

/** Keeps events in the order they were emitted, even while a handler takes its time. */
export class EventLine {
  readonly #steps: EventLineSteps;
  readonly #listeners = new Set<EventListener>();
  #tail: Promise<void> | undefined;
  /** An event is on its way right now: what a listener emits has to wait, or later listeners would see it first. */
  #delivering = false;
  /** Events that came from a handler while it was called. */
  #early: (() => void)[] | undefined;

  constructor(steps: EventLineSteps) {
    this.#steps = steps;
  }

  /** Returns the function that ends the subscription. A listener may end itself while it is called. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns nothing when the event went straight through, so that deltas cost no promise. */
  emit: Emit = (event) => {
    if (this.#tail || this.#delivering) return this.#enqueue(() => this.#handle(event));
    const { extensions } = this.#steps;
    if (!extensions) return this.#deliver(event);
    // What a handler announces while it is called comes behind the event it is called for.
    if (this.#early) return this.#later(event, this.#early);
    const early: (() => void)[] = [];
    this.#early = early;
    const handled = extensions(event);
    this.#early = undefined;
    const result = handled ? this.#enqueue(() => handled.then(() => this.#deliver(event))) : this.#deliver(event);
    for (const announce of early) announce();
    return result;
  };

  /** Resolves when everything emitted so far has been delivered. */
  async flushed(): Promise<void> {
    await this.#tail;
  }

  #later(event: AgentSessionEvent, early: (() => void)[]): Promise<void> {
    return new Promise((resolve) => early.push(() => resolve(this.emit(event))));
  }

  async #handle(event: AgentSessionEvent): Promise<void> {
    await this.#steps.extensions?.(event);
    await this.#deliver(event);
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const previous = this.#tail ?? (this.#delivering ? Promise.resolve() : undefined);
    const next = previous ? previous.then(task) : task();
    const settled = next.catch(() => {});
    this.#tail = settled;
    settled.then(() => {
      if (this.#tail === settled) this.#tail = undefined;
    });
    return next;
  }

  #deliver(event: AgentSessionEvent): undefined | Promise<void> {
    this.#delivering = true;
    try {
      this.#steps.store(event);
      return announceTo(this.#listeners, event, this.#steps.fault);
    } finally {
      this.#delivering = false;
    }
  }
}

/**
 * Hands an event to every listener in turn; the promise, if any, resolves when all of them have caught up. One that
 * throws or rejects is told of as a fault, and keeps nobody else from hearing the event.
 */
export function announceTo(
  listeners: Iterable<EventListener>,
  event: AgentSessionEvent,
  fault: (error: unknown) => void,
): undefined | Promise<void> {
  let behind: Promise<void>[] | undefined;
  for (const listener of [...listeners]) {
    let result: undefined | Promise<void>;
    try {
      result = listener(event);
    } catch (error) {
      fault(error);
    }
    if (!result) continue;
    behind ??= [];
    behind.push(result.catch(fault));
  }
  return behind && Promise.all(behind).then(() => {});
}
