// Stream parts in every order as our events.

import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AssistantMessageEvent, MessageBuilder } from "../../src/index.js";
import type { Dialect } from "../../src/language-model/dialect.js";
import { PartReader } from "../../src/language-model/parts.js";
import { lineOf, question, testModel } from "../fixtures.js";

const dialect = {
  readOddChunk: () => undefined,
  ending: ({ raw }) => (raw === "tools" ? "toolUse" : "stop"),
  streamErrorText: (body) => JSON.stringify(body),
} as Pick<Dialect, "readOddChunk" | "ending" | "streamErrorText"> as Dialect;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish: LanguageModelV3StreamPart = { type: "finish", finishReason: { unified: "stop", raw: "end" }, usage };

function read(parts: LanguageModelV3StreamPart[]) {
  const model = testModel("api", "");
  const events: AssistantMessageEvent[] = [];
  const call = { model, context: question, options: { signal: new AbortController().signal } };
  const builder = MessageBuilder.begin({ model });
  const reader = new PartReader(builder, dialect, call, (event) => events.push(event));
  for (const part of parts) reader.take(part);
  reader.conclude();
  return { lines: events.map(lineOf), message: builder.message };
}

const text = (delta: string): LanguageModelV3StreamPart => ({ type: "text-delta", id: "t", delta });
const thought = (delta: string): LanguageModelV3StreamPart => ({ type: "reasoning-delta", id: "r", delta });
const callStart = (id: string): LanguageModelV3StreamPart => ({ type: "tool-input-start", id, toolName: "read" });
const callDelta = (id: string, delta: string): LanguageModelV3StreamPart => ({ type: "tool-input-delta", id, delta });
const callEnd = (toolCallId: string, input: string): LanguageModelV3StreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "read",
  input,
});

describe("PartReader", () => {
  test("begins a block for a delta that has none, and ends the block before it", () => {
    const parts = [
      thought("hm"),
      text("a"),
      callStart("c"),
      callDelta("c", "{}"),
      callEnd("c", "{}"),
      text("b"),
      finish,
    ];
    expect(read(parts).lines).toEqual([
      "thinking_start 0",
      'thinking_delta 0 "hm"',
      'thinking_end 0 "hm"',
      "text_start 1",
      'text_delta 1 "a"',
      'text_end 1 "a"',
      "toolcall_start 2 c read",
      'toolcall_delta 2 "{}"',
      "toolcall_end 2 {}",
      "text_start 3",
      'text_delta 3 "b"',
      'text_end 3 "b"',
      "done stop",
    ]);
  });

  test("a call told at once, and a call told twice", () => {
    const { lines, message } = read([callEnd("c", '{"a":1}'), callEnd("c", ""), finish]);
    expect(lines).toEqual([
      "toolcall_start 0 c read",
      'toolcall_delta 0 "{\\"a\\":1}"',
      'toolcall_end 0 {"a":1}',
      "done stop",
    ]);
    expect(message.content).toEqual([{ type: "toolCall", id: "c", name: "read", arguments: { a: 1 } }]);
  });

  test("deltas of a call nobody began, calls of the provider's own, and empty deltas are nothing", () => {
    const own: LanguageModelV3StreamPart = {
      ...(callEnd("s", "{}") as object),
      providerExecuted: true,
    } as LanguageModelV3StreamPart;
    expect(read([callDelta("x", "{"), own, text(""), thought(""), finish]).lines).toEqual(["done stop"]);
  });

  test("half a character is completed in its block only; one that stays alone is replaced", () => {
    expect(read([text("a\ud83d"), thought("\ude00b"), finish]).message.content).toEqual([
      { type: "text", text: "a\ufffd" },
      { type: "thinking", thinking: "\ude00b" },
    ]);
    const { lines } = read([
      callStart("c"),
      callDelta("c", '{"a":"\ud83d'),
      callDelta("c", '\ude00"}'),
      callEnd("c", ""),
      finish,
    ]);
    expect(lines.slice(1)).toEqual([
      `toolcall_delta 0 ${JSON.stringify('{"a":"')}`,
      `toolcall_delta 0 ${JSON.stringify('😀"}')}`,
      'toolcall_end 0 {"a":"😀"}',
      "done stop",
    ]);
    expect(read([callStart("c"), callDelta("c", '"\ud83d'), finish]).message.content).toMatchObject([
      { incompleteArguments: '"\ufffd' },
    ]);
  });

  test("an error with words of its own, and an error record", () => {
    const error = Object.assign(new Error("socket"), { code: "EPIPE" });
    expect(read([text("a"), { type: "error", error }]).message).toMatchObject({
      stopReason: "error",
      error: { kind: "transport", code: "EPIPE" },
      errorMessage: "socket",
      content: [{ text: "a" }],
    });
    const record = { type: "overloaded_error" };
    expect(read([{ type: "error", error: record }]).message).toMatchObject({
      error: { kind: "overloaded", code: "overloaded_error" },
      errorMessage: JSON.stringify(record),
    });
  });

  test("whatever the order of parts, blocks are whole and text is kept", () => {
    const part = fc.oneof(
      fc.string({ unit: "grapheme" }).map(text),
      fc.string({ unit: "grapheme" }).map(thought),
      fc.constantFrom("a", "b").map(callStart),
      fc.constantFrom("a", "b").map((id) => callDelta(id, '{"x":')),
      fc.constant<LanguageModelV3StreamPart>({ type: "text-start", id: "t" }),
      fc.constant<LanguageModelV3StreamPart>({ type: "text-end", id: "t" }),
      fc.constant<LanguageModelV3StreamPart>({ type: "reasoning-end", id: "r" }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.boolean(), (parts, ends) => {
        const { lines, message } = read(ends ? [...parts, finish] : parts);
        const open = new Map<string, string>();
        for (const line of lines) {
          const [type = "", place = ""] = line.split(" ");
          if (type.endsWith("_start")) {
            expect([...open.values()].filter((kind) => kind !== "toolcall_start")).toEqual([]);
            open.set(place, type);
          } else if (type.endsWith("_end")) expect(open.delete(place)).toBe(true);
        }
        expect(open.size).toBe(0);
        const told = parts.map((item) => (item.type === "text-delta" ? item.delta : "")).join("");
        const kept = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
        expect(kept).toBe(told);
        expect(message.stopReason).toBe(ends ? "stop" : "error");
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});
