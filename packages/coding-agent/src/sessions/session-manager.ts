// The face of the session store: one session, in a file or in memory. Every append is done when the call returns.

import { dirname, resolve } from "node:path";
import type { Usage } from "@earendil-works/pi-ai";
import type { AgentMessage, CustomMessage } from "../core/messages.js";
import { entryId } from "../lib/ids.js";
import { contextEntries } from "./context-entries.js";
import type { ContextEditEntry, SessionEntry, SessionHeader } from "./entries.js";
import { wholeEntry } from "./entry-bodies.js";
import { type NewSessionOptions, newHeader, newSessionPath } from "./new-session.js";
import { ContextBuilder, type SessionContext } from "./session-context.js";
import { SessionLockedError } from "./session-error.js";
import { SessionFile } from "./session-file.js";
import { findLatestSession, findSessionById, listAllSessions, listSessions, type SessionInfo } from "./session-list.js";
import { sessionName } from "./session-name.js";
import { defaultSessionDirectory, sessionsRoot } from "./session-paths.js";
import { type SessionDiagnostic, SessionReader } from "./session-reader.js";
import { SessionTree, type SessionTreeNode } from "./session-tree.js";
import type { UsageSum } from "./usage-totals.js";

/** How long a mutating command waits for another writer. */
const lockWaitMs = 2_000;

/** Where a fork goes; by default to the working directory and the session directory of its source. */
export interface ForkOptions {
  cwd?: string;
  sessionDir?: string;
  id?: string;
}

/**
 * One session. Appending methods return the new entry's id and are synchronous: the entry is in the file when they
 * return (in a new session from the first message on). They throw `SessionLockedError`, changing nothing, while another
 * process writes the file; call `acquire` before to wait for it.
 */
export class SessionManager {
  /** Called when an entry could not be written. It stays in memory, and the next append writes it first. */
  onWriteError: ((error: Error) => void) | undefined;
  #writeFailure: Error | undefined;

  readonly #header: SessionHeader;
  readonly #directory: string;
  readonly #reader: SessionReader | undefined;
  readonly #file: SessionFile | undefined;
  readonly #tree = new SessionTree();
  readonly #context = new ContextBuilder(this.#tree);
  readonly #treeDiagnostics: SessionDiagnostic[] = [];

