// The SDK surface: named exports, nothing else.

export {
  AgentSession,
  type AgentSessionOptions,
  type ModelSource,
  type PromptDisposition,
} from "./core/agent-session.js";
export { createRuntime, type SessionOptions, type SessionStart } from "./core/create-session.js";
export { CommandError } from "./core/errors.js";
export type { EventListener } from "./core/event-line.js";
export type { AgentSessionEvent, CompactionResult } from "./core/events.js";
export type {
  AgentMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
} from "./core/messages.js";
export type { ScopedModel } from "./core/models.js";
export { SessionRuntime } from "./core/session-runtime.js";
export { type JsonAgentSessionEvent, type JsonMessageUpdate, toJsonEvent } from "./modes/json-event.js";
export { RpcClient, type RpcClientEvent, type RpcClientOptions, RpcCommandError } from "./modes/rpc/rpc-client.js";
export type {
  BashResult,
  Capabilities,
  Diagnostic,
  RpcCommand,
  RpcCommandName,
  RpcData,
  RpcErrorCode,
  RpcExtensionUIRequest,
  RpcExtensionUIResponse,
  RpcParams,
  RpcResponse,
  RpcSessionState,
  SessionStats,
  SlashCommand,
} from "./modes/rpc/rpc-types.js";
export { AuthStorage } from "./resources/auth.js";
export { type LoadOptions, loadResources, type Resources } from "./resources/load.js";
export { chooseModel, type ModelChoice } from "./resources/model-choice.js";
export { ModelRegistry } from "./resources/model-registry.js";
export type { Settings } from "./resources/settings.js";
export { SettingsManager } from "./resources/settings-manager.js";
export type { SessionEntry, SessionHeader } from "./sessions/entries.js";
export { SessionFileError, SessionLockedError } from "./sessions/session-error.js";
export { SessionManager } from "./sessions/session-manager.js";
export { type AnyBuiltInTool, createTools, type ToolName, toolNames } from "./tools/index.js";
