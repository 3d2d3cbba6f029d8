// A session as programs and extensions hold it: one object for a conversation, whatever session its runtime is at.

import type { ImageContent, Model, ThinkingLevel } from "@earendil-works/pi-ai";
import type { AgentSession as CoreSession } from "../core/agent-session.js";
import { tellFaults } from "../core/create-session.js";
import { CommandError } from "../core/errors.js";
import type { AgentSessionEvent } from "../core/events.js";
import { exportHtml } from "../core/export-html/export-html.js";
import type { ScopedModel } from "../core/models.js";
import type { SessionRuntime } from "../core/session-runtime.js";
import type {
  CustomMessageDraft,
  ExtensionHost,
  NavigateOptions,
  SendMessageOptions,
  SendUserMessageOptions,
  ToolInfo,
  UserContent,
} from "../extensions/host.js";
import { inTime } from "../lib/in-time.js";
import { warn } from "../lib/warn.js";
import type { SettingsManager } from "../resources/settings-manager.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { AgentView } from "./agent-view.js";
import { bindOutside, type ExtensionBindings } from "./extension-bindings.js";
import type { ModelRuntime } from "./model-runtime.js";
import type { ResourceLoader } from "./resource-loader.js";
import { RunnerView } from "./runner-view.js";

export interface AgentSessionParts {
  runtime: SessionRuntime;
  resourceLoader: ResourceLoader;
  settingsManager: SettingsManager;
  modelRuntime: ModelRuntime;
  /** Told once, when the session has ended. */
  ended?: () => void;
}

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** Needed while a run is under way. */
  streamingBehavior?: "steer" | "followUp";
  /** Whether commands, skills and templates count in the text. Default true. */
  expandPromptTemplates?: boolean;
  source?: "interactive" | "rpc" | "extension";
}

type Listener = (event: AgentSessionEvent) => unknown;

/** Milliseconds that handlers of `session_start` may still take when the session is to end: 10 s. */
const startLimitMs = 10_000;

export class AgentSession {
  readonly settingsManager: SettingsManager;
  readonly resourceLoader: ResourceLoader;
  readonly modelRuntime: ModelRuntime;
  /** The loop as older programs know it. */
  readonly agent: AgentView;
  /** The extensions of the session. */
  readonly extensionRunner: RunnerView;
  readonly #runtime: SessionRuntime;
  readonly #ended: (() => void) | undefined;
  readonly #listeners = new Set<Listener>();
  #queued: { steering: readonly string[]; followUp: readonly string[] } = { steering: [], followUp: [] };
  #retryAttempt = 0;
  #bashRunning = 0;
  #onError: ExtensionBindings["onError"];
  #starting: Promise<void> | undefined;
  /** Faults of extensions are told; from the first event or text on where nobody binds extensions. */
  #tellsFaults = false;
  #disposed: Promise<void> | undefined;

  constructor({ runtime, resourceLoader, settingsManager, modelRuntime, ended }: AgentSessionParts) {
    this.#runtime = runtime;
    this.#ended = ended;
    this.resourceLoader = resourceLoader;
    this.settingsManager = settingsManager;
    this.modelRuntime = modelRuntime;
    this.agent = new AgentView(this, () => this.#session);
    this.extensionRunner = new RunnerView(
      () => this.#session.runner,
      () => this.dispose(),
    );
    runtime.subscribe((event) => this.#hear(event));
  }

  get #session(): CoreSession {
    return this.#runtime.session;
  }

  /** Throws after the end. */
  get #host(): ExtensionHost {
    const { runner } = this.#session;
    if (!runner) throw new Error("The session has no extension runtime");
    return runner.runtime.host;
  }

  // Facts.

  get sessionManager(): SessionManager {
    return this.#session.store;
  }

  get sessionId(): string {
    return this.sessionManager.getSessionId();
  }

  get sessionFile(): string | undefined {
    return this.sessionManager.getSessionFile();
  }

  get sessionName(): string | undefined {
    return this.sessionManager.getSessionName();
  }

