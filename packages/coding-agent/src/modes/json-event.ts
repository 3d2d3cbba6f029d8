// The wire form of every session event: the same record, but a delta without the message so far.

import { type AssistantMessage, type AssistantMessageEvent, ToolCall, Usage } from "@earendil-works/pi-ai";
import type { Static, TProperties } from "typebox";
import * as Type from "typebox";
import type { AgentSessionEvent } from "../core/events.js";

const index = { contentIndex: Type.Number() };
const delta = { ...index, delta: Type.String() };
const whole = { ...index, content: Type.String() };

/** One step of a streaming answer, as it is sent. Blocks are identified by `contentIndex`. */
export const JsonAssistantMessageEvent = Type.Union(
  [
    step("text_start", index),
    step("text_delta", delta),
    step("text_end", whole),
    step("thinking_start", index),
    step("thinking_delta", delta),
    step("thinking_end", whole),
    step("toolcall_start", { ...index, id: Type.String(), toolName: Type.String() }),
    step("toolcall_delta", delta),
    step("toolcall_end", { ...index, toolCall: ToolCall }),
  ],
  { title: "JsonAssistantMessageEvent" },
);
export type JsonAssistantMessageEvent = Static<typeof JsonAssistantMessageEvent>;

/** `usage` is the provider's latest cumulative report for this answer; it may stay zero until the end. */
export const JsonMessageUpdate = Type.Object(
  {
    type: Type.Literal("message_update"),
    usage: Usage,
    assistantMessageEvent: JsonAssistantMessageEvent,
  },
  {
    title: "JsonMessageUpdate",
    description: "A content block of the assistant's message grew, began or ended.",
  },
);
export type JsonMessageUpdate = Static<typeof JsonMessageUpdate>;

/** Every event as it stands on the wire of JSON and RPC mode. */
export type JsonAgentSessionEvent = Exclude<AgentSessionEvent, { type: "message_update" }> | JsonMessageUpdate;

/** The wire form of an event. Only `message_update` differs from what is announced in process. */
export function toJsonEvent(event: AgentSessionEvent): JsonAgentSessionEvent {
  if (event.type !== "message_update") return event;
  return {
    type: "message_update",
    usage: event.message.usage,
    assistantMessageEvent: withoutPartial(event.assistantMessageEvent),
  };
}

/**
 * A delta without the message so far. `start`, `done` and `error` are turned into message events by the loop and do
 * not occur here; they pass for callers that build matching records themselves.
 */
function withoutPartial(event: AssistantMessageEvent): JsonAssistantMessageEvent {
  if ("partial" in event) {
    const { partial: _, ...rest } = event as { partial: AssistantMessage } & JsonAssistantMessageEvent;
    return rest;
  }
  return event as unknown as JsonAssistantMessageEvent;
}

function step<Name extends string, Fields extends TProperties>(type: Name, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), ...fields });
}
