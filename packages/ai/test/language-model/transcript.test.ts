// Histories that every provider accepts.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AssistantMessage, emptyUsage, type Message, type ToolResultMessage } from "../../src/index.js";
import { sendableTranscript } from "../../src/language-model/transcript.js";

const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const assistant = (calls: string[], stopReason: AssistantMessage["stopReason"] = "toolUse"): AssistantMessage => ({
  role: "assistant",
  content: calls.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
  api: "a",
  provider: "p",
  model: "m",
  usage: emptyUsage(),
  stopReason,
  timestamp: 1,
});
const result = (toolCallId: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text: `result of ${toolCallId}` }],
  isError: false,
  timestamp: 1,
});
/** `a[1,2]` an answer with calls, `r1` a result, `!1` an error result, `u` a user message. */
const shape = (messages: Message[]) =>
  messages.map((message) => {
    if (message.role === "user") return "u";
    if (message.role === "toolResult") return `${message.isError ? "!" : "r"}${message.toolCallId}`;
    return `a[${message.content.map((block) => (block.type === "toolCall" ? block.id : block.type)).join()}]`;
  });

describe("sendableTranscript", () => {
  test("a sound history stays as it is", () => {
    const messages = [user("x"), assistant(["1"]), result("1"), assistant([]), user("y")];
    expect(sendableTranscript(messages)).toEqual(messages);
  });

  test.each<[string, Message[], string[]]>([
    [
      "failed and aborted answers are left out",
      [user("x"), assistant([], "error"), assistant([], "aborted"), user("y")],
      ["u", "u"],
    ],
    ["and their results with them", [user("x"), assistant(["1"], "aborted"), result("1"), user("y")], ["u", "u"]],
    [
      "results without a call are left out",
      [user("x"), result("9"), assistant(["1"]), result("1"), result("8")],
      ["u", "a[1]", "r1"],
    ],
    [
      "a call without a result gets an error",
      [assistant(["1", "2"]), result("2"), user("y")],
      ["a[1,2]", "!1", "r2", "u"],
    ],
    ["at the end too", [user("x"), assistant(["1"])], ["u", "a[1]", "!1"]],
    [
      "results come in call order, before what was said meanwhile",
      [assistant(["1", "2"]), result("2"), user("y"), result("1")],
      ["a[1,2]", "r1", "r2", "u"],
    ],
    [
      "a failed answer between call and result does not part them",
      [assistant(["1"]), assistant([], "error"), result("1")],
      ["a[1]", "r1"],
    ],
    [
      "a late result does not reach over the next answer",
      [assistant(["1"]), assistant([]), result("1")],
      ["a[1]", "!1", "a[]"],
    ],
  ])("%s", (_title, messages, expected) => {
    expect(shape(sendableTranscript(messages))).toEqual(expected);
  });

  test("the stand-in for a missing result is the same object every time", () => {
    const messages = [assistant(["1"])];
    expect(sendableTranscript(messages)[1]).toBe(sendableTranscript(messages)[1]);
    expect(sendableTranscript(messages)[1]).toMatchObject({
      isError: true,
      toolCallId: "1",
      toolName: "read",
      content: [{ type: "text", text: "No result: the tool call was interrupted" }],
    });
  });

  test("whatever the history, every call is followed by exactly its results", () => {
    const id = fc.constantFrom("1", "2", "3");
    const message = fc.oneof(
      fc.constant(user("x")),
      id.map(result),
      fc
        .record({ calls: fc.uniqueArray(id), stop: fc.constantFrom("toolUse", "error", "stop") })
        .map(({ calls, stop }) => assistant(calls, stop as AssistantMessage["stopReason"])),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const sendable = sendableTranscript(messages);
        let expected: string[] = [];
        for (const entry of sendable) {
          if (entry.role === "toolResult") expect(entry.toolCallId).toBe(expected.shift());
          else {
            expect(expected).toEqual([]);
            expected =
              entry.role === "assistant"
                ? entry.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
                : [];
          }
        }
        expect(expected).toEqual([]);
        expect(sendable.filter((entry) => entry.role === "user").length).toBe(
          messages.filter((entry) => entry.role === "user").length,
        );
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});
