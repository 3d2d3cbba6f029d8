// What extensions hear and what they may answer: every event's payload and result, by name.

import type { ImageContent, Model, ThinkingLevel, ToolResultMessage, Usage } from "@earendil-works/pi-ai";
import type { CompactionReason } from "../core/events.js";
import type { CustomMessage } from "../core/messages.js";
import type { BashResult } from "../modes/rpc/rpc-types.js";
import type { CompactionEntry, SessionEntry } from "../sessions/entries.js";
import type { BashOperations } from "../tools/operations.js";
import type {
  AgentMessage,
  AgentToolResult,
  CompactionPlanView,
  MessageUpdatePayload,
  NewEntry,
  StartReason,
  SystemPromptOptions,
} from "./event-parts.js";

/** Nothing is expected back. */
type Notice<Event> = { event: Event; result: undefined };

interface ToolCallFields {
  toolCallId: string;
  toolName: string;
  /** The call that made this one. */
  parentToolCallId?: string;
}

/** What a handler proposes at the end of a turn or a run: entries to append, and whether another request follows. */
export interface BoundaryProposal {
  entries?: NewEntry[];
  continue?: boolean;
}

interface Boundary {
  outcome: "completed" | "error" | "aborted";
  /** What earlier handlers proposed. */
  entries: NewEntry[];
  continue: boolean;
  /** The messages the next request would be made of. */
  context: AgentMessage[];
}

