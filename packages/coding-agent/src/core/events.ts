// The records of everything a session announces: one table of events, from which types, schema and docs come.

import {
  type AssistantMessage,
  type AssistantMessageEvent,
  ErrorInfo,
  ImageContent,
  Model,
  TextContent,
  ThinkingLevel,
  ToolResultMessage,
  Usage,
} from "@earendil-works/pi-ai";
import type { Static, TObject, TProperties } from "typebox";
import * as Type from "typebox";
import { SessionEntry } from "../sessions/entries.js";
import { AgentMessage } from "./messages.js";

/** Why a compaction ran: asked for, context nearly full, or refused by the provider as too long. */
export const CompactionReason = Type.Union(
  [Type.Literal("manual"), Type.Literal("threshold"), Type.Literal("overflow")],
  { title: "CompactionReason" },
);
export type CompactionReason = Static<typeof CompactionReason>;

/** What a compaction made. Token counts are estimates except those in `usage`, which the summary's model call reported. */
export const CompactionResult = Type.Object(
  {
    summary: Type.String(),
    firstKeptEntryId: Type.String(),
    tokensBefore: Type.Number(),
    estimatedTokensAfter: Type.Optional(Type.Number()),
    usage: Type.Optional(Usage),
    details: Type.Optional(Type.Unknown()),
  },
  { title: "CompactionResult" },
);
export type CompactionResult = Static<typeof CompactionResult>;

/** What a tool gave back, or has given so far. `details` belongs to the tool. */
export const ToolResult = Type.Object(
  {
    content: Type.Array(Type.Union([TextContent, ImageContent])),
    details: Type.Optional(Type.Unknown()),
    structuredContent: Type.Optional(Type.Unknown()),
    usage: Type.Optional(Usage),
    terminate: Type.Optional(Type.Boolean()),
  },
  { title: "ToolResult" },
);
export type ToolResult = Static<typeof ToolResult>;

/** `parentToolCallId` is there when another tool made the call. */
const toolFields = {
  toolCallId: Type.String(),
  toolName: Type.String(),
  parentToolCallId: Type.Optional(Type.String()),
};
const attemptFields = {
  attempt: Type.Number(),
  maxAttempts: Type.Number(),
  delayMs: Type.Number(),
  errorMessage: Type.String(),
  error: Type.Optional(ErrorInfo),
};
const Strings = Type.Array(Type.String());

/**
 * Every session event but `message_update`, whose wire form is in `modes/json-event.ts`. `rpcOnly` ones are not part
 * of the JSON event stream. Fields marked optional are absent, never null.
 */
export const sessionEvents = {
  agent_start: event("A low-level run started.", {}),
  agent_end: event(
    "A low-level run ended. `messages` are those it made; with `willRetry` another attempt follows by itself.",
    { messages: Type.Array(AgentMessage), willRetry: Type.Boolean() },
  ),
  agent_settled: event("Nothing is left to do by itself: no retry, no recovery, no queued message. Comes last, once.", {
    aborted: Type.Boolean(),
  }),
  turn_start: event("One answer of the model, with the tool calls it asks for, begins.", {}),
  turn_end: event("The answer and its tool calls are done.", {
    message: AgentMessage,
    toolResults: Type.Array(ToolResultMessage),
  }),
  message_start: event("A message began; an assistant message is empty and `pending` here.", { message: AgentMessage }),
  message_end: event("A message is complete; this is its authoritative form.", { message: AgentMessage }),
  tool_execution_start: event("A tool call is about to run.", { ...toolFields, args: Type.Unknown() }),
  tool_execution_update: event("The latest partial result of a running tool.", {
    ...toolFields,
    args: Type.Unknown(),
    partialResult: ToolResult,
  }),
  tool_execution_end: event(
    "A tool call is done. `durationMs` is absent when the tool did not run (bad arguments, blocked, aborted before).",
    { ...toolFields, result: ToolResult, isError: Type.Boolean(), durationMs: Type.Optional(Type.Number()) },
  ),
  queue_update: event("The queues changed; both are given whole, as texts.", { steering: Strings, followUp: Strings }),
  entry_appended: event("An extension added a custom entry to the session.", { entry: SessionEntry }),
  session_info_changed: event("The session's display name changed; without `name` it was cleared.", {
    name: Type.Optional(Type.String()),
  }),
  thinking_level_changed: event("The thinking level in force changed.", { level: ThinkingLevel }),
  model_changed: event("The current model changed.", { model: Model }),
  compaction_start: event("Summarising the older part of the conversation began.", { reason: CompactionReason }),
  compaction_end: event(
    "Compaction ended. `result` is absent when it was aborted or failed; `errorMessage` says why it failed.",
    {
      reason: CompactionReason,
      result: Type.Optional(CompactionResult),
      aborted: Type.Boolean(),
      willRetry: Type.Boolean(),
      errorMessage: Type.Optional(Type.String()),
      error: Type.Optional(ErrorInfo),
    },
  ),
  auto_retry_start: event("A failed answer will be asked for again after `delayMs`.", attemptFields),
  auto_retry_end: event("The series of retries ended; `attempt` is the number of the last one (1 = the first).", {
    success: Type.Boolean(),
    attempt: Type.Number(),
    finalError: Type.Optional(Type.String()),
    error: Type.Optional(ErrorInfo),
  }),
  summarization_retry_scheduled: event("A failed summary will be asked for again after `delayMs`.", attemptFields),
  summarization_retry_attempt_start: event("The summary is asked for again.", {
    source: Type.Union([Type.Literal("compaction"), Type.Literal("branchSummary")]),
    reason: Type.Optional(CompactionReason),
  }),
  summarization_retry_finished: event("The series of summary retries ended.", {}),
  bash_execution_update: event(
    "Output of a `bash` command; `id` is the command's.",
    { id: Type.Optional(Type.Unknown()), delta: Type.String() },
    { rpcOnly: true },
  ),
  extension_error: event(
    "A handler of an extension threw.",
    { extensionPath: Type.String(), event: Type.String(), error: Type.String() },
    { rpcOnly: true },
  ),
  session_write_error: event(
    "The session file could not be written; what is missing stays in memory and the next append tries again.",
    { path: Type.String(), error: Type.String() },
    { rpcOnly: true },
  ),
};
export type SessionEventName = keyof typeof sessionEvents;

/** An event of the table by name, the same in process and on the wire. */
export type SessionEventOf<K extends SessionEventName> = { type: K } & Static<
  TObject<(typeof sessionEvents)[K]["fields"]>
>;

/** In process a delta comes with the live message so far; on the wire it does not. */
export interface MessageUpdateEvent {
  type: "message_update";
  message: AssistantMessage;
  assistantMessageEvent: AssistantMessageEvent;
}

/** Everything a session announces, in process. */
export type AgentSessionEvent = { [K in SessionEventName]: SessionEventOf<K> }[SessionEventName] | MessageUpdateEvent;

/** The schema of one event's record, built when it is asked for. */
export function eventSchema(name: SessionEventName) {
  return Type.Object(
    { type: Type.Literal(name), ...sessionEvents[name].fields },
    { description: sessionEvents[name].does },
  );
}

interface EventOptions {
  /** Not part of the JSON event stream. */
  rpcOnly?: boolean;
}

/** An entry of the table; the record's `type` is the entry's name. */
function event<F extends TProperties>(does: string, fields: F, options: EventOptions = {}) {
  return { does, fields, rpcOnly: options.rpcOnly ?? false };
}