  /** The conversation so far, as a list of its own. */
  get messages() {
    return [...this.#session.messages];
  }

  get state(): AgentView["state"] {
    return this.agent.state;
  }

  get model(): Model | undefined {
    return this.#session.model ?? undefined;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#session.models.level;
  }

  get scopedModels(): readonly ScopedModel[] {
    return this.#session.models.scoped;
  }

  get systemPrompt(): string {
    return this.#session.systemPrompt;
  }

  get isStreaming(): boolean {
    return this.#session.isStreaming;
  }

  get isIdle(): boolean {
    return !this.isStreaming && !this.isCompacting;
  }

  get isCompacting(): boolean {
    return this.#session.state().isCompacting;
  }

  get isBashRunning(): boolean {
    return this.#bashRunning > 0;
  }

  /** The attempt that is waited for or under way; 0 without one. */
  get retryAttempt(): number {
    return this.#retryAttempt;
  }

  get isRetrying(): boolean {
    return this.#retryAttempt > 0;
  }

  get pendingMessageCount(): number {
    return this.#session.state().pendingMessageCount;
  }

  get steeringMode() {
    return this.#session.queueModes.steering;
  }

  get followUpMode() {
    return this.#session.queueModes.followUp;
  }

  get autoCompactionEnabled(): boolean {
    return this.#session.automatic().compaction;
  }

  get autoRetryEnabled(): boolean {
    return this.#session.automatic().retry;
  }

  get promptTemplates() {
    return this.resourceLoader.getPrompts().prompts;
  }

  getSteeringMessages(): readonly string[] {
    return this.#queued.steering;
  }

  getFollowUpMessages(): readonly string[] {
    return this.#queued.followUp;
  }

  /** Tokens, cost and counts of the session. */
  getSessionStats() {
    return this.#session.stats();
  }

  getContextUsage() {
    return this.#session.stats().contextUsage;
  }

  getLastAssistantText(): string | undefined {
    return this.#session.lastAssistantText() ?? undefined;
  }

  hasExtensionHandlers(event: string): boolean {
    return this.extensionRunner.hasHandlers(event);
  }

  getUserMessagesForForking() {
    return this.#runtime.forkMessages();
  }

  // Texts.

  /**
   * Sends a text and resolves when the run it starts is over, retries included; at once when it is queued or handled.
   * Throws CommandError `busy` during a run without `streamingBehavior`, `no_model`, `no_credentials`, and `cancelled` after
   * the end of the session.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    this.#begin();
    const { images, streamingBehavior, expandPromptTemplates: expand, source } = options;
    const disposition = await this.#session.prompt(text, {
      ...(images && { images }),
      ...(streamingBehavior && { streamingBehavior }),
      ...(expand !== undefined && { expand }),
      ...(source && { source }),
    });
    if (disposition === "started") await this.waitForIdle();
  }

  /** Queues a text for the next model call; starts a run when idle. */
  async steer(text: string, images?: readonly ImageContent[]) {
    this.#begin();
    return this.#session.steer(text, images ? { images } : {});
  }

  /** Queues a text for when the agent is done; starts a run when idle. */
  async followUp(text: string, images?: readonly ImageContent[]) {
    this.#begin();
    return this.#session.followUp(text, images ? { images } : {});
  }

  /** Sends as an extension does; resolves when the run it starts is over. */
  async sendUserMessage(content: UserContent, options: SendUserMessageOptions = {}): Promise<void> {
    await this.#host.sendUserMessage(content, options);
    if (!options.deliverAs) await this.waitForIdle();
  }

  async sendCustomMessage(message: CustomMessageDraft, options: SendMessageOptions = {}): Promise<void> {
    await this.#host.sendMessage(message, options);
    if (options.triggerTurn && !options.deliverAs) await this.waitForIdle();
  }

  /** Empties the queues and gives back what was in them. */
  clearQueue(): { steering: string[]; followUp: string[] } {
    const texts = { steering: [...this.#queued.steering], followUp: [...this.#queued.followUp] };
    void this.#session.clearQueue();
    return texts;
  }

  /**
   * Hears every event. What the listener returns is not waited for, and what it throws ends nothing. Returns the function
   * that ends the subscription.
   */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stops what is under way; resolves when the session is idle. */
  async abort(): Promise<void> {
    await this.#runtime.abort();
  }

  /** Resolves when no run is under way and its events have been heard. */
  async waitForIdle(): Promise<void> {
    const session = this.#session;
    await session.waitForIdle();
    await session.heard();
  }

  // Models.

  /** Throws when the model's provider has no credentials. */
  async setModel(model: Model): Promise<void> {
    if (this.#session.models.choose(model)) return;
    throw new CommandError("no_credentials", `No credentials for "${model.provider}/${model.id}"`);
  }

  cycleModel() {
    return this.#session.models.cycle();
  }

  setThinkingLevel(level: ThinkingLevel): void {
    void this.#session.models.setLevel(level);
  }

  cycleThinkingLevel() {
    return this.#session.models.cycleLevel();
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.#session.models.levels();
  }

  supportsThinking(): boolean {
    return this.model?.reasoning === true;
  }

  // Tools.

  getActiveToolNames(): string[] {
    return this.#host.getActiveTools();
  }

  /** Unknown names, and those the session was made without, are left out. Counts from the next request on. */
  setActiveToolsByName(names: readonly string[]): void {
    this.#host.setActiveTools(names);
  }

  getAllTools(): ToolInfo[] {
    return this.#host.getAllTools();
  }

  getToolDefinition(name: string): ToolInfo | undefined {
    return this.getAllTools().find((tool) => tool.name === name);
  }

  // The session's own work.

  setSteeringMode(mode: "all" | "one-at-a-time"): void {
    this.#session.queueModes.steering = mode;
  }

  setFollowUpMode(mode: "all" | "one-at-a-time"): void {
    this.#session.queueModes.followUp = mode;
  }

  /** Throws CommandError `busy`, `nothing_to_do`, `cancelled`, `no_model`, `provider_error`. */
  compact(instructions?: string) {
    return this.#session.compact(instructions);
  }

  abortCompaction(): void {
    if (!this.isStreaming) void this.#session.abort();
  }

  abortBranchSummary(): void {
    this.abortCompaction();
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    this.#session.setAutoCompaction(enabled);
  }

  setAutoRetryEnabled(enabled: boolean): void {
    this.#session.setAutoRetry(enabled);
  }

  abortRetry(): void {
    this.#session.abortRetry();
  }

  /** Runs a command of the user's and records it; `onChunk` hears its output as it comes. */
  async executeBash(
    command: string,
    onChunk?: (chunk: string) => void,
    { excludeFromContext }: { excludeFromContext?: boolean } = {},
  ) {
    // Several may run at once: an object is equal to no other.
    const id = {};
    const unsubscribe = this.subscribe((event) => {
      if (event.type === "bash_execution_update" && event.id === id) onChunk?.(event.delta);
    });
    this.#bashRunning += 1;
    try {
      return await this.#session.bash({ command, id, excludeFromContext });
    } finally {
      this.#bashRunning -= 1;
      unsubscribe();
    }
  }

  abortBash(): void {
    this.#session.abortBash();
  }

  /** In memory at once; a failure to write it is an event. */
  setSessionName(name: string): void {
    this.#host.setSessionName(name);
  }

  navigateTree(entryId: string, options: NavigateOptions = {}) {
    return this.#host.navigateTree(entryId, options);
  }

  /** Writes the session as HTML and gives the file's path. */
  exportToHtml(outputPath?: string): Promise<string> {
    return exportHtml(this.sessionManager, { outputPath });
  }

  /** Loads extensions, skills and templates again. */
  async reload(): Promise<void> {
    await this.#runtime.reload();
  }

  // Its life.

  /**
   * Says who the user is, and tells extensions that the session begins: once, however often it is called. Resolves when they
   * have heard of it.
   */
  async bindExtensions(bindings: ExtensionBindings = {}): Promise<void> {
    this.#onError = bindings.onError;
    bindOutside(this.#runtime, bindings);
    this.#tellsFaults = true;
    this.#starting ??= this.#runtime.start();
    await this.#starting;
  }

  /**
   * Ends the session in order: the run is aborted, extensions are told once, the file is let go. It begins at once, and the
   * promise resolves when it is done; calls after the first give the same promise.
   */
  dispose(): Promise<void> {
    this.#disposed ??= this.#end();
    return this.#disposed;
  }

  /** After the end it is refused: what began then would never be ended. */
  #begin(): void {
    if (this.#disposed) throw new CommandError("cancelled", "Cannot send a text: the session has ended");
    this.#tellFaults();
  }

  /** Sessions that replace this one tell them by themselves. */
  #tellFaults(): void {
    if (this.#tellsFaults) return;
    this.#tellsFaults = true;
    tellFaults(this.#session);
  }

  async #end(): Promise<void> {
    this.#listeners.clear();
    // A handler that is still at it would begin things that nobody ends.
    if (this.#starting) await inTime(this.#starting, startLimitMs);
    try {
      await this.#runtime.dispose();
    } finally {
      this.#ended?.();
    }
  }

  #hear(event: AgentSessionEvent): undefined {
    this.#tellFaults();
    if (event.type === "queue_update") this.#queued = event;
    if (event.type === "auto_retry_start") this.#retryAttempt = event.attempt;
    if (event.type === "auto_retry_end") this.#retryAttempt = 0;
    if (event.type === "extension_error") this.#onError?.(event);
    for (const listener of [...this.#listeners]) {
      try {
        const result = listener(event);
        if (result instanceof Promise) result.catch(warn);
      } catch (error) {
        warn(error);
      }
    }
  }
}
