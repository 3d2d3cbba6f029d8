// The records of the product's own message roles, and the full AgentMessage they make with the model's three.

import type {} from "@earendil-works/pi-agent-core";
import { AssistantMessage, ImageContent, TextContent, ToolResultMessage, UserMessage } from "@earendil-works/pi-ai";
import type { Static } from "typebox";
import * as Type from "typebox";

/** A shell command the user ran. `exitCode` is absent when it was cancelled; `fullOutputPath` unless truncated. */
export const BashExecutionMessage = Type.Object(
  {
    role: Type.Literal("bashExecution"),
    command: Type.String(),
    output: Type.String(),
    exitCode: Type.Optional(Type.Number()),
    cancelled: Type.Boolean(),
    truncated: Type.Boolean(),
    fullOutputPath: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    excludeFromContext: Type.Optional(Type.Boolean()),
    timestamp: Type.Number(),
  },
  { title: "BashExecutionMessage" },
);
export type BashExecutionMessage = Static<typeof BashExecutionMessage>;

/** A message an extension put into the conversation; the model sees its content as a user message. */
export const CustomMessage = Type.Object(
  {
    role: Type.Literal("custom"),
    customType: Type.String(),
    content: Type.Union([Type.String(), Type.Array(Type.Union([TextContent, ImageContent]))]),
    display: Type.Boolean(),
    details: Type.Optional(Type.Unknown()),
    timestamp: Type.Number(),
  },
  { title: "CustomMessage" },
);
export type CustomMessage = Static<typeof CustomMessage>;

/** What was done on a branch that was left; `fromId` is the entry it ended at. */
export const BranchSummaryMessage = Type.Object(
  {
    role: Type.Literal("branchSummary"),
    summary: Type.String(),
    fromId: Type.Union([Type.String(), Type.Null()]),
    timestamp: Type.Number(),
  },
  { title: "BranchSummaryMessage" },
);
export type BranchSummaryMessage = Static<typeof BranchSummaryMessage>;

/** Stands for the messages before it; `tokensBefore` is the context's size when it was made. */
export const CompactionSummaryMessage = Type.Object(
  {
    role: Type.Literal("compactionSummary"),
    summary: Type.String(),
    tokensBefore: Type.Number(),
    timestamp: Type.Number(),
  },
  { title: "CompactionSummaryMessage" },
);
export type CompactionSummaryMessage = Static<typeof CompactionSummaryMessage>;

declare module "@earendil-works/pi-agent-core" {
  interface CustomAgentMessages {
    bashExecution: BashExecutionMessage;
    custom: CustomMessage;
    branchSummary: BranchSummaryMessage;
    compactionSummary: CompactionSummaryMessage;
  }
}

/** Every message of a conversation. Role `system` is tolerated on load and never part of a conversation. */
export const AgentMessage = Type.Union(
  [
    UserMessage,
    AssistantMessage,
    ToolResultMessage,
    BashExecutionMessage,
    CustomMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
  ],
  { title: "AgentMessage" },
);
export type AgentMessage = Static<typeof AgentMessage>;
