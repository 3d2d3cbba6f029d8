// The records of RPC mode: the command table, its answers, and the extension UI spoken as records.

import { ImageContent, Model, ThinkingLevel } from "@earendil-works/pi-ai";
import type { Static, TObject, TProperties, TSchema } from "typebox";
import * as Type from "typebox";
import { CompactionResult } from "../../core/events.js";
import { AgentMessage } from "../../core/messages.js";
import { SessionEntry } from "../../sessions/entries.js";

/** The version of this protocol; a change that breaks a client raises it. */
export const protocolVersion = 1;

/** The published schema files by name, and their `$id`. */
export const schemaIds = {
  "rpc-input": "urn:pi:schema:rpc-input",
  "rpc-output": "urn:pi:schema:rpc-output",
  "json-events": "urn:pi:schema:json-events",
  "session-entry": "urn:pi:schema:session-entry",
  settings: "urn:pi:schema:settings",
} as const;

const Images = Type.Optional(Type.Array(ImageContent));
const QueueMode = Type.Union([Type.Literal("all"), Type.Literal("one-at-a-time")], { title: "QueueMode" });
export type QueueMode = Static<typeof QueueMode>;
const Stopped = Type.Object({ stopped: Type.Number() });
const Texts = Type.Array(Type.String());
const Count = Type.Optional(Type.Integer({ minimum: 1 }));
/** An empty path would mean the working directory, and the system ends a path at a NUL. */
const Path = () => Type.String({ minLength: 1, pattern: "^[^\\u0000]*$" });

/** What became of a text: it started a run, waits in a queue, or was handled (an extension command or hook). */
export const Disposition = Type.Object(
  { disposition: Type.Union([Type.Literal("started"), Type.Literal("queued"), Type.Literal("handled")]) },
  { title: "Disposition" },
);

/** Texts of both queues. */
export const QueuedTexts = Type.Object({ steering: Texts, followUp: Texts }, { title: "QueuedTexts" });

/**
 * Answer of a command that replaced the session. `dropped` names queued texts that went with the old one, `warnings` what
 * is not as it was (the session's model is gone).
 */
const Replaced = Type.Object(
  { cancelled: Type.Boolean(), dropped: Type.Optional(QueuedTexts), warnings: Type.Optional(Texts) },
  { title: "Replaced" },
);

/** A stored session. Times are ISO 8601; `name` is absent when none is set, `firstMessage` empty without one. */
export const SessionSummary = Type.Object(
  {
    path: Type.String(),
    id: Type.String(),
    cwd: Type.String(),
    name: Type.Optional(Type.String()),
    firstMessage: Type.String(),
    created: Type.String(),
    modified: Type.String(),
    messageCount: Type.Number(),
    parentSession: Type.Optional(Type.String()),
  },
  { title: "SessionSummary" },
);
export type SessionSummary = Static<typeof SessionSummary>;

/** `sessionName` is absent when none is set, `sessionFile` when the session is not saved. */
export const RpcSessionState = Type.Object(
  {
    model: Type.Union([Model, Type.Null()]),
    thinkingLevel: ThinkingLevel,
    isStreaming: Type.Boolean(),
    isCompacting: Type.Boolean(),
    steeringMode: QueueMode,
    followUpMode: QueueMode,
    sessionFile: Type.Optional(Type.String()),
    sessionId: Type.String(),
    sessionName: Type.Optional(Type.String()),
    autoCompactionEnabled: Type.Boolean(),
    messageCount: Type.Number(),
    pendingMessageCount: Type.Number(),
    /** Texts in the input stage, their fate not yet known. */
    accepting: Type.Optional(Type.Number()),
    /** Another process holds the session file. */
    readOnly: Type.Optional(Type.Boolean()),
    /** Extensions are still starting. */
    starting: Type.Optional(Type.Boolean()),
  },
  { title: "RpcSessionState" },
);
export type RpcSessionState = Static<typeof RpcSessionState>;

/** What a shell command did. `exitCode` is absent when it was cancelled, `fullOutputPath` unless truncated. */
export const BashResult = Type.Object(
  {
    output: Type.String(),
    exitCode: Type.Optional(Type.Number()),
    cancelled: Type.Boolean(),
    truncated: Type.Boolean(),
    fullOutputPath: Type.Optional(
      Type.String({
        description: "The whole output as text: UTF-8 without control sequences, also of a command that printed bytes.",
      }),
    ),
  },
  { title: "BashResult" },
);
export type BashResult = Static<typeof BashResult>;