  private constructor(source: { header: SessionHeader; directory: string; reader?: SessionReader; exists: boolean }) {
    this.#header = source.header;
    this.#directory = source.directory;
    this.#reader = source.reader;
    this.#file =
      source.reader && new SessionFile(source.reader, { exists: source.exists, allLines: () => this.#lines() });
  }

  /** A new session of `cwd`. Nothing is written before the first message. Throws when the id or the file name is none. */
  static create(cwd: string, sessionDir?: string, options: NewSessionOptions = {}): SessionManager {
    const header = newHeader(resolve(cwd), options);
    const { directory, path } = newSessionPath(header, sessionDir, options.file);
    return new SessionManager({ header, directory, reader: new SessionReader(path), exists: false });
  }

  /** An existing session. Throws `SessionFileError`; the file is not changed by opening it. */
  static open(path: string, options: { sessionDir?: string } | string = {}): SessionManager {
    const reader = new SessionReader(resolve(path));
    const { sessionDir } = typeof options === "string" ? { sessionDir: options } : options;
    const directory = resolve(sessionDir ?? dirname(reader.path));
    let opened: SessionManager | undefined;
    // The header is known when the first entry comes, or at the end.
    const manager = () => {
      opened ??= new SessionManager({ header: reader.header, directory, reader, exists: true });
      return opened;
    };
    reader.readEach((entry) => manager().#take(entry), { dropsHidden: true });
    manager().#settle();
    manager().#dropHidden();
    return manager();
  }

  /**
   * A new session that begins with a copy of a branch of `source`: everything up to `leafId`, ids included, and the labels
   * of what was copied. It is written with its first message, or by `flush`. In memory when the source is.
   */
  static forkFrom(source: SessionManager, leafId: string | null, options?: ForkOptions): SessionManager;
  /** The same of a file's whole current branch, for another working directory; it is written at once. */
  static forkFrom(path: string, cwd: string, sessionDir?: string): SessionManager;
  static forkFrom(from: SessionManager | string, at: string | null, into: ForkOptions | string = {}): SessionManager {
    if (typeof from === "string") return forkFile(from, at ?? process.cwd(), into);
    const [source, leafId, options] = [from, at, into as ForkOptions];
    const cwd = options.cwd ?? source.getCwd();
    const facts = { ...(options.id !== undefined && { id: options.id }), parentSession: source.getSessionFile() };
    const fork = source.isPersisted()
      ? SessionManager.create(cwd, options.sessionDir ?? source.getSessionDir(), facts)
      : SessionManager.inMemory(cwd, facts);
    const branch = leafId === null ? [] : source.getBranch(leafId);
    fork.#load(branch.map(wholeEntry));
    for (const { id } of branch) {
      const label = source.getLabel(id);
      if (label !== fork.getLabel(id)) fork.appendLabelChange(id, label);
    }
    return fork;
  }

  /** The session of `cwd` that was written last, or a new one. */
  static continueRecent(cwd: string, sessionDir?: string): SessionManager {
    const path = findLatestSession(resolve(cwd), sessionDir ?? defaultSessionDirectory(cwd));
    return path ? SessionManager.open(path, { sessionDir }) : SessionManager.create(cwd, sessionDir);
  }

  /** A session that is never written. */
  static inMemory(cwd: string = process.cwd(), options: Omit<NewSessionOptions, "file"> = {}): SessionManager {
    return new SessionManager({ header: newHeader(resolve(cwd), options), directory: "", exists: false });
  }

  /** The sessions of `cwd`, latest first. */
  static async list(cwd: string, sessionDir?: string): Promise<SessionInfo[]> {
    return listSessions(sessionDir ?? defaultSessionDirectory(cwd), resolve(cwd));
  }

  /** The path of the session of `cwd` whose id is `id` or starts with it; undefined when there is none. */
  static findById(cwd: string, id: string, sessionDir?: string): string | undefined {
    return findSessionById(id, { cwd: resolve(cwd), directory: sessionDir ?? defaultSessionDirectory(cwd) })?.path;
  }

  /** The sessions of all working directories, latest first. A function that wants to be told of progress is not called. */
  static async listAll(sessionDir?: string | ((...progress: unknown[]) => void)): Promise<SessionInfo[]> {
    return typeof sessionDir === "string" ? listSessions(sessionDir) : listAllSessions(sessionsRoot());
  }

  getHeader(): SessionHeader {
    return this.#header;
  }

  /** The working directory the session was made in, where it always runs. */
  getCwd(): string {
    return this.#header.cwd;
  }

  getSessionDir(): string {
    return this.#directory;
  }

  getSessionId(): string {
    return this.#header.id;
  }

  /** An absolute path, also before the file is written; undefined in memory. */
  getSessionFile(): string | undefined {
    return this.#reader?.path;
  }

  isPersisted(): boolean {
    return this.#file !== undefined;
  }

  /** Whether the session is in its file, so that what is appended is safe at once. */
  get isWritten(): boolean {
    return this.#file?.exists ?? false;
  }

  getLeafId(): string | null {
    return this.#tree.leafId;
  }

  getLeafEntry(): SessionEntry | undefined {
    return this.#tree.leafId === null ? undefined : this.#tree.get(this.#tree.leafId);
  }

  getEntry(id: string): SessionEntry | undefined {
    return this.#tree.get(id);
  }

  /** In the order they were appended, without the header. */
  getEntries(): SessionEntry[] {
    return [...this.#tree.entries];
  }

  /** From the root to `fromId` (absent: the leaf). */
  getBranch(fromId?: string): SessionEntry[] {
    return this.#tree.branch(fromId);
  }

  /** The entries behind what the model sees at the leaf: the latest compaction, what it keeps, and what came after. */
  buildContextEntries(): SessionEntry[] {
    return contextEntries(this.getBranch());
  }

  getEntryCount(): number {
    return this.#tree.entries.length;
  }

  /** Writes the branch that ends at an entry as a session of its own and gives its file; undefined in memory. */
  createBranchedSession(leafId: string): string | undefined {
    this.#mustHave(leafId);
    const branched = SessionManager.forkFrom(this, leafId);
    branched.flush();
    return branched.getSessionFile();
  }

  getChildren(id: string | null): SessionEntry[] {
    return this.#tree.children(id);
  }

  getLabel(id: string): string | undefined {
    return this.#tree.label(id);
  }

  /** The roots; nodes are nested as deep as the session is long. */
  getTree(): SessionTreeNode[] {
    return this.#tree.nodes();
  }

  /** Model usage of all entries, tokens and US dollars. */
  getUsage(): UsageSum {
    return this.#tree.usage.sum;
  }

  /** The user's messages of all branches, in file order. */
  getUserEntries(): SessionEntry[] {
    return this.#tree.userMessageIds.map((id) => this.#tree.get(id) as SessionEntry);
  }

  getSessionName(): string | undefined {
    return this.#tree.name;
  }

  /** What the model sees at the leaf. The lists are the caller's; messages are shared and must not be changed. */
  buildSessionContext(): SessionContext {
    return this.#context.build();
  }

  /** What was odd in the file and read around. */
  get diagnostics(): readonly SessionDiagnostic[] {
    return [...(this.#reader?.diagnostics ?? []), ...this.#treeDiagnostics];
  }

  /** Whether another live process writes this session, so that nothing can be appended now. */
  get readOnly(): boolean {
    return this.#file?.otherOwner !== undefined;
  }

  /**
   * Takes the right to append, waiting up to `waitMs` (2 s) for another process, and reads in what it appended. Throws
   * `SessionLockedError`. Does nothing in memory and before the file is written.
   */
  async acquire(waitMs: number = lockWaitMs): Promise<void> {
    if (!this.#file?.exists) return;
    await this.#file.acquire(waitMs);
    this.#readOn();
  }

  /** Gives up the right to append; the next append takes it again. Never throws. */
  release(): void {
    const file = this.#file;
    try {
      if (file?.hasUnwritten) this.flush();
    } catch {
      // Another process writes now; what could not be written was told of when it failed.
    }
    file?.release();
  }

  /** Why entries are in memory only; undefined when everything that has to be in the file is there. */
  get writeFailure(): Error | undefined {
    return this.#writeFailure;
  }

  /** Writes what waits in memory, creating the file if need be. Failures go to `onWriteError`. */
  flush(): void {
    const file = this.#file;
    if (!file) return;
    const failure = this.#readOn();
    if (failure) this.#fail(failure);
    else this.#attempt(() => (file.exists ? file.write() : file.create()));
  }

  /** Writes the file of a new session. */
  appendMessage(message: AgentMessage): string {
    return this.#append({ type: "message", message }, { flush: true });
  }

  appendModelChange(provider: string, modelId: string): string {
    return this.#append({ type: "model_change", provider, modelId });
  }

  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#append({ type: "thinking_level_change", thinkingLevel });
  }

  /** `firstKeptEntryId` is the first entry before the summary that stays in context; null keeps none. */
  appendCompaction(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: unknown,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const id = this.#newId();
    const fields = { summary, firstKeptEntryId: firstKeptEntryId ?? id, tokensBefore, details, fromHook, usage };
    this.#append({ type: "compaction", ...fields }, { id });
    this.#dropHidden();
    return id;
  }

  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append({ type: "custom", customType, data });
  }

  appendCustomMessageEntry(
    customType: string,
    content: CustomMessage["content"],
    display: boolean,
    details?: unknown,
  ): string {
    return this.#append({ type: "custom_message", customType, content, display, details });
  }

  /** From here on the model sees `replacement` instead of the target's content; null leaves the target out. */
  appendContextEdit(targetId: string, replacement: ContextEditEntry["replacement"]): string {
    return this.#append({ type: "context_edit", targetId, replacement });
  }

  /** Sets the display name, made one line; an empty one clears it. `flush` writes the file of a new session. */
  appendSessionInfo(name: string, options: { flush?: boolean } = {}): string {
    return this.#append({ type: "session_info", name: sessionName(name) || undefined }, options);
  }

  /** Sets the label of an entry; undefined clears it. Throws when there is no such entry. */
  appendLabelChange(targetId: string, label: string | undefined): string {
    this.#mustHave(targetId);
    return this.#append({ type: "label", targetId, label });
  }

  /** Records model work outside any message. `kind` names what it was for. */
  appendUsage(kind: string, usage: Usage, model?: { provider: string; id: string }): string {
    return this.#append({ type: "usage", kind, provider: model?.provider, model: model?.id, usage });
  }

  /** Moves the leaf to an entry: what is appended next becomes its child. Throws when there is no such entry. */
  branch(id: string): void {
    this.#mustHave(id);
    this.#tree.leafId = id;
  }

  /** What is appended next becomes a root. */
  resetLeaf(): void {
    this.#tree.leafId = null;
  }

  /** Moves the leaf to an entry (null: before the first) and appends a summary of the branch that is left. */
  branchWithSummary(id: string | null, summary: string, details?: unknown, fromHook?: boolean, usage?: Usage): string {
    if (id !== null) this.#mustHave(id);
    const fromId = this.#tree.leafId;
    return this.#append({ type: "branch_summary", fromId, summary, details, fromHook, usage }, { parentId: id });
  }

  #append(fields: EntryFields, options: { id?: string; parentId?: string | null; flush?: boolean } = {}): string {
    const failure = this.#readOn();
    const place = {
      id: options.id ?? this.#newId(),
      parentId: options.parentId === undefined ? this.#tree.leafId : options.parentId,
      timestamp: new Date().toISOString(),
    };
    const { type, ...rest } = fields;
    const entry = { type, ...place, ...rest } as SessionEntry;
    // Made before anything changes: what is no JSON is refused here, with a TypeError.
    const line = this.#file ? `${JSON.stringify(entry)}\n` : "";
    this.#tree.add(entry);
    this.#tree.leafId = entry.id;
    const file = this.#file;
    if (file?.exists) {
      file.queue(entry, line);
      if (failure) this.#fail(failure);
      else this.#attempt(() => file.write());
    } else if (file && options.flush) this.#attempt(() => file.create());
    return entry.id;
  }

  /** Takes in what others appended. Throws `SessionLockedError`; gives any other failure back. */
  #readOn(): Error | undefined {
    try {
      const entries = this.#file?.prepare() ?? [];
      for (const entry of entries)
        if (this.#tree.add(entry) && entry.parentId === this.#tree.leafId) this.#tree.leafId = entry.id;
      if (entries.length > 0) this.#settle();
      return undefined;
    } catch (error) {
      if (error instanceof SessionLockedError || !(error instanceof Error)) throw error;
      return error;
    }
  }

  #attempt(write: () => void): void {
    try {
      write();
      this.#writeFailure = undefined;
    } catch (error) {
      if (error instanceof SessionLockedError || !(error instanceof Error)) throw error;
      this.#fail(error);
    }
  }

  #fail(error: Error): void {
    this.#writeFailure = error;
    this.onWriteError?.(error);
  }

  #load(entries: SessionEntry[]): void {
    for (const entry of entries) this.#take(entry);
    this.#settle();
  }

  #take(entry: SessionEntry): void {
    if (!this.#tree.add(entry)) this.#report("duplicate_id", entry, "comes twice; the first one counts");
    this.#tree.leafId = entry.id;
  }

  /** What the model does not see need not be in memory: summarised history and other branches are read on demand. */
  #dropHidden(): void {
    const bodies = this.#reader?.bodies;
    const visible = new Set(this.#context.build().entryIds);
    for (const entry of this.#tree.entries)
      if (visible.has(entry.id)) bodies?.restore(entry);
      else bodies?.drop(entry);
  }

  #settle(): void {
    for (const { kind, entry } of this.#tree.settle())
      this.#report(kind, entry, kind === "orphan" ? "has a parent that is not there" : "is its own ancestor");
  }

  #report(kind: SessionDiagnostic["kind"], entry: SessionEntry, what: string): void {
    if (this.#treeDiagnostics.length >= 100) return;
    this.#treeDiagnostics.push({ kind, message: `Entry "${entry.id}" of session "${this.#reader?.path}" ${what}` });
  }

  #newId(): string {
    return entryId((id) => this.#tree.has(id));
  }

  #mustHave(id: string): void {
    if (!this.#tree.has(id)) throw new Error(`Entry not found: ${id}`);
  }

  *#lines(): Generator<string> {
    yield `${JSON.stringify(this.#header)}\n`;
    for (const entry of this.#tree.entries) yield `${JSON.stringify(entry)}\n`;
  }
}

function forkFile(path: string, cwd: string, into: ForkOptions | string): SessionManager {
  const source = SessionManager.open(path);
  const options = typeof into === "string" ? { sessionDir: into } : into;
  // The usual place is that of the new working directory, not that of the source.
  const sessionDir = options.sessionDir ?? defaultSessionDirectory(cwd);
  const fork = SessionManager.forkFrom(source, source.getLeafId(), { ...options, cwd: resolve(cwd), sessionDir });
  fork.flush();
  return fork;
}

/** An entry without its place in the tree. */
type EntryFields = SessionEntry extends infer Entry
  ? Entry extends SessionEntry
    ? Omit<Entry, "id" | "parentId" | "timestamp">
    : never
  : never;
