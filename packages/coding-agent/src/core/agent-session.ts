// One session in use: wires the services, orders every event, and delegates.

import type { AnyAgentTool, TurnSetup } from "@earendil-works/pi-agent-core";
import type { ImageContent, Model, StreamOptions, ThinkingLevel, UserMessage } from "@earendil-works/pi-ai";
import { stream } from "@earendil-works/pi-ai";
import type { BashResult, QueueMode, RpcSessionState, SessionStats } from "../modes/rpc/rpc-types.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { type BashRequest, UserShell } from "./bash.js";
import { Branches, type Navigation } from "./branch.js";
import { Conversation } from "./conversation.js";
import { CommandError, mustBeWritten, requireName } from "./errors.js";
import { EventLine, type EventListener } from "./event-line.js";
import type { AgentSessionEvent, CompactionResult } from "./events.js";
import { InputStage, type InputStageOptions, type TypedInput } from "./input.js";
import type { AgentMessage, BashExecutionMessage } from "./messages.js";
import { ModelSelection, type ScopedModel } from "./models.js";
import { Queues } from "./queue.js";
import { type RecoverySettings, RunRecovery } from "./recovery.js";
import { type RunOutcome, Runs } from "./run.js";
import { sessionStats } from "./stats.js";

/** What became of a text. */
export type PromptDisposition = "started" | "queued" | "handled";

/** What the session needs to know of models: an interface so that tests need no files. */
export interface ModelSource {
  find(provider: string, id: string): Model | undefined;
  getAvailable(): readonly Model[];
  hasCredentials(model: Model): boolean;
  /** Key, headers and variables of a request; may run a command. Rejects with a text that says what is missing. */
  resolveRequest(model: Model): Promise<Pick<StreamOptions, "apiKey" | "headers" | "env">>;
  /** Asks servers that alone know their models, all or one provider's. Never rejects. Absent: there are none. */
  discover?(provider?: string): Promise<void>;
}

export interface AgentSessionOptions {
  store: SessionManager;
  models: ModelSource;
  model: Model | null;
  thinkingLevel: ThinkingLevel;
  scopedModels: readonly ScopedModel[];
  /** Tools offered to the model, in order. */
  tools: readonly AnyAgentTool[];
  systemPrompt: string;
  queueModes: Record<"steering" | "followUp", QueueMode>;
  images: Pick<InputStageOptions, "prepareImage" | "maxImages">;
  shell: { shellPath?: string | undefined; commandPrefix?: string | undefined };
  /** Environment of shell commands; session variables are added. */
  environment: () => Record<string, string | undefined>;
  /** Retry and compaction. */
  recovery: RecoverySettings;
  /** Resolves after so many milliseconds, or rejects when the signal aborts; replaced in tests. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** What every model call gets beside key, level and abort signal. */
  streamOptions: StreamOptions;
  /** The model as requests see it; absent: as it is. */
  modelForRequests?: (model: Model) => Model;
  /** Told of a bug that broke a run; the process goes on. */
  fault: (error: unknown) => void;
  /** The model call; replaced in tests. */
  stream?: typeof stream;
}

