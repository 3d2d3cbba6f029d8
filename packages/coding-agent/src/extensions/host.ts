// What extensions need of a session, as an interface that the session's side implements.

import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import type {
  AssistantMessage,
  AssistantMessageEventStream,
  Context,
  ImageContent,
  Model,
  StreamOptions,
  TextContent,
  ThinkingLevel,
} from "@earendil-works/pi-ai";
import type { CompactionResult } from "../core/events.js";
import type { CustomMessage } from "../core/messages.js";
import type { SlashCommand, SourceInfo } from "../modes/rpc/rpc-types.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { SystemPromptOptions } from "./event-parts.js";
import type { AnyToolDefinition, ToolExposure } from "./tool-definition.js";
import type { ExtensionUI } from "./ui.js";

export type ExtensionMode = "tui" | "rpc" | "json" | "print";

/** What a message of an extension is made of. */
export type CustomMessageDraft = Pick<CustomMessage, "customType" | "content"> &
  Partial<Pick<CustomMessage, "display" | "details">>;

/** `steer` (default) and `followUp` queue during a run; `nextTurn` waits for the user's next message. */
export interface SendMessageOptions {
  triggerTurn?: boolean;
  deliverAs?: "steer" | "followUp" | "nextTurn";
}

export interface SendUserMessageOptions {
  /** Needed during a run. */
  deliverAs?: "steer" | "followUp";
  /** Whether commands, skills and templates count in the text. Default false. */
  expandPromptTemplates?: boolean;
}

export type UserContent = string | (TextContent | ImageContent)[];

/** A tool as `getAllTools` tells of it. */
export interface ToolInfo {
  name: string;
  description: string;
  parameters: object;
  promptGuidelines?: readonly string[];
  exposure: ToolExposure;
  sourceInfo: SourceInfo;
}

/** A tool of an extension with where it comes from. */
export interface RegisteredTool {
  definition: AnyToolDefinition;
  sourceInfo: SourceInfo;
  extensionPath: string;
}

/** Tokens in the context now; null right after a compaction, until the next answer. `percent` is of the window. */
export interface ContextUsage {
  tokens: number | null;
  contextWindow: number;
  percent: number | null;
}

/** How a provider is described that an extension brings, or changes. */
export interface ProviderRegistration {
  name?: string;
  baseUrl?: string;
  apiKey?: string;
  api?: string;
  headers?: Record<string, string>;
  authHeader?: boolean;
  models?: readonly object[];
  /** Asked for models when they are listed; their number replaces `models`. */
  refreshModels?: (context: { signal: AbortSignal; [key: string]: unknown }) => Promise<readonly object[]>;
  oauth?: { getApiKey?: (credentials: unknown) => string; [key: string]: unknown };
  /** The model call of this provider's models; an own wire format. */
  streamSimple?: (model: Model, context: Context, options: StreamOptions) => AsyncIterable<unknown>;
}

/** `ctx.modelRegistry`. */
export interface ExtensionModelRegistry {
  find(provider: string, id: string): Model | undefined;
  getAll(): Model[];
  getAvailable(): Model[];
  hasConfiguredAuth(model: Model): boolean;
  getApiKeyAndHeaders(
    model: Model,
  ): Promise<{ ok: true; apiKey?: string; headers?: Record<string, string> } | { ok: false; error: string }>;
  getApiKeyForProvider(provider: string): Promise<string | undefined>;
  getProvider(id: string): object | undefined;
  getProviderAuth(
    id: string,
  ): Promise<{ apiKey?: string; headers?: Record<string, string>; baseUrl?: string } | undefined>;
  getRegisteredProviderConfig(id: string): ProviderRegistration | undefined;
  getRegisteredProviderIds(): string[];
  isUsingOAuth(model: Model): boolean;
  refresh(): Promise<void>;
  complete(model: Model, context: Context, options?: StreamOptions): Promise<AssistantMessage>;
  streamSimple(model: Model, context: Context, options?: StreamOptions): AssistantMessageEventStream;
}

/** How a session is replaced, with what is done in the new one. */
export interface ReplaceOptions<Context> {
  /** Runs in the new session, after its `session_start`. */
  withSession?: (ctx: Context) => Promise<void> | void;
}

/** What commands may do with sessions. Each resolves when the other session is in use, or the change was refused. */
export interface SessionControl<Context> {
  newSession(
    options?: ReplaceOptions<Context> & {
      parentSession?: string;
      setup?: (store: SessionManager) => Promise<void> | void;
    },
  ): Promise<{ cancelled: boolean }>;
  switchSession(path: string, options?: ReplaceOptions<Context>): Promise<{ cancelled: boolean }>;
  fork(
    entryId: string,
    options?: ReplaceOptions<Context> & { position?: "before" | "at" },
  ): Promise<{ cancelled: boolean }>;
  reload(): Promise<void>;
}

export interface NavigateOptions {
  summarize?: boolean;
  customInstructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

export interface CompactOptions {
  customInstructions?: string;
  onComplete?: (result: CompactionResult) => void;
  onError?: (error: Error) => void;
}

/** One session as its extensions see it. Actions change state before they return, unless they give a promise. */
export interface ExtensionHost {
  readonly mode: ExtensionMode;
  readonly ui: ExtensionUI;
  readonly cwd: string;
  readonly sessionManager: SessionManager;
  readonly modelRegistry: ExtensionModelRegistry;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly scopedModels: readonly { model: Model; thinkingLevel?: ThinkingLevel }[];
  /** Aborts with the run under way. */
  readonly signal: AbortSignal | undefined;
  readonly isProjectTrusted: boolean;
  isIdle(): boolean;
  hasPendingMessages(): boolean;
  abort(): void;
  shutdown(): void;
  systemPrompt(): string;
  systemPromptOptions(): SystemPromptOptions;
  contextUsage(): ContextUsage | undefined;
  compact(options: CompactOptions): void;
  sendMessage(draft: CustomMessageDraft, options: SendMessageOptions): Promise<void>;
  sendUserMessage(content: UserContent, options: SendUserMessageOptions): Promise<void>;
  appendEntry(customType: string, data: unknown): void;
  setSessionName(name: string): void;
  setLabel(entryId: string, label: string | undefined): void;
  getActiveTools(): string[];
  getAllTools(): ToolInfo[];
  setActiveTools(names: readonly string[]): void;
  /** The tools of extensions have changed. */
  toolsChanged(added: RegisteredTool): void;
  getCommands(): SlashCommand[];
  setModel(model: Model): boolean;
  setThinkingLevel(level: ThinkingLevel): void;
  getSettings(): object;
  environment(): Record<string, string | undefined>;
  callableTools(): ToolInfo[];
  executeTool(
    parentToolCallId: string,
    name: string,
    args: unknown,
    options: { signal?: AbortSignal; onUpdate?: (partial: AgentToolResult) => void },
  ): Promise<AgentToolResult & { isError: boolean }>;
  waitForIdle(): Promise<void>;
  navigateTree(entryId: string, options: NavigateOptions): Promise<{ cancelled: boolean }>;
  readonly sessions: SessionControl<unknown>;
}