/** Totals over the whole session; `contextUsage` is absent without a model, its numbers null right after a compaction. */
export const SessionStats = Type.Object(
  {
    sessionFile: Type.Optional(Type.String()),
    sessionId: Type.String(),
    userMessages: Type.Number(),
    assistantMessages: Type.Number(),
    toolCalls: Type.Number(),
    toolResults: Type.Number(),
    totalMessages: Type.Number(),
    tokens: Type.Object({
      input: Type.Number(),
      output: Type.Number(),
      cacheRead: Type.Number(),
      cacheWrite: Type.Number(),
      total: Type.Number(),
    }),
    cost: Type.Number(),
    contextUsage: Type.Optional(
      Type.Object({
        tokens: Type.Union([Type.Number(), Type.Null()]),
        contextWindow: Type.Number(),
        percent: Type.Union([Type.Number(), Type.Null()]),
      }),
    ),
  },
  { title: "SessionStats" },
);
export type SessionStats = Static<typeof SessionStats>;

/** Where a resource comes from. */
export const SourceInfo = Type.Object(
  {
    path: Type.String(),
    source: Type.String(),
    scope: Type.Union([Type.Literal("user"), Type.Literal("project"), Type.Literal("temporary")]),
    origin: Type.Union([Type.Literal("top-level"), Type.Literal("package")]),
    baseDir: Type.Optional(Type.String()),
  },
  { title: "SourceInfo" },
);
export type SourceInfo = Static<typeof SourceInfo>;

/** Something that can be called with a slash. `location` is absent for commands of extensions. */
export const SlashCommand = Type.Object(
  {
    name: Type.String(),
    description: Type.Optional(Type.String()),
    source: Type.Union([Type.Literal("extension"), Type.Literal("prompt"), Type.Literal("skill")]),
    location: Type.Optional(Type.Union([Type.Literal("user"), Type.Literal("project"), Type.Literal("path")])),
    path: Type.Optional(Type.String()),
    sourceInfo: Type.Optional(SourceInfo),
  },
  { title: "SlashCommand" },
);
export type SlashCommand = Static<typeof SlashCommand>;

/** What went wrong while settings, models or resources were loaded. Lines and columns count from 1. */
export const Diagnostic = Type.Object(
  {
    severity: Type.Union([Type.Literal("error"), Type.Literal("warning")]),
    source: Type.String(),
    message: Type.String(),
    path: Type.Optional(Type.String()),
    line: Type.Optional(Type.Number()),
    column: Type.Optional(Type.Number()),
  },
  { title: "Diagnostic" },
);
export type Diagnostic = Static<typeof Diagnostic>;

/** What this program speaks: names from the tables, implemented commands only, and its limits. */
export const Capabilities = Type.Object(
  {
    protocolVersion: Type.Number(),
    version: Type.String(),
    commands: Texts,
    events: Texts,
    uiMethods: Texts,
    schemas: Type.Record(Type.String(), Type.String()),
    limits: Type.Record(Type.String(), Type.Number()),
  },
  { title: "Capabilities" },
);
export type Capabilities = Static<typeof Capabilities>;

/** An entry with what hangs below it. Orphans and entries without a parent are roots. */
export interface SessionTreeNode {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label?: string;
  labelTimestamp?: string;
}
export const SessionTreeNode = Type.Object(
  {
    entry: SessionEntry,
    children: Type.Array(Type.Ref("SessionTreeNode")),
    label: Type.Optional(Type.String()),
    labelTimestamp: Type.Optional(Type.String()),
  },
  { title: "SessionTreeNode" },
);

