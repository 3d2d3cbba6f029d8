// The SDK surface: named exports, nothing else.

export {
  AgentSession,
  type AgentSessionOptions,
  type ModelSource,
  type PromptDisposition,
} from "./core/agent-session.js";
export type { BashRequest } from "./core/bash.js";
export type { Navigation } from "./core/branch.js";
export { createRuntime, type SessionOptions, type SessionStart } from "./core/create-session.js";
export { CommandError } from "./core/errors.js";
export type { EventListener } from "./core/event-line.js";
export type { AgentSessionEvent, CompactionResult } from "./core/events.js";
export { type ExportOptions, exportHtml } from "./core/export-html/export-html.js";
export type { TypedInput } from "./core/input.js";
export type {
  AgentMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
} from "./core/messages.js";
export type { ScopedModel } from "./core/models.js";
export type { RecoverySettings } from "./core/recovery.js";
export type { RunOutcome } from "./core/run.js";
export { type Replacement, type SessionChange, SessionRuntime } from "./core/session-runtime.js";
export type { ToolSelection } from "./core/tool-selection.js";
export { processGroups } from "./lib/shell.js";
export { type JsonAgentSessionEvent, type JsonMessageUpdate, toJsonEvent } from "./modes/json-event.js";
export { RpcClient, type RpcClientEvent, type RpcClientOptions, RpcCommandError } from "./modes/rpc/rpc-client.js";
export type {
  BashResult,
  Capabilities,
  Diagnostic,
  QueueMode,
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
export type { SessionContext } from "./sessions/session-context.js";
export { SessionFileError, SessionLockedError } from "./sessions/session-error.js";
export type { SessionInfo } from "./sessions/session-list.js";
export { SessionManager } from "./sessions/session-manager.js";
export type { SessionTreeNode } from "./sessions/session-tree.js";
export { type AnyBuiltInTool, createTools, type ToolName, toolNames } from "./tools/index.js";
