// One session in use: wires the services, orders every event, and delegates.

import type { AgentLoopOptions } from "@earendil-works/pi-agent-core";
import { type Model, stream } from "@earendil-works/pi-ai";
import type { ExtensionRunner } from "../extensions/runner.js";
import type { BashResult, QueueMode, RpcSessionState, SessionStats } from "../modes/rpc/rpc-types.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { type BashRequest, UserShell } from "./bash.js";
import { Branches, type Navigation, type NavigationRequest } from "./branch.js";
import { Conversation } from "./conversation.js";
import { CommandError, mustBeWritten, requireName } from "./errors.js";
import { EventLine, type EventListener } from "./event-line.js";
import type { AgentSessionEvent, CompactionResult } from "./events.js";
import { InputStage, type TypedInput } from "./input.js";
import type { AgentMessage, CustomMessage } from "./messages.js";
import { ModelSelection } from "./models.js";
import { Queues } from "./queue.js";
import { Recorder } from "./recorder.js";
import { RunRecovery } from "./recovery.js";
import { Requests } from "./requests.js";
import { type RunOutcome, Runs } from "./run.js";
import { inputTransform, type JoinedExtensions, joinExtensions } from "./session-extensions.js";
import type { AgentSessionOptions } from "./session-options.js";
import { lastAssistantText, sessionStats } from "./stats.js";
import { type Delivery, type PromptDisposition, Texts } from "./texts.js";
import { contextUse } from "./token-estimate.js";

export type { AgentSessionOptions, ModelSource } from "./session-options.js";
export type { PromptDisposition } from "./texts.js";