/** Every command: what it does, its parameters and the data of a successful answer (`null`: the answer has no data). */
export const rpcCommands = {
  prompt: command({
    order: "text",
    does: "Send a message and start a run; during a run `streamingBehavior` says how to queue it.",
    params: {
      message: Type.String(),
      images: Images,
      streamingBehavior: Type.Optional(Type.Union([Type.Literal("steer"), Type.Literal("followUp")])),
    },
    data: Disposition,
  }),
  steer: command({
    order: "text",
    does: "Queue a message for the running agent's next model call; when idle it starts a run.",
    params: { message: Type.String(), images: Images },
    data: Disposition,
  }),
  follow_up: command({
    order: "text",
    does: "Queue a message for when the agent is done; when idle it starts a run.",
    params: { message: Type.String(), images: Images },
    data: Disposition,
  }),
  clear_queue: command({
    does: "Empty both queues and give back what was in them.",
    params: {},
    data: QueuedTexts,
  }),
  abort: command({
    order: "immediate",
    does: "Stop the run, compaction, retry delay or session change that is under way; answered after its last event.",
    params: {},
    data: Stopped,
  }),
  new_session: command({
    order: "exclusive",
    does: "Start an empty session; a run under way is aborted first.",
    params: { parentSession: Type.Optional(Path()) },
    data: Replaced,
  }),
  get_state: command({
    order: "onlooker",
    does: "What the session is and does now.",
    params: {},
    data: RpcSessionState,
  }),
  get_messages: command({
    does: "The conversation as the model sees it, or its last `limit` messages.",
    params: { limit: Count },
    data: Type.Object({ messages: Type.Array(AgentMessage) }),
  }),
  set_model: command({
    order: "exclusive",
    does: "Switch to a model.",
    params: { provider: Type.String(), modelId: Type.String() },
    data: Model,
  }),
  cycle_model: command({
    order: "exclusive",
    does: "Switch to the next available model, or the next of the models given at start; null when there is only one.",
    params: {},
    data: Type.Union([
      Type.Object({ model: Model, thinkingLevel: ThinkingLevel, isScoped: Type.Boolean() }),
      Type.Null(),
    ]),
  }),
  get_available_models: command({
    does: "All models with credentials.",
    params: {},
    data: Type.Object({ models: Type.Array(Model) }),
  }),
  set_thinking_level: command({
    order: "exclusive",
    does: "Set the thinking level; it is clamped to what the model can do, and the answer names the level in force.",
    params: { level: ThinkingLevel },
    data: Type.Object({ level: ThinkingLevel }),
  }),
  cycle_thinking_level: command({
    order: "exclusive",
    does: "Switch to the next thinking level of the model; null when it cannot think.",
    params: {},
    data: Type.Union([Type.Object({ level: ThinkingLevel }), Type.Null()]),
  }),
  get_available_thinking_levels: command({
    does: 'The thinking levels of the current model; `["off"]` when it cannot think.',
    params: {},
    data: Type.Object({ levels: Type.Array(ThinkingLevel) }),
  }),
  set_steering_mode: command({
    does: "Deliver steering messages one a turn or all at once.",
    params: { mode: QueueMode },
    data: null,
  }),
  set_follow_up_mode: command({
    does: "Deliver follow-up messages one at a time or all at once.",
    params: { mode: QueueMode },
    data: null,
  }),
  compact: command({
    does: "Summarise the older part of the conversation to make room.",
    params: { customInstructions: Type.Optional(Type.String()) },
    data: CompactionResult,
  }),
  set_auto_compaction: command({
    does: "Compact by itself when the context is nearly full, or not.",
    params: { enabled: Type.Boolean() },
    data: null,
  }),
  set_auto_retry: command({
    does: "Ask again by itself after transient provider errors, or not.",
    params: { enabled: Type.Boolean() },
    data: null,
  }),
  abort_retry: command({
    order: "immediate",
    does: "Stop waiting for a retry and give up.",
    params: {},
    data: Stopped,
  }),
  bash: command({
    does: "Run a shell command; its output joins the conversation of the next prompt unless it is excluded.",
    params: { command: Type.String(), excludeFromContext: Type.Optional(Type.Boolean()) },
    data: BashResult,
  }),
  abort_bash: command({ order: "immediate", does: "Stop the running `bash` commands.", params: {}, data: Stopped }),
  get_session_stats: command({
    does: "Messages, tokens, cost and use of the context.",
    params: {},
    data: SessionStats,
  }),
  export_html: command({
    does: "Write the session as one HTML file: `outputPath`, relative to the session's working directory, or there as `pi-session-….html`; answered with the absolute path.",
    params: { outputPath: Type.Optional(Path()) },
    data: Type.Object({ path: Type.String() }),
  }),
  switch_session: command({
    order: "exclusive",
    does: "Continue another session file in this process.",
    params: { sessionPath: Path() },
    data: Replaced,
  }),
  fork: command({
    order: "exclusive",
    does: "Continue from before an earlier user message in a new session; gives back that message's text.",
    params: { entryId: Type.String() },
    data: Type.Object({
      text: Type.String(),
      cancelled: Type.Boolean(),
      dropped: Type.Optional(QueuedTexts),
      warnings: Type.Optional(Texts),
    }),
  }),
  clone: command({
    order: "exclusive",
    does: "Copy the active branch into a new session and continue there.",
    params: {},
    data: Replaced,
  }),
  get_fork_messages: command({
    does: "The user messages that can be forked from, in file order.",
    params: {},
    data: Type.Object({ messages: Type.Array(Type.Object({ entryId: Type.String(), text: Type.String() })) }),
  }),
  get_entries: command({
    does: "Session entries in append order: all, those after `since`, or those before `before`; `limit` keeps the ones next to it.",
    params: { since: Type.Optional(Type.String()), before: Type.Optional(Type.String()), limit: Count },
    data: Type.Object({
      entries: Type.Array(SessionEntry),
      leafId: Type.Union([Type.String(), Type.Null()]),
    }),
  }),
  get_tree: command({
    does: "The session's entries as trees.",
    params: {},
    data: Type.Object({
      tree: Type.Array(SessionTreeNode),
      leafId: Type.Union([Type.String(), Type.Null()]),
    }),
  }),
  get_last_assistant_text: command({
    does: "The text of the last assistant message; null when there is none.",
    params: {},
    data: Type.Object({ text: Type.Union([Type.String(), Type.Null()]) }),
  }),
  set_session_name: command({
    order: "exclusive",
    does: "Give the session a display name.",
    params: { name: Type.String() },
    data: null,
  }),
  list_sessions: command({
    does: "Stored sessions, the latest first: of one working directory, or of all; `cursor` continues an earlier answer.",
    params: { cwd: Type.Optional(Path()), cursor: Type.Optional(Path()), limit: Count },
    data: Type.Object({ sessions: Type.Array(SessionSummary), nextCursor: Type.Optional(Type.String()) }),
  }),
  rename_session: command({
    order: "exclusive",
    does: "Give a stored session a display name.",
    params: { sessionPath: Path(), name: Type.String() },
    data: null,
  }),
  delete_session: command({
    order: "exclusive",
    does: "Move a stored session to the trash folder of the agent directory; never the open one.",
    params: { sessionPath: Path() },
    data: Type.Object({ trashPath: Type.String() }),
  }),
  set_label: command({
    order: "exclusive",
    does: "Set a bookmark on an entry; without `label` it is cleared.",
    params: { entryId: Type.String(), label: Type.Optional(Type.String()) },
    data: null,
  }),
  navigate_tree: command({
    order: "exclusive",
    does: "Go on from another entry of the session; `summarize` keeps what was done on the branch that is left.",
    params: {
      entryId: Type.String(),
      summarize: Type.Optional(Type.Boolean()),
      customInstructions: Type.Optional(Type.String()),
    },
    data: Type.Object({
      cancelled: Type.Boolean(),
      leafId: Type.Union([Type.String(), Type.Null()]),
      summary: Type.Optional(Type.String()),
    }),
  }),
  get_commands: command({
    does: "What can be called with a slash in a prompt.",
    params: {},
    data: Type.Object({ commands: Type.Array(SlashCommand) }),
  }),
  get_capabilities: command({
    order: "onlooker",
    does: "What this program speaks: protocol version, commands, events, UI methods, schemas, limits.",
    params: {},
    data: Capabilities,
  }),
  get_diagnostics: command({
    does: "What went wrong while settings, models and resources were loaded.",
    params: {},
    data: Type.Object({ diagnostics: Type.Array(Diagnostic) }),
  }),
};
export type RpcCommandName = keyof typeof rpcCommands;
export type RpcParams<K extends RpcCommandName> = Static<TObject<(typeof rpcCommands)[K]["params"]>>;
export type RpcData<K extends RpcCommandName> = (typeof rpcCommands)[K]["data"] extends infer D
  ? D extends TSchema
    ? Static<D>
    : undefined
  : never;

