// Which session is current: new ones, other ones, copies, and the orderly end. Outsiders hold the runtime, never a session.

import { statSync } from "node:fs";
import type { UserMessage } from "@earendil-works/pi-ai";
import type { Static } from "typebox";
import type { QueuedTexts } from "../modes/rpc/rpc-types.js";
import type { SessionEntry } from "../sessions/entries.js";
import { SessionManager } from "../sessions/session-manager.js";
import type { AgentSession } from "./agent-session.js";
import { CommandError, mustBeWritten } from "./errors.js";
import { announceTo, type EventListener } from "./event-line.js";
import { openStore } from "./stored-sessions.js";
import { userText } from "./user-text.js";

type Queued = Static<typeof QueuedTexts>;

/** Why the session changes, and to what; hooks may refuse it. */
export type SessionChange =
  | { kind: "new" }
  | { kind: "resume"; path: string }
  | { kind: "fork"; entryId: string }
  | { kind: "clone" };

export interface SessionRuntimeOptions {
  session: AgentSession;
  /** Makes the session for a store, with what carries over from its predecessor. */
  create: (store: SessionManager, predecessor: AgentSession) => Promise<{ session: AgentSession; warnings: string[] }>;
  /** Told of a listener that threw. */
  fault: (error: unknown) => void;
  /** Hooks of extensions; `true` refuses the change. Absent without them. */
  refuses?: (change: SessionChange, signal: AbortSignal) => Promise<boolean>;
}

/** How a replacement ended; `dropped` names queued texts that went with the old session. */
export interface Replacement {
  cancelled: boolean;
  dropped?: Queued;
  warnings?: string[];
}

/** The current session, and how it is replaced. Listeners stay when the session changes. */
export class SessionRuntime {
  readonly #options: SessionRuntimeOptions;
  readonly #listeners = new Set<EventListener>();
  #session: AgentSession;
  #unsubscribe: () => void;
  #asking: AbortController | undefined;

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

  /** Stops what is under way in the session, and a replacement that waits for a hook. Returns how much that was. */
  async abort(): Promise<number> {
    const asking = this.#asking;
    asking?.abort();
    return (asking ? 1 : 0) + (await this.#session.abort());
  }

  /** Starts an empty session; a run under way is aborted and written first. */
  newSession(parentSession?: string): Promise<Replacement> {
    return this.#replace({ kind: "new" }, () => {
      const { store } = this.#session;
      const facts = { ...(parentSession !== undefined && { parentSession }) };
      if (!store.isPersisted()) return SessionManager.inMemory(store.getCwd(), facts);
      return SessionManager.create(store.getCwd(), store.getSessionDir(), facts);
    });
  }

  /**
   * Goes on with another session file, in that session's own directory. Throws CommandError `not_found`, `io_error`,
   * `invalid_params` or `not_supported`; the old session stays then.
   */
  switchSession(path: string): Promise<Replacement> {
    return this.#replace({ kind: "resume", path }, () => {
      const store = openStore(path);
      const cwd = store.getCwd();
      if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return store;
      throw new CommandError("not_found", `Cannot open session "${path}": its working directory "${cwd}" is gone`);
    });
  }

  /** Goes on in a copy that ends before a user's message. Throws CommandError `not_found` for any other entry. */
  async fork(entryId: string): Promise<Replacement & { text: string }> {
    const entry = this.#session.store.getEntry(entryId);
    const message = entry && userMessageOf(entry);
    if (!entry || !message) throw new CommandError("not_found", "Invalid entry ID for forking", "entryId");
    const replacement = await this.#replace({ kind: "fork", entryId }, () => this.#copy(entry.parentId));
    return { text: userText(message), ...replacement };
  }

  /** Goes on in a copy of the active branch. Throws CommandError `nothing_to_do` when nothing was said on it. */
  async clone(): Promise<Replacement> {
    if (this.#session.messages.length === 0)
      throw new CommandError("nothing_to_do", "Nothing to clone: the session is empty");
    return this.#replace({ kind: "clone" }, () => this.#copy(this.#session.store.getLeafId()));
  }

  /** The user's messages of all branches, in file order. */
  forkMessages(): { entryId: string; text: string }[] {
    return this.#session.store.getUserEntries().flatMap((entry) => {
      const message = userMessageOf(entry);
      return message ? [{ entryId: entry.id, text: userText(message) }] : [];
    });
  }

  /** Ends the current session in order: run aborted, commands stopped, file let go. */
  async dispose(): Promise<void> {
    this.#asking?.abort();
    await this.#session.dispose();
  }

  /** A copy with something in it is written at once: the client is told of its file. */
  #copy(leafId: string | null): SessionManager {
    const copy = SessionManager.forkFrom(this.#session.store, leafId);
    if (copy.getEntries().some(({ type }) => type === "message")) copy.flush();
    mustBeWritten(copy);
    return copy;
  }

  async #replace(change: SessionChange, makeStore: () => SessionManager): Promise<Replacement> {
    if (await this.#isRefused(change)) return { cancelled: true };
    const old = this.#session;
    // Made before anything ends: a refusal leaves the old session as it is.
    const early = change.kind === "new" || change.kind === "resume" ? makeStore() : undefined;
    let made = early && (await this.#options.create(early, old));
    await old.abort();
    // A copy has what the abort still wrote.
    made ??= await this.#options.create(makeStore(), old);
    const dropped = old.dropQueue();
    await old.dispose();
    // The session's own file, which the abort has written to since it was read.
    const file = old.store.getSessionFile();
    if (file && early?.getSessionFile() === file) made = await this.#options.create(makeStore(), old);
    const { session } = made;
    const warnings = [...made.warnings, ...unwrittenIn(old.store)];
    this.#unsubscribe();
    this.#session = session;
    this.#unsubscribe = this.#listen(session);
    const lost = dropped.steering.length + dropped.followUp.length > 0;
    return { cancelled: false, ...(lost && { dropped }), ...(warnings.length > 0 && { warnings }) };
  }

  async #isRefused(change: SessionChange): Promise<boolean> {
    const { refuses } = this.#options;
    if (!refuses) return false;
    const asking = new AbortController();
    this.#asking = asking;
    try {
      return (await refuses(change, asking.signal)) || asking.signal.aborted;
    } finally {
      this.#asking = undefined;
    }
  }

  #listen(session: AgentSession): () => void {
    return session.subscribe((event) => announceTo(this.#listeners, event, this.#options.fault));
  }
}

/** A session that is left is not tried again: what is missing in its file is told of. */
function unwrittenIn(store: SessionManager): string[] {
  const { writeFailure } = store;
  return writeFailure ? [`Entries are missing in "${store.getSessionFile()}": ${writeFailure.message}`] : [];
}

function userMessageOf(entry: SessionEntry): UserMessage | undefined {
  return entry.type === "message" && entry.message?.role === "user" ? entry.message : undefined;
}
