// Which session is current: new ones, and the orderly end. Outsiders hold the runtime, never a session.

import type { Static } from "typebox";
import type { QueuedTexts } from "../modes/rpc/rpc-types.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { AgentSession } from "./agent-session.js";
import { announceTo, type EventListener } from "./event-line.js";

type Queued = Static<typeof QueuedTexts>;

/** What a session hands on to the one that replaces it. */
export type Predecessor = AgentSession;

export interface SessionRuntimeOptions {
  session: AgentSession;
  /** Makes the session for a store, with the predecessor's model, level and queue modes. */
  create: (store: SessionManager, predecessor: Predecessor) => Promise<AgentSession>;
  /** A store for an empty session beside the current one. */
  newStore: (current: SessionManager, parentSession: string | undefined) => SessionManager;
}

/** How a replacement ended; `dropped` names queued texts that went with the old session. */
export interface Replacement {
  cancelled: boolean;
  dropped?: Queued;
}

/** The current session, and how it is replaced. Listeners stay when the session changes. */
export class SessionRuntime {
  readonly #options: SessionRuntimeOptions;
  readonly #listeners = new Set<EventListener>();
  #session: AgentSession;
  #unsubscribe: () => void;

  constructor(options: SessionRuntimeOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#unsubscribe = this.#listen(options.session);
  }

  get session(): AgentSession {
    return this.#session;
  }

  /** Every event of the current session and of those that replace it. Returns the function that ends it. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts an empty session; a run under way is aborted and written first. */
  async newSession(parentSession?: string): Promise<Replacement> {
    return this.#replace(() => this.#options.newStore(this.#session.store, parentSession));
  }

  /** Ends the current session in order: run aborted, commands stopped, file let go. */
  async dispose(): Promise<void> {
    await this.#session.dispose();
  }

  async #replace(makeStore: () => SessionManager): Promise<Replacement> {
    const old = this.#session;
    const store = makeStore(); // a refusal leaves the old session as it is
    await old.abort();
    const dropped = old.dropQueue();
    await old.dispose();
    const session = await this.#options.create(store, old);
    this.#unsubscribe();
    this.#session = session;
    this.#unsubscribe = this.#listen(session);
    const lost = dropped.steering.length + dropped.followUp.length > 0;
    return { cancelled: false, ...(lost && { dropped }) };
  }

  #listen(session: AgentSession): () => void {
    return session.subscribe((event) => announceTo(this.#listeners, event));
  }
}