/** Any JSON value; echoed as it came, on errors too. */
export const RequestId = Type.Unknown();

/** A command as it stands on stdin. */
export type RpcCommand = { [K in RpcCommandName]: { type: K; id?: unknown } & RpcParams<K> }[RpcCommandName];

export const rpcErrorCodes = [
  "parse_error",
  "invalid_request",
  "unknown_command",
  "invalid_params",
  "busy",
  "no_model",
  "no_credentials",
  "not_found",
  "not_supported",
  "session_locked",
  "cancelled",
  "nothing_to_do",
  "provider_error",
  "io_error",
  "internal",
] as const;
export const RpcErrorCode = Type.Union(
  rpcErrorCodes.map((code) => Type.Literal(code)),
  { title: "RpcErrorCode" },
);
export type RpcErrorCode = (typeof rpcErrorCodes)[number];

/** A refused or failed command. `field` is the path of a bad parameter, such as `images[0].mimeType`. */
export const RpcFailure = Type.Object(
  {
    id: Type.Optional(RequestId),
    type: Type.Literal("response"),
    command: Type.String(),
    success: Type.Literal(false),
    error: Type.String(),
    code: RpcErrorCode,
    field: Type.Optional(Type.String()),
  },
  { title: "RpcFailure" },
);
export type RpcFailure = {
  id?: unknown;
  type: "response";
  command: string;
  success: false;
  error: string;
  code: RpcErrorCode;
  field?: string;
};

