// Which session is current: new ones, other ones, copies, and the orderly end. Outsiders hold the runtime, never a session.

import { statSync } from "node:fs";
import type { UserMessage } from "@earendil-works/pi-ai";
import type { Static } from "typebox";
import type { ReplacedSessionContext } from "../extensions/api.js";
import type { StartReason } from "../extensions/event-parts.js";
import { isCancelled } from "../extensions/hooks.js";
import { createUi } from "../extensions/ui.js";
import { inTime } from "../lib/in-time.js";
import type { QueuedTexts } from "../modes/rpc/rpc-types.js";
import type { SessionEntry } from "../sessions/entries.js";
import { SessionManager } from "../sessions/session-manager.js";
import type { AgentSession } from "./agent-session.js";
import { CommandError, mustBeWritten } from "./errors.js";
import { announceTo, type EventListener } from "./event-line.js";
import type { ExtensionBindings } from "./extension-host.js";
import { openStore } from "./stored-sessions.js";
import { userText } from "./user-text.js";

type Queued = Static<typeof QueuedTexts>;

/** Why the session changes, and to what; hooks may refuse it. */
export type SessionChange =
  | { kind: "new" }
  | { kind: "resume"; path: string }
  | { kind: "fork"; entryId: string; position: "before" | "at" };

/** A session that is ready, and how its extensions are told that it begins. */
export interface OpenedSession {
  session: AgentSession;
  warnings: string[];
  begin: (reason: StartReason, previousSessionFile?: string) => Promise<void>;
}

export interface SessionRuntimeOptions extends OpenedSession {
  /** Makes the session for a store, with what carries over from its predecessor; `isReload` evaluates everything anew. */
  create: (store: SessionManager, predecessor: AgentSession, isReload: boolean) => Promise<OpenedSession>;
  /** Told of a listener that threw. */
  fault: (error: unknown) => void;
}

/** What is done on the way from one session to another. */
export interface ReplacementSteps {
  /** Fills the new session before its extensions hear of it. */
  setup?: ((store: SessionManager) => Promise<void> | void) | undefined;
  /** Done in the new session, last. */
  withSession?: ((ctx: ReplacedSessionContext) => Promise<void> | void) | undefined;
}

