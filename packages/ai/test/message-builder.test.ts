// The one assembler of deltas: what it makes of an adapter's calls, and of events from a wire.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AssistantMessageDelta, type AssistantMessageEvent, MessageBuilder } from "../src/index.js";

const origin = { model: { id: "m", api: "a", provider: "p" }, timestamp: 5 };

/** An event as it goes over a wire, parsed again on the other side. */
function overWire(event: AssistantMessageEvent): AssistantMessageDelta {
  const { partial, message, error, ...rest } = event as AssistantMessageEvent & Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest)) as AssistantMessageDelta;
}

describe("MessageBuilder as an adapter uses it", () => {
  test("begins an empty, pending message of its origin", () => {
    expect(MessageBuilder.begin({ ...origin, thinkingLevel: "low" }).message).toEqual({
      role: "assistant",
      content: [],
      api: "a",
      provider: "p",
      model: "m",
      thinkingLevel: "low",
      usage: expect.objectContaining({ totalTokens: 0 }),
      stopReason: "pending",
      timestamp: 5,
    });
  });

  test("numbers blocks by their place and keeps signatures", () => {
    const builder = MessageBuilder.begin(origin);
    builder.startThinking();
    builder.appendThinking("hm");
    expect(builder.openBlock).toBe("thinking");
    expect(builder.endThinking("sig", true)).toMatchObject({ type: "thinking_end", contentIndex: 0, content: "hm" });
    expect(builder.openBlock).toBeUndefined();
    expect(builder.endOpenBlock()).toBeUndefined();
    builder.startText();
    builder.appendText("a");
    builder.appendText("b");
    expect(builder.endText("text-sig")).toMatchObject({ type: "text_end", contentIndex: 1, content: "ab" });
    expect(builder.message.content).toEqual([
      { type: "thinking", thinking: "hm", thinkingSignature: "sig", redacted: true },
      { type: "text", text: "ab", textSignature: "text-sig" },
    ]);
  });

  test("arguments of a running call are read when asked for, and are plain data in the end", () => {
    const builder = MessageBuilder.begin(origin);
    const { contentIndex } = builder.startToolCall("c1", "read");
    const block = builder.message.content[0] as { arguments: unknown };
    expect(block.arguments).toEqual({});
    builder.appendToolCall(contentIndex, '{"path":"a');
    expect(block.arguments).toEqual({ path: "a" });
    expect(JSON.parse(JSON.stringify(block))).toMatchObject({ arguments: { path: "a" } });
    builder.appendToolCall(contentIndex, '.txt"}');
    expect(builder.argumentText(contentIndex)).toBe('{"path":"a.txt"}');
    expect(builder.endToolCall(contentIndex, "thought")).toMatchObject({
      type: "toolcall_end",
      toolCall: { id: "c1", name: "read", arguments: { path: "a.txt" }, thoughtSignature: "thought" },
    });
    expect(Object.getOwnPropertyDescriptor(block, "arguments")).toMatchObject({ value: { path: "a.txt" } });
    expect(builder.argumentText(contentIndex)).toBeUndefined();
  });

  test.each([
    ["no text", "", {}, undefined],
    ["white space", " \n", {}, undefined],
    ["an object", '{"a":1}', { a: 1 }, undefined],
    ["a cut object", '{"a":1', {}, '{"a":1'],
    ["a list", "[1]", {}, "[1]"],
    ["null", "null", {}, "null"],
    ["no JSON", "a: 1", {}, "a: 1"],
  ])("arguments that are %s", (_title, text, args, incomplete) => {
    const builder = MessageBuilder.begin(origin);
    const { contentIndex } = builder.startToolCall("c1", "read");
    if (text) builder.appendToolCall(contentIndex, text);
    builder.endToolCall(contentIndex);
    expect(builder.message.content[0]).toEqual({
      type: "toolCall",
      id: "c1",
      name: "read",
      arguments: args,
      ...(incomplete === undefined ? {} : { incompleteArguments: incomplete }),
    });
  });

  test("a failure closes open blocks; a call cut before its first argument is incomplete", () => {
    const builder = MessageBuilder.begin(origin);
    const first = builder.startToolCall("c1", "read");
    builder.startToolCall("c2", "read");
    builder.appendToolCall(first.contentIndex, '{"a":');
    const events = builder.fail("aborted", { kind: "aborted" }, "Request was aborted");
    expect(events.map((event) => event.type)).toEqual(["toolcall_end", "toolcall_end", "error"]);
    expect(builder.message).toMatchObject({
      stopReason: "aborted",
      errorMessage: "Request was aborted",
      error: { kind: "aborted" },
      content: [
        { arguments: {}, incompleteArguments: '{"a":' },
        { arguments: {}, incompleteArguments: "" },
      ],
    });
  });

  test("done closes what the adapter left open", () => {
    const builder = MessageBuilder.begin(origin);
    builder.startText();
    builder.appendText("x");
    expect(builder.done("length").map((event) => event.type)).toEqual(["text_end", "done"]);
    expect(builder.message.stopReason).toBe("length");
  });

  test("of finds the builder of a live message and adopts any other", () => {
    const builder = MessageBuilder.begin(origin);
    expect(MessageBuilder.of(builder.message)).toBe(builder);
    const copy = structuredClone(builder.message);
    expect(MessageBuilder.of(copy).message).toBe(copy);
  });
});