/** A conversation with a model: what is typed goes in, events come out. */
export class AgentSession {
  readonly store: SessionManager;
  readonly models: ModelSelection;
  readonly #options: AgentSessionOptions;
  readonly #line: EventLine;
  readonly #conversation: Conversation;
  readonly #recorder: Recorder;
  readonly #queues: Queues;
  readonly #texts: Texts;
  readonly #requests: Requests;
  readonly #extensions: JoinedExtensions | undefined;
  readonly #runs: Runs;
  readonly #recovery: RunRecovery;
  readonly #branches: Branches;
  readonly #shell: UserShell;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.store = options.store;
    const { extensions } = options;
    this.#line = new EventLine({
      store: (event) => this.#store(event),
      fault: options.fault,
      ...(extensions && { extensions: (event: AgentSessionEvent) => this.#extensions?.bridge.hear(event) }),
    });
    const { emit } = this.#line;
    this.#conversation = new Conversation(options.store);
    this.#recorder = new Recorder({
      store: options.store,
      append: (message) => this.#conversation.append(message),
      reload: () => this.#conversation.reload(),
      selection: () => this.models,
      isRunning: () => this.isStreaming,
    });
    this.#queues = new Queues(emit, options.queueModes);
    this.#extensions =
      extensions &&
      joinExtensions(extensions, {
        store: this.store,
        conversation: this.#conversation,
        stored: this.#recorder.stored,
        model: () => this.model,
        limits: options.recovery.compaction.limits,
        systemPrompt: () => options.systemPrompt,
        flushed: () => this.#line.flushed(),
        announce: (message) => this.#announce(message),
        appendEntry: (customType, data) => this.appendEntry(customType, data),
        turnEnded: () => this.#texts.recordKept(),
      });
    const { bridge, changes } = this.#extensions ?? {};
    this.models = new ModelSelection({
      model: options.model,
      thinkingLevel: options.thinkingLevel,
      scoped: options.scopedModels,
      emit,
      find: (provider, id) => options.models.find(provider, id),
      available: () => options.models.getAvailable(),
      discover: async (provider) => options.models.discover?.(provider),
      hasCredentials: (model) => options.models.hasCredentials(model),
      recordModel: () => this.#recorder.selection(),
      recordLevel: () => this.#recorder.selection(),
      ...(bridge && { selected: bridge.selected, levelSelected: bridge.levelSelected }),
    });
    // A new session begins with what it starts with; a resumed one notes a difference when it is written to again.
    if (this.store.getEntries().length === 0) this.#recorder.selection();
    this.#shell = new UserShell({
      acquire: () => this.#recorder.acquire(),
      emit,
      cwd: options.cwd ?? this.store.getCwd(),
      ...options.shell,
      environment: () => options.environment(),
      record: (message) => this.#recorder.command(message),
      ...(changes && { intercept: (command, isExcluded) => changes.userBash(command, isExcluded) }),
    });
    this.#requests = new Requests({
      sources: options,
      selection: this.models,
      sessionId: () => this.store.getSessionId(),
      systemPrompt: () => this.systemPrompt,
      hooks: (model) => bridge?.requestHooks(model),
    });
    this.#recovery = new RunRecovery({
      emit,
      conversation: this.#conversation,
      model: () => this.model,
      requestOptions: (model) => this.#requests.optionsFor(model),
      stream: options.stream ?? stream,
      settings: options.recovery,
      sleep: options.sleep,
      appendCompaction: ({ summary, firstKeptEntryId, tokensBefore, details, usage, fromHook }) =>
        this.store.appendCompaction(summary, firstKeptEntryId, tokensBefore, details, fromHook || undefined, usage),
      ...(changes && {
        prepare: (preparation, signal) => changes.prepareCompaction(preparation, signal),
        compacted: (end) => changes.compacted(end),
      }),
    });
    this.#branches = new Branches({
      store: this.store,
      summarizer: this.#recovery.summarizer,
      model: () => this.model,
      reload: () => this.#conversation.reload(),
      hooks: changes?.branchHooks,
    });
    this.#runs = new Runs({
      ...this.#recovery.hooks,
      emit,
      queues: this.#queues,
      loop: {
        setup: () => this.#requests.setup(),
        currentModel: () => this.#requests.model,
        modelMessages: () => this.#conversation.forModel,
        stream: options.stream ?? stream,
        ...bridge?.loopHooks,
      },
      ...(bridge && {
        prepare: (prompts) => bridge.beforeRun(prompts),
        wantsRun: (last) => bridge.beforeSettle(last),
      }),
      beforeSettled: () => this.#recordKept(),
      fault: options.fault,
    });
    this.#texts = new Texts({
      input: new InputStage(options.images, inputTransform(bridge, options.expand)),
      queues: this.#queues,
      isRunning: () => this.isStreaming,
      isCompacting: () => this.#recovery.compactor.isRunning,
      isNavigating: () => this.#branches.isRunning,
      requireModel: () => this.models.require(),
      acquire: () => this.#recorder.acquire(),
      begin: (messages, model) => this.#begin(messages, model),
      beginQueued: () => this.#beginQueued(),
      record: (message) => this.#announce(message),
      commandIn: this.#extensions?.commandIn,
    });
    this.store.onWriteError = (error) => {
      emit({ type: "session_write_error", path: this.store.getSessionFile() ?? "", error: error.message });
    };
  }

  /** Every event, in order. A returned promise slows the run down to the reader's pace. */
  subscribe(listener: EventListener): () => void {
    return this.#line.subscribe(listener);
  }

  /** The extensions that take part; undefined without any. */
  get runner(): ExtensionRunner | undefined {
    return this.#options.extensions?.runner;
  }

  get messages(): readonly AgentMessage[] {
    return this.#conversation.messages;
  }

  get model(): Model | null {
    return this.models.model;
  }

  /** Models with credentials, in the order they are cycled through; local servers are asked for theirs. */
  async availableModels(): Promise<readonly Model[]> {
    const { models } = this.#options;
    await models.discover?.();
    return models.getAvailable();
  }

  get isStreaming(): boolean {
    return this.#runs.isRunning;
  }

  /** How the last run ended; nothing before the first. */
  get outcome(): RunOutcome | undefined {
    return this.#runs.outcome;
  }

  /** The prompt in force, with what extensions change for the run under way. */
  get systemPrompt(): string {
    return this.#extensions?.bridge.systemPrompt ?? this.#options.systemPrompt;
  }

  /** Aborts with the run under way. */
  get signal(): AbortSignal | undefined {
    return this.#runs.signal;
  }

  state(): RpcSessionState {
    const { store, models } = this;
    const { accepting } = this.#texts;
    const file = store.getSessionFile();
    const name = store.getSessionName();
    return {
      model: models.model,
      thinkingLevel: models.level,
      isStreaming: this.isStreaming || accepting > 0,
      isCompacting: this.#recovery.compactor.isRunning,
      steeringMode: this.#queues.modes.steering,
      followUpMode: this.#queues.modes.followUp,
      ...(file && { sessionFile: file }),
      sessionId: store.getSessionId(),
      ...(name && { sessionName: name }),
      autoCompactionEnabled: this.#recovery.compactor.enabled,
      messageCount: this.messages.length,
      pendingMessageCount: this.#queues.length,
      ...(accepting > 0 && { accepting }),
      ...(store.readOnly && { readOnly: true }),
    };
  }

  contextUsage(): SessionStats["contextUsage"] {
    return contextUse(this.#conversation.measured, this.model);
  }

  stats(): SessionStats {
    const { store } = this;
    const session = { sessionFile: store.getSessionFile(), sessionId: store.getSessionId() };
    return sessionStats(session, store.getUsage(), this.#conversation.measured, this.model);
  }

  /**
   * Sends a text: starts a run, or queues it as `streamingBehavior` says. Resolves when its fate is known, not when the
   * run is over. Throws CommandError `busy` during a run without `streamingBehavior`, `no_model`, `no_credentials`,
   * `invalid_params`, `session_locked` or `cancelled`.
   */
  prompt(text: string, options: Omit<Partial<TypedInput>, "text"> = {}): Promise<PromptDisposition> {
    return this.#texts.prompt({ source: "interactive", ...options, text });
  }

  /** Queues a text for the next model call; starts a run when idle. Throws like `prompt`, but never `busy`. */
  steer(text: string, options: Pick<Partial<TypedInput>, "images" | "source" | "expand"> = {}) {
    return this.#texts.queue("steering", { source: "interactive", ...options, text });
  }

  /** Queues a text for when the agent is done; starts a run when idle. Throws like `prompt`, but never `busy`. */
  followUp(text: string, options: Pick<Partial<TypedInput>, "images" | "source" | "expand"> = {}) {
    return this.#texts.queue("followUp", { source: "interactive", ...options, text });
  }

  /** Sends a message that is no user's: recorded, queued, or the start of a run. Throws like `prompt`. */
  send(message: CustomMessage, delivery: Delivery): Promise<void> {
    return this.#texts.send(message, delivery);
  }

  /** Adds an entry that the model does not see, and announces it. Throws TypeError for data that is no JSON. */
  appendEntry(customType: string, data: unknown): void {
    const id = this.store.appendCustomEntry(customType, data);
    const entry = this.store.getEntry(id);
    if (entry) void this.#line.emit({ type: "entry_appended", entry });
  }

  /** Resolves when the fate of every text sent so far is known. */
  texts(): Promise<void> {
    return this.#texts.settled();
  }

  /** Everything announced so far has been heard by everybody. */
  heard(): Promise<void> {
    return this.#line.flushed();
  }

  /** What calls of tools inside a tool are seen through. */
  toolHooks(parentToolCallId: string): Pick<AgentLoopOptions, "beforeToolCall" | "afterToolCall"> {
    return this.#extensions?.bridge.toolHooks(parentToolCallId) ?? {};
  }

  /** Announces an event on behalf of the extensions' side. */
  announce(event: AgentSessionEvent): undefined | Promise<void> {
    return this.#line.emit(event);
  }

  clearQueue(): Promise<{ steering: string[]; followUp: string[] }> {
    return this.#queues.clear();
  }

  /** Empties the queues of a session that is being replaced, and gives back what was in them. */
  dropQueue(): { steering: string[]; followUp: string[] } {
    const texts = this.#queues.texts();
    this.#queues.drop();
    return texts;
  }

  /** Goes on with the queue of another session on the same conversation. */
  adoptQueue(from: AgentSession): void {
    from.#queues.moveTo(this.#queues);
    from.#texts.moveTo(this.#texts);
  }

  /** Shows undelivered messages a last time, when the process ends. */
  async announceQueue(): Promise<void> {
    if (this.#queues.length > 0) await this.#queues.announce();
  }

  /** How many messages of each queue are delivered at once; may be changed. */
  get queueModes(): Record<"steering" | "followUp", QueueMode> {
    return this.#queues.modes;
  }

  /** Stops whatever is under way but shell commands; resolves after its last event. Returns how much was stopped. */
  async abort(): Promise<number> {
    this.#options.extensions?.runner.interrupt();
    const cancelled = this.#texts.cancel();
    // A compaction of a run ends with it.
    if (await this.#runs.abort()) return cancelled + 1;
    return cancelled + (await this.#branches.abort()) + (await this.#recovery.compactor.abort());
  }

  /** Gives up the wait for another attempt. Returns how many waits there were. */
  abortRetry(): number {
    return this.#recovery.retries.abort();
  }

  setAutoRetry(enabled: boolean): void {
    this.#recovery.retries.enabled = enabled;
  }

  setAutoCompaction(enabled: boolean): void {
    this.#recovery.compactor.enabled = enabled;
  }

  /** What a session that replaces this one goes on with. */
  automatic(): { retry: boolean; compaction: boolean } {
    return { retry: this.#recovery.retries.enabled, compaction: this.#recovery.compactor.enabled };
  }

  /**
   * Replaces the older part of the conversation by a summary. Texts that are queued meanwhile start a run afterwards.
   * Throws CommandError `busy` during a run, `nothing_to_do`, `cancelled`, `no_model`, `provider_error`, `session_locked`.
   */
  async compact(instructions?: string): Promise<CompactionResult> {
    if (this.isStreaming)
      throw new CommandError("busy", "The agent is running. Abort it, or compact when it has settled");
    if (this.#branches.isRunning) throw new CommandError("busy", "The session is moving to another entry");
    try {
      return await this.#recovery.compactor.compact(instructions, () => this.acquireForChange());
    } finally {
      this.#texts.compactionEnded();
    }
  }

  /** Resolves when no run is under way. */
  waitForIdle(): Promise<void> {
    return this.#runs.settled();
  }

  /** Throws CommandError `invalid_params` for an empty command and `session_locked`. */
  async bash(request: BashRequest): Promise<BashResult> {
    if (!request.command.trim()) throw new CommandError("invalid_params", "A command needs text", "command");
    return this.#shell.execute(request);
  }

  abortBash(): number {
    return this.#shell.abort();
  }

  /** Throws CommandError `invalid_params` for an empty name, `session_locked`, and `io_error` when it is in memory only. */
  async setName(name: string): Promise<void> {
    const line = requireName(name);
    await this.#recorder.acquire();
    this.store.appendSessionInfo(line, { flush: true });
    await this.#line.emit({ type: "session_info_changed", name: line });
    mustBeWritten(this.store);
  }

  /** Takes the session file for writing before a change to it. Throws CommandError `session_locked`. */
  async acquireForChange(): Promise<void> {
    if (this.store.isWritten) await this.#recorder.acquire();
  }

  /**
   * Goes on from another entry; `summarize` keeps what was done on the branch that is left. Throws CommandError `busy`
   * during a run, `not_found`, `no_model`, `provider_error`, `session_locked`.
   */
  async navigate(request: NavigationRequest): Promise<Navigation> {
    await this.acquireForChange();
    const isAccepting = this.#texts.accepting > 0;
    if (this.isStreaming || isAccepting || this.#recovery.compactor.isRunning || this.#branches.isRunning)
      throw new CommandError("busy", "The agent is busy. Abort it, or navigate when it has settled");
    return this.#branches.navigate(request);
  }

  /** Bookmarks an entry; without a label the bookmark is cleared. Throws CommandError `not_found`, `session_locked`. */
  async setLabel(entryId: string, label: string | undefined): Promise<void> {
    if (!this.store.getEntry(entryId)) throw new CommandError("not_found", `Entry not found: ${entryId}`, "entryId");
    await this.acquireForChange();
    this.store.appendLabelChange(entryId, label);
    mustBeWritten(this.store);
  }

  lastAssistantText(): string | null {
    return lastAssistantText(this.messages);
  }

  /**
   * Ends everything this session runs and lets go of its file; `last` is done in between, when nothing runs any more. Events
   * are delivered before this resolves.
   */
  async dispose(last?: () => Promise<void>): Promise<void> {
    await this.abort();
    this.#shell.abort();
    await this.#shell.idle();
    await this.#line.flushed();
    await last?.();
    // What the last handlers began.
    await this.#runs.abort();
    await this.#line.flushed();
    this.store.release();
  }

  #begin(messages: readonly AgentMessage[], model: Model): void {
    const [first, ...others] = messages as [AgentMessage, ...AgentMessage[]];
    this.#recorder.selection();
    // What follows it is written when it is announced.
    this.#recorder.accept(first);
    this.#requests.pin(model);
    this.#runs.start([first, ...others]);
  }

  /** Texts that came during a compaction go out; those of an aborted run go with them. */
  #beginQueued(): void {
    const queue = this.#queues.next();
    if (!queue || this.isStreaming) return;
    this.#recorder.selection();
    this.#runs.start(queue);
  }

  async #announce(message: AgentMessage): Promise<void> {
    void this.#line.emit({ type: "message_start", message });
    await this.#line.emit({ type: "message_end", message });
  }

  #store(event: AgentSessionEvent): void {
    if (event.type === "message_end" && event.message.role === "user") this.#recovery.compactor.beginUserTurn();
    this.#recorder.announced(event);
  }

  /** What came during the run and belongs behind it. */
  #recordKept(): void {
    this.#recorder.runEnded();
    void this.#texts.recordKept();
  }
}
