// The session as its extensions see it: every action of theirs, done by the session.

import { type AgentToolResult, isBlock, runTools } from "@earendil-works/pi-agent-core";
import type { ImageContent, Model, ThinkingLevel } from "@earendil-works/pi-ai";
import type {
  CompactOptions,
  ContextUsage,
  CustomMessageDraft,
  ExtensionHost,
  ExtensionMode,
  ExtensionModelRegistry,
  NavigateOptions,
  RegisteredTool,
  SendMessageOptions,
  SendUserMessageOptions,
  SessionControl,
  ToolInfo,
  UserContent,
} from "../extensions/host.js";
import type { ExtensionUI } from "../extensions/ui.js";
import type { SlashCommand } from "../modes/rpc/rpc-types.js";
import type { AgentSession } from "./agent-session.js";
import { customMessage, mustBeJson } from "./custom-message.js";
import type { AgentSessionEvent } from "./events.js";
import type { ToolBox } from "./tool-box.js";

/** What the mode brings: it may come later than the session. */
export interface ExtensionBindings {
  mode: ExtensionMode;
  ui: ExtensionUI;
  /** Ends the program in order, when nothing is under way any more. */
  shutdown: () => void;
  /** Closes dialogs that wait for the user; absent where there are none. */
  dismiss?: (reason: "aborted" | "shutdown") => void;
}

export interface SessionHostOptions {
  session: AgentSession;
  /** Where the session's tools work. */
  cwd: string;
  toolBox: ToolBox;
  bindings: () => ExtensionBindings;
  sessions: () => SessionControl<unknown>;
  modelRegistry: ExtensionModelRegistry;
  commands: () => SlashCommand[];
  settings: () => object;
  isProjectTrusted: boolean;
  environment: () => Record<string, string | undefined>;
  /** Resolves when nothing that extensions asked for is on its way. */
  actions: () => Promise<void>;
  /** Told of actions that went wrong after they were asked for. */
  fault: (event: string, error: unknown) => void;
}