/** A conversation with a model: what is typed goes in, events come out. */
export class AgentSession {
  readonly store: SessionManager;
  readonly models: ModelSelection;
  readonly #options: AgentSessionOptions;
  readonly #line: EventLine;
  readonly #conversation: Conversation;
  readonly #queues: Queues;
  readonly #input: InputStage;
  readonly #runs: Runs;
  readonly #recovery: RunRecovery;
  readonly #branches: Branches;
  readonly #shell: UserShell;
  /** Messages written to the store when they were accepted, so that `message_end` does not write them again. */
  readonly #stored = new WeakSet<AgentMessage>();
  /** Commands that ended during the run under way; they join the conversation after it. */
  #finishedCommands: BashExecutionMessage[] = [];
  /** The selection the session file knows of. */
  #recorded: { model: string | null; level: string | null };
  /** A text was queued during a compaction, so a run follows it. */
  #startAfterCompaction = false;
  /** The model a run was accepted for answers its first turn, whatever is chosen meanwhile. */
  #firstTurn: { model: Model; level: ThinkingLevel } | undefined;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.store = options.store;
    this.#line = new EventLine({ store: (event) => this.#record(event), fault: options.fault });
    const { emit } = this.#line;
    this.#conversation = new Conversation(options.store);
    this.#queues = new Queues(emit, options.queueModes);
    this.#input = new InputStage(options.images);
    this.models = new ModelSelection({
      model: options.model,
      thinkingLevel: options.thinkingLevel,
      scoped: options.scopedModels,
      emit,
      find: (provider, id) => options.models.find(provider, id),
      available: () => options.models.getAvailable(),
      discover: async (provider) => options.models.discover?.(provider),
      hasCredentials: (model) => options.models.hasCredentials(model),
      recordModel: () => this.#recordSelection(),
      recordLevel: () => this.#recordSelection(),
    });
    const { model: recordedModel, thinkingLevel: recordedLevel } = this.store.buildSessionContext();
    this.#recorded = {
      model: recordedModel && `${recordedModel.provider}/${recordedModel.modelId}`,
      level: recordedLevel,
    };
    // A new session begins with what it starts with; a resumed one notes a difference when it is written to again.
    if (this.store.getEntries().length === 0) this.#recordSelection();
    this.#shell = new UserShell({
      acquire: () => this.#acquire(),
      emit,
      cwd: this.store.getCwd(),
      ...options.shell,
      environment: () => options.environment(),
      record: (message) => this.#recordCommand(message),
    });
    this.#recovery = new RunRecovery({
      emit,
      conversation: this.#conversation,
      model: () => this.model,
      requestOptions: (model) => this.#requestOptions(model),
      stream: options.stream ?? stream,
      settings: options.recovery,
      sleep: options.sleep,
      appendCompaction: ({ summary, firstKeptEntryId, tokensBefore, details, usage, fromHook }) =>
        this.store.appendCompaction(summary, firstKeptEntryId, tokensBefore, details, fromHook || undefined, usage),
    });
    this.#branches = new Branches({
      store: this.store,
      summarizer: this.#recovery.summarizer,
      model: () => this.model,
      reload: () => this.#conversation.reload(),
    });
    this.#runs = new Runs({
      ...this.#recovery.hooks,
      emit,
      queues: this.#queues,
      loop: {
        setup: () => this.#turnSetup(),
        currentModel: () => this.#firstTurn?.model ?? this.models.model ?? undefined,
        modelMessages: () => this.#conversation.forModel,
        stream: options.stream ?? stream,
      },
      beforeSettled: () => this.#recordFinishedCommands(),
      fault: options.fault,
    });
    this.store.onWriteError = (error) => {
      emit({ type: "session_write_error", path: this.store.getSessionFile() ?? "", error: error.message });
    };
  }

  /** Every event, in order. A returned promise slows the run down to the reader's pace. */
  subscribe(listener: EventListener): () => void {
    return this.#line.subscribe(listener);
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

  state(): RpcSessionState {
    const { store, models } = this;
    const { accepting } = this.#input;
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
    return this.#accept(text, options, () => {
      if (!options.streamingBehavior)
        throw new CommandError(
          "busy",
          `${this.isStreaming ? "The agent is running" : "A compaction is running"}. Set streamingBehavior to "steer" or "followUp" to queue the message`,
        );
      return options.streamingBehavior === "steer" ? "steering" : "followUp";
    });
  }

  /** Queues a text for the next model call; starts a run when idle. Throws like `prompt`, but never `busy`. */
  steer(text: string, options: { images?: readonly ImageContent[]; source?: TypedInput["source"] } = {}) {
    return this.#accept(text, { ...options, streamingBehavior: "steer" }, () => "steering");
  }

  /** Queues a text for when the agent is done; starts a run when idle. Throws like `prompt`, but never `busy`. */
  followUp(text: string, options: { images?: readonly ImageContent[]; source?: TypedInput["source"] } = {}) {
    return this.#accept(text, { ...options, streamingBehavior: "followUp" }, () => "followUp");
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

  /** Shows undelivered messages a last time, when the process ends. */
  async announceQueue(): Promise<void> {
    if (this.#queues.length > 0) await this.#queues.announce();
  }

  setQueueMode(name: "steering" | "followUp", mode: QueueMode): void {
    this.#queues.modes[name] = mode;
  }

  queueModes(): Record<"steering" | "followUp", QueueMode> {
    return { ...this.#queues.modes };
  }

  /** Stops whatever is under way but shell commands; resolves after its last event. Returns how much was stopped. */
  async abort(): Promise<number> {
    const cancelled = this.#input.cancel();
    this.#startAfterCompaction = false;
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
      // Not when the next compaction has been asked for already: it is followed by the run.
      if (this.#startAfterCompaction && !this.#recovery.compactor.isRunning) this.#startQueued();
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
    await this.#acquire();
    this.store.appendSessionInfo(line, { flush: true });
    await this.#line.emit({ type: "session_info_changed", name: line });
    mustBeWritten(this.store);
  }

  /** Takes the session file for writing before a change to it. Throws CommandError `session_locked`. */
  async acquireForChange(): Promise<void> {
    if (this.store.isWritten) await this.#acquire();
  }

  /**
   * Goes on from another entry; `summarize` keeps what was done on the branch that is left. Throws CommandError `busy`
   * during a run, `not_found`, `no_model`, `provider_error`, `session_locked`.
   */
  async navigate(entryId: string, summarize = false, instructions?: string): Promise<Navigation> {
    await this.acquireForChange();
    const isAccepting = this.#input.accepting > 0;
    if (this.isStreaming || isAccepting || this.#recovery.compactor.isRunning || this.#branches.isRunning)
      throw new CommandError("busy", "The agent is busy. Abort it, or navigate when it has settled");
    return this.#branches.navigate(entryId, summarize, instructions);
  }

  /** Bookmarks an entry; without a label the bookmark is cleared. Throws CommandError `not_found`, `session_locked`. */
  async setLabel(entryId: string, label: string | undefined): Promise<void> {
    if (!this.store.getEntry(entryId)) throw new CommandError("not_found", `Entry not found: ${entryId}`, "entryId");
    await this.acquireForChange();
    this.store.appendLabelChange(entryId, label);
    mustBeWritten(this.store);
  }

  lastAssistantText(): string | null {
    for (let at = this.messages.length - 1; at >= 0; at -= 1) {
      const message = this.messages[at];
      if (message?.role !== "assistant") continue;
      const texts = message.content.filter((block) => block.type === "text").map(({ text }) => text);
      if (texts.length > 0) return texts.join("");
    }
    return null;
  }

  /** Ends everything this session runs and lets go of its file. Events are delivered before this resolves. */
  async dispose(): Promise<void> {
    await this.abort();
    this.#shell.abort();
    await this.#shell.idle();
    await this.#line.flushed();
    this.store.release();
  }

  #accept(
    text: string,
    options: Omit<Partial<TypedInput>, "text">,
    queueDuringRun: () => "steering" | "followUp",
  ): Promise<PromptDisposition> {
    const input: TypedInput = { ...options, text, source: options.source ?? "interactive" };
    return this.#input.pass(input, async (message, refuseIfCancelled) => {
      if (message === "handled") return "handled";
      const early = this.#queueWhileBusy(queueDuringRun);
      if (early) return this.#enqueue(early, message);
      const model = this.models.require();
      await this.#acquire();
      refuseIfCancelled();
      // What began by itself while the file was waited for.
      const late = this.#queueWhileBusy(queueDuringRun);
      if (late) return this.#enqueue(late, message);
      this.#start(message, model);
      return "started";
    });
  }

  /** Where a text goes while a run or a compaction is under way; nothing when it starts a run. */
  #queueWhileBusy(queueDuringRun: () => "steering" | "followUp"): "steering" | "followUp" | undefined {
    if (this.#branches.isRunning) throw new CommandError("busy", "The session is moving to another entry");
    if (this.isStreaming) return queueDuringRun();
    if (!this.#recovery.compactor.isRunning) return undefined;
    const queue = queueDuringRun();
    this.models.require();
    this.#startAfterCompaction = true;
    return queue;
  }

  async #enqueue(queue: "steering" | "followUp", message: UserMessage): Promise<"queued"> {
    await this.#queues.add(queue, message);
    return "queued";
  }

  #start(message: UserMessage, model: Model): void {
    this.#recordSelection();
    this.#conversation.append(message);
    this.#stored.add(message);
    this.#firstTurn = { model, level: this.models.level };
    this.#runs.start([message]);
  }

  /** Texts that came during a compaction go out; those of an aborted run go with them. */
  #startQueued(): void {
    this.#startAfterCompaction = false;
    const queue = this.#queues.next();
    if (!queue || this.isStreaming) return;
    this.#recordSelection();
    this.#runs.start(queue);
  }

  async #acquire(): Promise<void> {
    const leaf = this.store.getLeafId();
    try {
      await this.store.acquire();
    } catch (error) {
      throw new CommandError("session_locked", error instanceof Error ? error.message : String(error));
    }
    // Another process went on from where we are before the file became ours: its messages are on our branch.
    if (this.store.getLeafId() !== leaf) this.#conversation.reload();
  }

  async #turnSetup(): Promise<TurnSetup> {
    const model = this.#firstTurn?.model ?? this.models.require();
    const thinkingLevel = this.#firstTurn?.level ?? this.models.level;
    this.#firstTurn = undefined;
    const { tools, systemPrompt, modelForRequests = (same: Model) => same } = this.#options;
    const options = { ...(await this.#requestOptions(model)), thinkingLevel };
    return { model: modelForRequests(model), systemPrompt, tools, options };
  }

  async #requestOptions(model: Model): Promise<StreamOptions> {
    const { streamOptions, models } = this.#options;
    const { apiKey, headers, env } = await models.resolveRequest(model);
    const options: StreamOptions = { ...streamOptions, sessionId: this.store.getSessionId() };
    if (apiKey !== undefined) options.apiKey = apiKey;
    if (headers) options.headers = headers;
    if (env) options.env = env;
    return options;
  }

  #recordSelection(): void {
    const { model, level } = this.models;
    const name = model && `${model.provider}/${model.id}`;
    if (model && name !== this.#recorded.model) this.store.appendModelChange(model.provider, model.id);
    if (level !== this.#recorded.level) this.store.appendThinkingLevelChange(level);
    this.#recorded = { model: name, level };
  }

  /** The store's step of the line: what is announced has been written. */
  #record(event: AgentSessionEvent): void {
    if (event.type !== "message_end") return;
    if (event.message.role === "user") this.#recovery.compactor.beginUserTurn();
    if (this.#stored.has(event.message)) return;
    this.#conversation.append(event.message);
  }

  #recordCommand(message: BashExecutionMessage): void {
    if (this.isStreaming) this.#finishedCommands.push(message);
    else this.#conversation.append(message);
  }

  #recordFinishedCommands(): void {
    for (const message of this.#finishedCommands.splice(0)) this.#conversation.append(message);
  }
}