describe("MessageBuilder.apply", () => {
  test("adds the message so far to every event", () => {
    const builder = MessageBuilder.begin(origin);
    const events: AssistantMessageDelta[] = [
      { type: "start" },
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "hi" },
      { type: "text_end", contentIndex: 0, content: "hi" },
    ];
    for (const event of events) expect(builder.apply(event)).toEqual({ ...event, partial: builder.message });
    const final = { ...structuredClone(builder.message), responseId: "r" };
    expect(builder.apply({ type: "done", reason: "stop", message: final })).toEqual({
      type: "done",
      reason: "stop",
      message: builder.message,
    });
    expect(builder.message).toMatchObject({ responseId: "r", stopReason: "stop", content: [{ text: "hi" }] });
  });

  test("a block whose start was missed is begun, and its end corrects it", () => {
    const builder = MessageBuilder.begin(origin);
    builder.apply({ type: "thinking_delta", contentIndex: 0, delta: "lf" });
    builder.apply({ type: "thinking_end", contentIndex: 0, content: "half" });
    builder.apply({ type: "toolcall_delta", contentIndex: 1, delta: '":1}' });
    const toolCall = { type: "toolCall" as const, id: "c", name: "n", arguments: { a: 1 } };
    builder.apply({ type: "toolcall_end", contentIndex: 1, toolCall });
    expect(builder.message.content).toEqual([{ type: "thinking", thinking: "half" }, toolCall]);
  });

  test("an error keeps what came and takes the reason", () => {
    const builder = MessageBuilder.begin(origin);
    builder.apply({ type: "text_delta", contentIndex: 0, delta: "hi" });
    builder.apply({ type: "error", reason: "aborted" });
    expect(builder.message).toMatchObject({ stopReason: "aborted", content: [{ text: "hi" }] });
  });

  test("a message rebuilt from the wire is the message that was sent, at every step", () => {
    const step = fc.oneof(
      fc.record({ block: fc.constant("text" as const), deltas: fc.array(fc.string(), { maxLength: 4 }) }),
      fc.record({ block: fc.constant("thinking" as const), deltas: fc.array(fc.string(), { maxLength: 4 }) }),
      fc.record({ block: fc.constant("calls" as const), deltas: fc.array(fc.json({ maxDepth: 1 }), { maxLength: 3 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.boolean(), (steps, fails) => {
        const sender = MessageBuilder.begin(origin);
        const receiver = MessageBuilder.begin(origin);
        const send = (event: AssistantMessageEvent | undefined) => {
          if (!event) return;
          receiver.apply(overWire(event));
          expect(JSON.stringify(receiver.message.content)).toBe(JSON.stringify(sender.message.content));
        };
        for (const { block, deltas } of steps) {
          send(sender.endOpenBlock());
          if (block === "text") {
            send(sender.startText());
            for (const delta of deltas) send(sender.appendText(delta));
          } else if (block === "thinking") {
            send(sender.startThinking());
            for (const delta of deltas) send(sender.appendThinking(delta));
          } else {
            const starts = deltas.map((_, index) => sender.startToolCall(`c${index}`, "tool"));
            for (const start of starts) receiver.apply(overWire(start));
            for (const half of [0, 1])
              for (const [index, text] of deltas.entries()) {
                const middle = Math.floor(text.length / 2);
                const piece = half === 0 ? text.slice(0, middle) : text.slice(middle);
                send(sender.appendToolCall(starts[index]!.contentIndex, piece));
              }
            for (const start of starts) send(sender.endToolCall(start.contentIndex));
          }
        }
        const last = fails ? sender.fail("error", { kind: "other" }, "no") : sender.done("stop");
        for (const event of last.slice(0, -1)) send(event);
        receiver.apply(overWire(last.at(-1)!));
        expect(receiver.message.stopReason).toBe(sender.message.stopReason);
      }),
      { seed: 42, numRuns: 150 },
    );
  });
});