export class SessionHost implements ExtensionHost {
  readonly #options: SessionHostOptions;
  readonly #session: AgentSession;
  readonly #nestedCalls = new Map<string, number>();
  /** The run they belong to, by its signal. */
  #countedRun: AbortSignal | undefined;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.#session = options.session;
  }

  get mode(): ExtensionMode {
    return this.#options.bindings().mode;
  }

  get ui(): ExtensionUI {
    return this.#options.bindings().ui;
  }

  get cwd(): string {
    return this.#options.cwd;
  }

  get sessionManager() {
    return this.#session.store;
  }

  get modelRegistry(): ExtensionModelRegistry {
    return this.#options.modelRegistry;
  }

  get model(): Model | undefined {
    return this.#session.model ?? undefined;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#session.models.level;
  }

  get scopedModels() {
    return this.#session.models.scoped;
  }

  get signal(): AbortSignal | undefined {
    return this.#session.signal;
  }

  get isProjectTrusted(): boolean {
    return this.#options.isProjectTrusted;
  }

  get sessions(): SessionControl<unknown> {
    return this.#options.sessions();
  }

  isIdle(): boolean {
    return !this.#session.isStreaming;
  }

  hasPendingMessages(): boolean {
    return this.#session.state().pendingMessageCount > 0;
  }

  abort(): void {
    this.#options.bindings().dismiss?.("aborted");
    void this.#session.abort();
  }

  shutdown(): void {
    this.#options.bindings().shutdown();
  }

  systemPrompt(): string {
    return this.#session.systemPrompt;
  }

  systemPromptOptions() {
    return this.#options.toolBox.promptOptions();
  }

  contextUsage(): ContextUsage | undefined {
    return this.#session.contextUsage();
  }

  compact({ customInstructions, onComplete, onError }: CompactOptions): void {
    const tell = (error: unknown) => this.#options.fault("compact", error);
    this.#session
      .compact(customInstructions)
      .then(onComplete, onError ?? tell)
      .catch(tell);
  }

  async sendMessage(
    draft: CustomMessageDraft,
    { triggerTurn, deliverAs = "steer" }: SendMessageOptions,
  ): Promise<void> {
    const message = customMessage(draft);
    await this.#session.heard();
    await this.#session.send(message, { as: deliverAs, triggerTurn });
  }

  async sendUserMessage(content: UserContent, options: SendUserMessageOptions): Promise<void> {
    const { deliverAs, expandPromptTemplates = false } = options;
    const isText = typeof content === "string";
    if (!isText && !(Array.isArray(content) && content.every(isBlock)))
      throw new Error("Cannot send a user message: its content is a text or a list of texts and images");
    const text = isText ? content : content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
    const images = isText ? [] : content.filter((block): block is ImageContent => block.type === "image");
    // Work that a handler of the last event asks for begins when all have heard it.
    await this.#session.heard();
    await this.#session.prompt(text, {
      source: "extension",
      expand: expandPromptTemplates,
      ...(images.length > 0 && { images }),
      ...(deliverAs && { streamingBehavior: deliverAs }),
    });
  }

  appendEntry(customType: string, data: unknown): void {
    if (typeof customType !== "string" || !customType) throw new Error("Cannot append an entry without a customType");
    mustBeJson(data, `entry "${customType}"`);
    this.#session.appendEntry(customType, data);
  }

  setSessionName(name: string): void {
    if (typeof name !== "string") throw new Error("Cannot name the session: the name is not a text");
    this.#session.setName(name).catch((error) => this.#options.fault("set_session_name", error));
  }

  setLabel(entryId: string, label: string | undefined): void {
    const { store } = this.#session;
    if (!store.getEntry(entryId)) throw new Error(`Entry not found: ${entryId}`);
    store.appendLabelChange(entryId, label);
  }

  getActiveTools(): string[] {
    return [...this.#options.toolBox.active];
  }

  getAllTools(): ToolInfo[] {
    return this.#options.toolBox.all;
  }

  setActiveTools(names: readonly string[]): void {
    this.#options.toolBox.setActive(names);
  }

  toolsChanged(added: RegisteredTool): void {
    this.#options.toolBox.register(added);
  }

  getCommands(): SlashCommand[] {
    return this.#options.commands();
  }

  setModel(model: Model): boolean {
    if (typeof model?.provider !== "string" || typeof model.id !== "string" || typeof model.api !== "string")
      throw new Error("Cannot set the model: it is none of the registry's");
    return this.#session.models.choose(model);
  }

  setThinkingLevel(level: ThinkingLevel): void {
    void this.#session.models.setLevel(level);
  }

  getSettings(): object {
    return structuredClone(this.#options.settings());
  }

  environment(): Record<string, string | undefined> {
    return this.#options.environment();
  }

  callableTools(): ToolInfo[] {
    return this.#options.toolBox.callable;
  }

  async executeTool(
    parentToolCallId: string,
    name: string,
    args: unknown,
    { signal, onUpdate }: { signal?: AbortSignal; onUpdate?: (partial: AgentToolResult) => void },
  ): Promise<AgentToolResult & { isError: boolean }> {
    // The numbers of one run are kept, and no others.
    if (this.#countedRun !== this.#session.signal) this.#nestedCalls.clear();
    this.#countedRun = this.#session.signal;
    const number = (this.#nestedCalls.get(parentToolCallId) ?? 0) + 1;
    this.#nestedCalls.set(parentToolCallId, number);
    const { toolBox } = this.#options;
    const isCallable = toolBox.callable.some((tool) => tool.name === name);
    const tool = isCallable ? toolBox.find(name) : undefined;
    const call = {
      type: "toolCall" as const,
      id: `${parentToolCallId}/${number}`,
      name,
      arguments: (args ?? {}) as Record<string, unknown>,
    };
    const own = this.#session.signal;
    const signals = [own, signal].filter((given) => given !== undefined);
    const { finished } = await runTools([call], tool ? [tool] : [], {
      ...this.#session.toolHooks(parentToolCallId),
      signal: AbortSignal.any(signals),
      parentToolCallId,
      emit: (event) => {
        if (event.type === "tool_execution_update") onUpdate?.(event.partialResult);
        return this.#session.announce(event as AgentSessionEvent);
      },
    });
    const [only] = finished;
    if (!only) throw new Error(`Tool ${name} gave no result`);
    return { ...only.result, isError: only.isError };
  }

  /** Also what was sent just now has begun and ended. */
  async waitForIdle(): Promise<void> {
    do {
      await this.#options.actions();
      await this.#session.waitForIdle();
    } while (this.#session.isStreaming);
  }

  async navigateTree(entryId: string, options: NavigateOptions): Promise<{ cancelled: boolean }> {
    const { summarize, customInstructions, replaceInstructions, label } = options;
    const { cancelled } = await this.#session.navigate({
      entryId,
      summarize,
      instructions: customInstructions,
      replaceInstructions,
      label,
      rewritesMessage: true,
    });
    return { cancelled };
  }
}