/** Event name → payload (without `type`) and result. A name that is not here is accepted and never fires. */
export interface ExtensionEventMap {
  project_trust: { event: { cwd: string }; result: { trusted: "yes" | "no" | "undecided"; remember?: boolean } };
  session_start: Notice<{ reason: StartReason; previousSessionFile?: string }>;
  session_shutdown: Notice<{ reason: "quit" | Exclude<StartReason, "startup">; targetSessionFile?: string }>;
  resources_discover: {
    event: { cwd: string; reason: "startup" | "reload" };
    result: { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] };
  };
  session_info_changed: Notice<{ name?: string }>;
  session_before_switch: {
    event: { reason: "new" | "resume"; targetSessionFile?: string };
    result: { cancel?: boolean };
  };
  session_before_fork: {
    event: { entryId: string; position: "before" | "at" };
    result: { cancel?: boolean; skipConversationRestore?: boolean };
  };
  session_before_compact: {
    event: {
      preparation: CompactionPlanView;
      branchEntries: SessionEntry[];
      customInstructions?: string;
      reason: CompactionReason;
      willRetry: boolean;
      signal: AbortSignal;
    };
    result: {
      cancel?: boolean;
      compaction?: {
        summary: string;
        firstKeptEntryId?: string;
        tokensBefore?: number;
        details?: unknown;
        usage?: Usage;
      };
    };
  };
  session_compact: Notice<{
    compactionEntry: CompactionEntry;
    fromExtension: boolean;
    reason: CompactionReason;
    willRetry: boolean;
  }>;
  session_compact_failed: Notice<{
    reason: CompactionReason;
    errorMessage?: string;
    aborted: boolean;
    willRetry: boolean;
    fromExtension: boolean;
  }>;
  session_before_tree: {
    event: {
      preparation: {
        targetId: string;
        oldLeafId: string | null;
        commonAncestorId: string | null;
        entriesToSummarize: SessionEntry[];
        userWantsSummary: boolean;
        customInstructions?: string;
        replaceInstructions?: boolean;
        label?: string;
      };
      signal: AbortSignal;
    };
    result: {
      cancel?: boolean;
      summary?: { summary: string; details?: unknown; usage?: Usage };
      customInstructions?: string;
      replaceInstructions?: boolean;
      label?: string;
    };
  };
  session_tree: Notice<{
    newLeafId: string | null;
    oldLeafId: string | null;
    summaryEntry?: SessionEntry;
    fromExtension?: boolean;
  }>;
  before_agent_start: {
    event: {
      messageType: "user" | "custom";
      prompt?: string;
      images?: ImageContent[];
      message?: CustomMessage;
      systemPrompt: string;
      systemPromptOptions: SystemPromptOptions;
    };
    result: {
      systemPrompt?: string;
      message?: Pick<CustomMessage, "customType" | "content"> & Partial<Pick<CustomMessage, "display" | "details">>;
    };
  };
  agent_start: Notice<object>;
  agent_end: Notice<{ messages: AgentMessage[] }>;
  agent_before_settle: { event: Boundary; result: BoundaryProposal };
  agent_settled: Notice<{ aborted: boolean }>;
  turn_start: Notice<{ turnIndex: number; timestamp: number }>;
  turn_end: {
    event: Boundary & {
      turnIndex: number;
      message: AgentMessage;
      toolResults: ToolResultMessage[];
      messageEntryId?: string;
      toolResultEntryIds: string[];
    };
    result: BoundaryProposal;
  };
  message_start: Notice<{ message: AgentMessage }>;
  message_update: Notice<MessageUpdatePayload>;
  message_end: { event: { message: AgentMessage }; result: { message?: AgentMessage } };
  tool_execution_start: Notice<ToolCallFields & { args: unknown }>;
  tool_execution_update: Notice<ToolCallFields & { args: unknown; partialResult: AgentToolResult }>;
  tool_execution_end: Notice<ToolCallFields & { result: AgentToolResult; isError: boolean; durationMs?: number }>;
  tool_call: {
    event: ToolCallFields & { input: Record<string, unknown> };
    result: { block?: boolean; reason?: string; terminate?: boolean };
  };
  tool_result: {
    event: ToolCallFields & {
      input: Record<string, unknown>;
      content: AgentToolResult["content"];
      details: unknown;
      structuredContent?: unknown;
      isError: boolean;
      usage?: Usage;
    };
    result: {
      content?: AgentToolResult["content"];
      details?: unknown;
      structuredContent?: unknown;
      isError?: boolean;
      usage?: Usage;
    };
  };
  input: {
    event: {
      text: string;
      images?: ImageContent[];
      source: "interactive" | "rpc" | "extension";
      streamingBehavior?: "steer" | "followUp";
    };
    result:
      | { action: "continue" }
      | { action: "transform"; text: string; images?: ImageContent[] }
      | { action: "handled" };
  };
  user_bash: {
    event: { command: string; excludeFromContext: boolean; cwd: string };
    result: { result?: Partial<BashResult> & { output: string }; operations?: BashOperations };
  };
  model_select: Notice<{ model: Model; previousModel?: Model; source: "set" | "cycle" }>;
  thinking_level_select: Notice<{ level: ThinkingLevel; previousLevel: ThinkingLevel }>;
  context: { event: { messages: AgentMessage[] }; result: { messages?: AgentMessage[] } };
  context_with_system: { event: { messages: unknown[] }; result: { messages?: unknown[] } };
  before_provider_headers: Notice<{ headers: Record<string, string | null> }>;
  /** Any answer but undefined takes the payload's place. */
  before_provider_request: { event: { payload: unknown }; result: unknown };
  after_provider_response: Notice<{ status: number; headers: Record<string, string> }>;
  provider_stream_event: Notice<{ provider: string; api: string; model: string; data: unknown }>;
  ui_prompt_start: Notice<{ reason: "ui_prompt"; kind: string; title?: string }>;
  ui_prompt_end: Notice<{ reason: "ui_prompt"; kind: string; title?: string }>;
  cache_warming_decision: Notice<{
    warmCost: number;
    missCost: number;
    continuationProbability: number;
    action: string;
  }>;
  mcp_servers_change: Notice<{ servers: unknown[] }>;
}

export type ExtensionEventName = keyof ExtensionEventMap;

/** A payload as a handler gets it. */
export type ExtensionEvent<K extends ExtensionEventName = ExtensionEventName> = {
  [N in K]: { type: N } & ExtensionEventMap[N]["event"];
}[K];

/** What a handler may answer; nothing is always an answer. */
export type ExtensionResult<K extends ExtensionEventName> = ExtensionEventMap[K]["result"] | undefined;
