// What an extension is given: the API of its factory, and the contexts of its handlers, tools and commands.

import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import type { Model, ThinkingLevel } from "@earendil-works/pi-ai";
import type { SlashCommand } from "../modes/rpc/rpc-types.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { EventBus } from "./event-bus.js";
import type { SystemPromptOptions } from "./event-parts.js";
import type { ExtensionEvent, ExtensionEventName, ExtensionResult } from "./events.js";
import type { ExecOptions, ExecResult } from "./exec.js";
import type {
  CompactOptions,
  ContextUsage,
  CustomMessageDraft,
  ExtensionMode,
  ExtensionModelRegistry,
  NavigateOptions,
  ProviderRegistration,
  SendMessageOptions,
  SendUserMessageOptions,
  SessionControl,
  ToolInfo,
  UserContent,
} from "./host.js";
import type { AnyToolDefinition } from "./tool-definition.js";
import type { ExtensionUI } from "./ui.js";

/** The default export of an extension's module. It is awaited before anything else starts. */
export type ExtensionFactory = (pi: ExtensionAPI) => void | Promise<void>;

/** A handler of an event. Handlers run in the order extensions were loaded, then of registration, each awaited. */
export type ExtensionHandler<K extends ExtensionEventName> = (
  event: ExtensionEvent<K>,
  ctx: ExtensionContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is written without a return
) => ExtensionResult<K> | void | Promise<ExtensionResult<K> | void>;

/** A command that is called as `/name args`. `args` is everything behind the first space, as it was typed. */
export interface CommandDefinition {
  description?: string;
  handler: (args: string, ctx: ExtensionCommandContext) => unknown;
  /** For terminals; kept uncalled. */
  getArgumentCompletions?: (prefix: string) => unknown;
}

/** An option of the command line. */
export interface FlagDefinition {
  description?: string;
  type: "boolean" | "string";
  default?: boolean | string;
}

/** `pi`: what a factory is given. Most members work once a session is bound; before, they throw an error that says so. */
export interface ExtensionAPI {
  /** Returns the function that ends the subscription. Unknown names are accepted and never heard of. */
  on<K extends ExtensionEventName>(event: K, handler: ExtensionHandler<K>): () => void;
  on(event: string, handler: (event: never, ctx: ExtensionContext) => unknown): () => void;
  registerTool(definition: AnyToolDefinition): void;
  registerCommand(name: string, definition: CommandDefinition): void;
  registerFlag(name: string, definition: FlagDefinition): void;
  getFlag(name: string): boolean | string | undefined;
  registerProvider(name: string | object, config?: ProviderRegistration): void;
  unregisterProvider(name: string): void;
  readonly events: EventBus;
  exec(command: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  sendMessage(message: CustomMessageDraft, options?: SendMessageOptions): void;
  sendUserMessage(content: UserContent, options?: SendUserMessageOptions): void;
  appendEntry(customType: string, data?: unknown): void;
  setSessionName(name: string): void;
  getSessionName(): string | undefined;
  setLabel(entryId: string, label: string | undefined): void;
  getActiveTools(): string[];
  getAllTools(): ToolInfo[];
  setActiveTools(names: readonly string[]): void;
  getCommands(): SlashCommand[];
  /** False when the model's provider has no credentials. */
  setModel(model: Model): Promise<boolean>;
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): void;
  getSettings(): object;
  /** These draw on terminals: what is registered is kept, and never called. */
  registerMessageRenderer(customType: string, renderer: unknown): void;
  registerEntryRenderer(customType: string, renderer: unknown): void;
  registerToolRenderer(resolver: unknown): void;
  registerMarkdownTransformer(transformer: unknown, options?: unknown): void;
  registerShortcut(key: string, definition: unknown): void;
  /** Throws: not supported. */
  registerVirtualModel(model: unknown): void;
  unregisterVirtualModel(provider: string, id: string): void;
  /** MCP servers are not supported: one `extension_error` says so. */
  registerMcpServer(name: string, config: unknown): void;
  unregisterMcpServer(name: string): void;
  getMcpServers(): unknown[];
}

/** `ctx` of handlers, tools and commands. After the session was replaced every member throws an error that says so. */
export interface ExtensionContext {
  readonly ui: ExtensionUI;
  readonly mode: ExtensionMode;
  /** Whether dialogs can reach somebody. */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: SessionManager;
  readonly modelRegistry: ExtensionModelRegistry;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly scopedModels: readonly { model: Model; thinkingLevel?: ThinkingLevel }[];
  /** Aborts with the run under way; undefined without one. */
  readonly signal: AbortSignal | undefined;
  isProjectTrusted(): boolean;
  isIdle(): boolean;
  hasPendingMessages(): boolean;
  abort(): void;
  /** Ends the program in order, when nothing is under way any more. */
  shutdown(): void;
  getSystemPrompt(): string;
  getContextUsage(): ContextUsage | undefined;
  /** Not awaited: `onComplete` and `onError` tell of the end. */
  compact(options?: CompactOptions): void;
}

/** `ctx` of commands: what would wait for itself in a handler. */
export interface ExtensionCommandContext extends ExtensionContext, SessionControl<ReplacedSessionContext> {
  waitForIdle(): Promise<void>;
  getSystemPromptOptions(): SystemPromptOptions;
  /** Rejects while something is under way, and for an entry that is not there. */
  navigateTree(entryId: string, options?: NavigateOptions): Promise<{ cancelled: boolean }>;
}

/** `ctx` of `withSession`: a command's, in the new session. */
export interface ReplacedSessionContext extends ExtensionCommandContext {
  sendMessage(message: CustomMessageDraft, options?: SendMessageOptions): Promise<void>;
  sendUserMessage(content: UserContent, options?: SendUserMessageOptions): Promise<void>;
}

/** `ctx` of a tool's `execute`. */
export interface ExtensionToolContext extends ExtensionContext {
  readonly tools: ToolInfo[];
  /** Never rejects for what a tool does. */
  executeTool(
    name: string,
    args: unknown,
    options?: { signal?: AbortSignal; onUpdate?: (partial: AgentToolResult) => void },
  ): Promise<AgentToolResult & { isError: boolean }>;
}
