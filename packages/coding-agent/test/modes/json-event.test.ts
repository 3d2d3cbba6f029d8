import { type AssistantMessage, type AssistantMessageEvent, emptyUsage } from "@earendil-works/pi-ai";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { JsonMessageUpdate, toJsonEvent } from "../../src/modes/json-event.js";

const usage = { ...emptyUsage(), input: 7, totalTokens: 7 };
const message: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Hel" }],
  api: "a",
  provider: "p",
  model: "m",
  usage,
  stopReason: "pending",
  timestamp: 0,
};
const call = { type: "toolCall" as const, id: "1", name: "read", arguments: { path: "a" } };

describe("toJsonEvent", () => {
  test.each<[string, AssistantMessageEvent]>([
    ["text_start", { type: "text_start", contentIndex: 0, partial: message }],
    ["text_delta", { type: "text_delta", contentIndex: 0, delta: "lo", partial: message }],
    ["text_end", { type: "text_end", contentIndex: 0, content: "Hello", partial: message }],
    ["thinking_start", { type: "thinking_start", contentIndex: 0, partial: message }],
    ["thinking_delta", { type: "thinking_delta", contentIndex: 0, delta: "Hm", partial: message }],
    ["thinking_end", { type: "thinking_end", contentIndex: 0, content: "Hm", partial: message }],
    ["toolcall_start", { type: "toolcall_start", contentIndex: 1, id: "1", toolName: "read", partial: message }],
    ["toolcall_delta", { type: "toolcall_delta", contentIndex: 1, delta: '{"pa', partial: message }],
    ["toolcall_end", { type: "toolcall_end", contentIndex: 1, toolCall: call, partial: message }],
  ])("%s goes out as a delta with the usage so far, without the message", (_, assistantMessageEvent) => {
    const { partial, ...delta } = assistantMessageEvent as typeof assistantMessageEvent & { partial: unknown };
    const wire = toJsonEvent({ type: "message_update", message, assistantMessageEvent });
    expect(wire).toEqual({ type: "message_update", usage, assistantMessageEvent: delta });
    expect(Object.keys(wire)).toEqual(["type", "usage", "assistantMessageEvent"]);
    expect(Value.Errors(JsonMessageUpdate, JSON.parse(JSON.stringify(wire)))).toEqual([]);
    expect(partial).toBe(message); // the event in process is not touched
  });

  test.each<AgentSessionEvent>([
    { type: "agent_start" },
    { type: "message_end", message },
    { type: "agent_settled", aborted: true },
    { type: "bash_execution_update", id: 1, delta: "x" },
  ])("$type passes as it is", (event) => {
    expect(toJsonEvent(event)).toBe(event);
  });
});