/** Milliseconds that handlers of the end may take: 10 s. */
const shutdownLimitMs = 10_000;

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
  /** A replacement waits for a handler, which an abort ends. */
  #asking = false;
  #isRefused = false;
  #replacing: Promise<unknown> | undefined;
  #starting: Promise<void> | undefined;
  #bindings: ExtensionBindings;

  constructor(options: SessionRuntimeOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#unsubscribe = this.#listen(options.session);
    this.#bindings = {
      mode: "print",
      ui: createUi(undefined, { theme: () => undefined }),
      shutdown: () => {},
    };
  }

  /** What extensions see of the outside. */
  get bindings(): ExtensionBindings {
    return this.#bindings;
  }

  /** The mode says who it is, before `start`. */
  bind(bindings: ExtensionBindings): void {
    this.#bindings = bindings;
  }

  /** Tells the extensions of the first session that it begins. Never rejects. */
  start(): Promise<void> {
    this.#starting = this.#options.begin("startup").finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Resolves when no run is under way, and extensions have begun nothing more. */
  async quiet(): Promise<void> {
    for (;;) {
      await this.replacing;
      const { session } = this;
      await session.waitForIdle();
      await session.runner?.runtime.idle();
      await session.heard();
      if (session === this.session && !session.isStreaming && !this.#replacing) return;
    }
  }

  /** Resolves when the extensions of the first session have been told that it begins; undefined when they have been. */
  get starting(): Promise<void> | undefined {
    return this.#starting;
  }

  /** Resolves when the session that is being replaced now has been, or could not be; undefined when none is. */
  get replacing(): Promise<void> | undefined {
    const done = () => {};
    return this.#replacing?.then(done, done);
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
    const asking = this.#asking ? 1 : 0;
    if (this.#asking) this.#isRefused = true;
    this.#bindings.dismiss?.("aborted");
    const stopped = await this.#session.abort();
    return asking + stopped;
  }

  /** Starts an empty session; a run under way is aborted and written first. */
  newSession(parentSession?: string, steps: ReplacementSteps = {}): Promise<Replacement> {
    const makeStore = () => {
      const { store } = this.#session;
      const facts = { ...(parentSession !== undefined && { parentSession }) };
      if (!store.isPersisted()) return SessionManager.inMemory(store.getCwd(), facts);
      return SessionManager.create(store.getCwd(), store.getSessionDir(), facts);
    };
    return this.#replace({ kind: "new" }, makeStore, steps);
  }

  /**
   * Goes on with another session file, in that session's own directory. Throws CommandError `not_found`, `io_error`,
   * `invalid_params` or `not_supported`; the old session stays then.
   */
  switchSession(path: string, steps: ReplacementSteps = {}): Promise<Replacement> {
    const makeStore = () => {
      const store = openStore(path);
      const cwd = store.getCwd();
      if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return store;
      throw new CommandError("not_found", `Cannot open session "${path}": its working directory "${cwd}" is gone`);
    };
    return this.#replace({ kind: "resume", path }, makeStore, steps);
  }

  /**
   * Goes on in a copy that ends before a user's message, or, with `position` `at`, at any entry. Throws CommandError
   * `not_found` for an entry that is not there, or is no user's message.
   */
  async fork(
    entryId: string,
    { position = "before", ...steps }: ReplacementSteps & { position?: "before" | "at" } = {},
  ): Promise<Replacement & { text: string }> {
    const entry = this.#session.store.getEntry(entryId);
    const message = entry && userMessageOf(entry);
    if (!entry || (position === "before" && !message))
      throw new CommandError("not_found", "Invalid entry ID for forking", "entryId");
    const leafId = position === "at" ? entryId : entry.parentId;
    const replacement = await this.#replace({ kind: "fork", entryId, position }, () => this.#copy(leafId), steps);
    return { text: message ? userText(message) : "", ...replacement };
  }

  /** Goes on in a copy of the active branch. Throws CommandError `nothing_to_do` when nothing was said on it. */
  async clone(): Promise<Replacement> {
    if (this.#session.messages.length === 0)
      throw new CommandError("nothing_to_do", "Nothing to clone: the session is empty");
    const leafId = () => this.#session.store.getLeafId();
    return this.#replace({ kind: "fork", entryId: leafId() as string, position: "at" }, () => this.#copy(leafId()), {});
  }

  /**
   * Loads extensions, skills, templates and settings again, and goes on with the same session. Throws CommandError `busy`
   * while something is under way.
   */
  reload(): Promise<void> {
    return this.#exclusively(async () => {
      const old = this.#session;
      if (old.isStreaming || old.state().isCompacting)
        throw new CommandError("busy", "The agent is running. Reload when it has settled");
      await this.#end(old, "reload");
      const opened = await this.#options.create(old.store, old, true);
      opened.session.adoptQueue(old);
      this.#use(opened.session);
      await opened.begin("reload");
    });
  }

  /** The user's messages of all branches, in file order. */
  forkMessages(): { entryId: string; text: string }[] {
    return this.#session.store.getUserEntries().flatMap((entry) => {
      const message = userMessageOf(entry);
      return message ? [{ entryId: entry.id, text: userText(message) }] : [];
    });
  }

  /**
   * Ends the current session in order: run aborted, commands stopped, extensions told (they get `handlersMs`, 10 s), file
   * let go.
   */
  async dispose({ handlersMs = shutdownLimitMs }: { handlersMs?: number } = {}): Promise<void> {
    this.#isRefused = true;
    await this.#end(this.#session, "quit", undefined, handlersMs);
  }

  /** A copy with something in it is written at once: the client is told of its file. */
  #copy(leafId: string | null): SessionManager {
    const copy = SessionManager.forkFrom(this.#session.store, leafId);
    if (copy.getEntries().some(({ type }) => type === "message")) copy.flush();
    mustBeWritten(copy);
    return copy;
  }

  async #replace(
    change: SessionChange,
    makeStore: () => SessionManager,
    { setup, withSession }: ReplacementSteps,
  ): Promise<Replacement> {
    const replacement = await this.#exclusively(async () => {
      if (await this.#isRefusedBy(change)) return { cancelled: true };
      const old = this.#session;
      const previous = old.store.getSessionFile();
      const reason = change.kind;
      // Made before anything ends: a refusal leaves the old session as it is.
      let store = reason === "fork" ? undefined : makeStore();
      if (store) await setup?.(store);
      // What was received before is judged first, as for any other command.
      await old.texts();
      this.#bindings.dismiss?.("shutdown");
      await old.abort();
      // A copy has what the abort still wrote.
      store ??= makeStore();
      const dropped = old.dropQueue();
      await this.#end(old, reason, store.getSessionFile());
      // The session's own file, which has been written to since it was read.
      if (previous && store.getSessionFile() === previous) store = makeStore();
      const made = await this.#create(store, old);
      this.#use(made.session);
      await made.begin(reason, previous);
      const warnings = [...made.warnings, ...unwrittenIn(old.store)];
      const lost = dropped.steering.length + dropped.followUp.length > 0;
      return { cancelled: false, ...(lost && { dropped }), ...(warnings.length > 0 && { warnings }) };
    });
    // It may replace the session once more.
    const { runner } = this.#session;
    if (!replacement.cancelled && withSession && runner) await withSession(runner.replacedContext);
    return replacement;
  }

  /** What keeps the new session from being made leaves the user with the old one, opened again. */
  async #create(store: SessionManager, old: AgentSession): Promise<OpenedSession> {
    try {
      return await this.#options.create(store, old, false);
    } catch (error) {
      const again = await this.#options.create(old.store, old, false);
      again.session.adoptQueue(old);
      this.#use(again.session);
      await again.begin("resume");
      throw error;
    }
  }

  /** One replacement after another. */
  async #exclusively<T>(change: () => Promise<T>): Promise<T> {
    const before = this.#replacing;
    const done = (async () => {
      await before?.catch(() => {});
      return change();
    })();
    this.#replacing = done;
    try {
      return await done;
    } finally {
      if (this.#replacing === done) this.#replacing = undefined;
    }
  }

  #use(session: AgentSession): void {
    this.#unsubscribe();
    this.#session = session;
    this.#unsubscribe = this.#listen(session);
  }

  /** The extensions are told when nothing runs any more, and may still write; after that they are let go of. */
  async #end(
    session: AgentSession,
    reason: "quit" | "reload" | "new" | "resume" | "fork",
    targetSessionFile?: string,
    limitMs = shutdownLimitMs,
  ): Promise<void> {
    const { runner } = session;
    this.#bindings.dismiss?.("shutdown");
    await session.dispose(async () => {
      if (!runner?.has("session_shutdown")) return;
      const event = { reason, ...(targetSessionFile !== undefined && { targetSessionFile }) };
      if (!(await inTime(runner.each("session_shutdown", event), limitMs))) runner.interrupt();
    });
    runner?.invalidate();
  }

  async #isRefusedBy(change: SessionChange): Promise<boolean> {
    const { runner } = this.#session;
    const name = change.kind === "fork" ? "session_before_fork" : "session_before_switch";
    if (!runner?.has(name)) return false;
    this.#asking = true;
    this.#isRefused = false;
    try {
      return (await isCancelled(runner, name, eventOf(change))) || this.#isRefused;
    } finally {
      this.#asking = false;
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

function eventOf(change: SessionChange) {
  if (change.kind === "fork") return { entryId: change.entryId, position: change.position };
  if (change.kind === "new") return { reason: change.kind };
  return { reason: change.kind, targetSessionFile: change.path };
}
