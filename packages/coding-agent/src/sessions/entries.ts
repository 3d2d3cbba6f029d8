// The records of a session file: the header and every entry type.

import { ImageContent, TextContent, Usage } from "@earendil-works/pi-ai";
import type { Static, TSchema } from "typebox";
import * as Type from "typebox";
import { AgentMessage } from "../core/messages.js";

/** The version of the format this program writes. Newer files are refused, older ones migrated in memory. */
export const currentSessionVersion = 3;

/** First line of a session file. `timestamp` is ISO 8601; `parentSession` the path of the session it was made from. */
export const SessionHeader = Type.Object(
  {
    type: Type.Literal("session"),
    version: Type.Number(),
    id: Type.String(),
    timestamp: Type.String(),
    cwd: Type.String(),
    parentSession: Type.Optional(Type.String()),
  },
  { title: "SessionHeader" },
);
export type SessionHeader = Static<typeof SessionHeader>;

/** An entry: its type and fields, and its place in the tree. `parentId` is null for a root. */
function entry<Name extends string, Fields extends Record<string, TSchema>>(type: Name, title: string, fields: Fields) {
  return Type.Object(
    {
      type: Type.Literal(type),
      id: Type.String(),
      parentId: Type.Union([Type.String(), Type.Null()]),
      timestamp: Type.String(),
      ...fields,
    },
    { title },
  );
}

export const SessionMessageEntry = entry("message", "SessionMessageEntry", { message: AgentMessage });
export type SessionMessageEntry = Static<typeof SessionMessageEntry>;

export const ModelChangeEntry = entry("model_change", "ModelChangeEntry", {
  provider: Type.String(),
  modelId: Type.String(),
});
export type ModelChangeEntry = Static<typeof ModelChangeEntry>;

export const ThinkingLevelChangeEntry = entry("thinking_level_change", "ThinkingLevelChangeEntry", {
  thinkingLevel: Type.String(),
});
export type ThinkingLevelChangeEntry = Static<typeof ThinkingLevelChangeEntry>;

/** A summary in place of the entries before `firstKeptEntryId`; its own id there keeps none. */
export const CompactionEntry = entry("compaction", "CompactionEntry", {
  summary: Type.String(),
  firstKeptEntryId: Type.String(),
  tokensBefore: Type.Number(),
  usage: Type.Optional(Usage),
  details: Type.Optional(Type.Unknown()),
  fromHook: Type.Optional(Type.Boolean()),
});
export type CompactionEntry = Static<typeof CompactionEntry>;

export const BranchSummaryEntry = entry("branch_summary", "BranchSummaryEntry", {
  fromId: Type.Union([Type.String(), Type.Null()]),
  summary: Type.String(),
  usage: Type.Optional(Usage),
  details: Type.Optional(Type.Unknown()),
  fromHook: Type.Optional(Type.Boolean()),
});
export type BranchSummaryEntry = Static<typeof BranchSummaryEntry>;

/** Changes what the model sees of one earlier entry: `null` leaves it out, otherwise the new content. */
export const ContextEditEntry = entry("context_edit", "ContextEditEntry", {
  targetId: Type.String(),
  replacement: Type.Union([
    Type.Null(),
    Type.String(),
    Type.Array(Type.Union([TextContent, ImageContent, Type.Record(Type.String(), Type.Unknown())])),
  ]),
});
export type ContextEditEntry = Static<typeof ContextEditEntry>;

/** State an extension keeps; the model never sees it. */
export const CustomEntry = entry("custom", "CustomEntry", {
  customType: Type.String(),
  data: Type.Optional(Type.Unknown()),
});
export type CustomEntry = Static<typeof CustomEntry>;

/** A message of an extension that the model does see. */
export const CustomMessageEntry = entry("custom_message", "CustomMessageEntry", {
  customType: Type.String(),
  content: Type.Union([Type.String(), Type.Array(Type.Union([TextContent, ImageContent]))]),
  display: Type.Boolean(),
  details: Type.Optional(Type.Unknown()),
});
export type CustomMessageEntry = Static<typeof CustomMessageEntry>;

/** Model usage outside any message; counts in session totals. */
export const UsageEntry = entry("usage", "UsageEntry", {
  kind: Type.String(),
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
  usage: Usage,
});
export type UsageEntry = Static<typeof UsageEntry>;

/** A bookmark on an entry; without `label` it is cleared. */
export const LabelEntry = entry("label", "LabelEntry", {
  targetId: Type.String(),
  label: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type LabelEntry = Static<typeof LabelEntry>;

/** The session's display name; without `name` it is cleared. */
export const SessionInfoEntry = entry("session_info", "SessionInfoEntry", { name: Type.Optional(Type.String()) });
export type SessionInfoEntry = Static<typeof SessionInfoEntry>;

/** Every entry this program writes. Entries of other types are kept verbatim when a file has them. */
export const SessionEntry = Type.Union(
  [
    SessionMessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
    CompactionEntry,
    BranchSummaryEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    UsageEntry,
    LabelEntry,
    SessionInfoEntry,
  ],
  { title: "SessionEntry" },
);
export type SessionEntry = Static<typeof SessionEntry>;