export type RpcSuccess<K extends RpcCommandName = RpcCommandName> = {
  id?: unknown;
  type: "response";
  command: K;
  success: true;
  data?: RpcData<K>;
};
export type RpcResponse<K extends RpcCommandName = RpcCommandName> = RpcSuccess<K> | RpcFailure;

const timeout = { timeout: Type.Optional(Type.Number()) };

/** Every UI request by method. Dialogs wait for an `extension_ui_response`; `timeout` is in milliseconds. */
export const uiMethods = {
  select: {
    dialog: true,
    does: "Choose one of `options`.",
    fields: { title: Type.String(), options: Texts, ...timeout },
  },
  confirm: { dialog: true, does: "Yes or no.", fields: { title: Type.String(), message: Type.String(), ...timeout } },
  input: {
    dialog: true,
    does: "One line of text.",
    fields: { title: Type.String(), placeholder: Type.Optional(Type.String()), ...timeout },
  },
  editor: {
    dialog: true,
    does: "Several lines of text.",
    fields: { title: Type.String(), prefill: Type.Optional(Type.String()) },
  },
  notify: {
    dialog: false,
    does: "Show a message.",
    fields: {
      message: Type.String(),
      notifyType: Type.Optional(Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")])),
    },
  },
  setStatus: {
    dialog: false,
    does: "Set a status entry; without `statusText` it is cleared.",
    fields: { statusKey: Type.String(), statusText: Type.Optional(Type.String()) },
  },
  setWidget: {
    dialog: false,
    does: "Set a block of lines; without `widgetLines` it is cleared.",
    fields: {
      widgetKey: Type.String(),
      widgetLines: Type.Optional(Texts),
      widgetPlacement: Type.Optional(Type.Union([Type.Literal("aboveEditor"), Type.Literal("belowEditor")])),
    },
  },
  setTitle: { dialog: false, does: "Set the window's title.", fields: { title: Type.String() } },
  set_editor_text: { dialog: false, does: "Put text into the input editor.", fields: { text: Type.String() } },
};
export type UiMethodName = keyof typeof uiMethods;
export type RpcExtensionUIRequest = {
  [K in UiMethodName]: { type: "extension_ui_request"; id: string; method: K } & Static<
    TObject<(typeof uiMethods)[K]["fields"]>
  >;
}[UiMethodName];

/** A dialog's answer: `value` for select, input and editor, `confirmed` for confirm, `cancelled` for any. */
export const RpcExtensionUIResponse = Type.Object(
  {
    type: Type.Literal("extension_ui_response"),
    id: Type.String(),
    value: Type.Optional(Type.String()),
    confirmed: Type.Optional(Type.Boolean()),
    cancelled: Type.Optional(Type.Literal(true)),
  },
  { title: "RpcExtensionUIResponse" },
);
export type RpcExtensionUIResponse = Static<typeof RpcExtensionUIResponse>;

/** A dialog was closed on our side: its time ran out, its signal aborted, or the session ended. */
export const RpcExtensionUIClosed = Type.Object(
  {
    type: Type.Literal("extension_ui_closed"),
    id: Type.String(),
    reason: Type.Union([Type.Literal("timeout"), Type.Literal("aborted"), Type.Literal("shutdown")]),
  },
  { title: "RpcExtensionUIClosed" },
);
export type RpcExtensionUIClosed = Static<typeof RpcExtensionUIClosed>;

/**
 * How a command stands in the line of those that arrived. `immediate`: never held. `text`: passes the input stage, and what
 * is behind it waits until its fate is known. `exclusive`: what is behind it waits until it is done, because it replaces
 * the session or awaits something before it changes state. `onlooker`: does not wait for texts. Absent: waits for what is
 * before it, holds nothing, and changes state before it awaits anything.
 */
export type CommandOrder = "immediate" | "text" | "exclusive" | "onlooker";

function command<P extends TProperties, D extends TSchema | null>(spec: {
  does: string;
  order?: CommandOrder;
  params: P;
  data: D;
}) {
  return spec;
}
