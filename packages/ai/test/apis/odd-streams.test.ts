// Streams of servers that bend their API's rules: each has one right outcome.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/index.js";
import { type ReplayServer, startReplayServer } from "../../src/testing/index.js";
import { eventsOf, fixture, testModel } from "../fixtures.js";

let server: ReplayServer;
beforeAll(async () => {
  server = await startReplayServer();
});
afterAll(() => server.close());

interface Outcome {
  content: unknown[];
  stopReason: AssistantMessage["stopReason"];
  raw?: string;
  kind?: string;
  /** Input and output tokens. */
  tokens: [number, number];
  /** The output was not reported before the answer broke off. */
  estimated?: true;
}

const hello = { type: "text", text: "Hello, world" };
const read = (extra: object = {}) => ({
  type: "toolCall",
  id: expect.stringMatching(/^[a-zA-Z0-9_-]+$/),
  name: "read",
  arguments: { path: "a" },
  ...extra,
});
const list = { type: "toolCall", id: expect.any(String), name: "list", arguments: {} };
const cutCall = read({ arguments: {}, incompleteArguments: '{"path":"a' });

const anthropic: Record<string, Outcome> = {
  // The provider's package cannot begin such an answer, and asking again would not help.
  "no-usage-in-start": { content: [], stopReason: "error", kind: "other", tokens: [0, 0] },
  "no-usage-in-delta": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 1] },
  "input-only-usage": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "no-id-or-model": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "no-stop-sequence": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "empty-start-message": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "no-start": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [0, 12] },
  "no-stop-event": { content: [hello], stopReason: "error", kind: "incomplete", tokens: [20, 3], estimated: true },
  "unknown-event": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "unknown-block": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "unknown-delta": { content: [hello], stopReason: "stop", raw: "end_turn", tokens: [20, 12] },
  "unknown-stop-reason": { content: [hello], stopReason: "error", raw: "bored", kind: "other", tokens: [20, 12] },
  refusal: { content: [], stopReason: "error", raw: "refusal", kind: "refusal", tokens: [20, 12] },
  "pause-turn": { content: [hello], stopReason: "stop", raw: "pause_turn", tokens: [20, 12] },
  "thinking-without-signature": {
    content: [
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Hello" },
    ],
    stopReason: "stop",
    raw: "end_turn",
    tokens: [20, 12],
  },
  "tool-use-without-input": { content: [list], stopReason: "toolUse", raw: "tool_use", tokens: [20, 12] },
  "cut-tool-json": { content: [cutCall], stopReason: "length", raw: "max_tokens", tokens: [20, 12] },
  "bad-json-line": {
    content: [{ type: "text", text: "Hello" }],
    stopReason: "error",
    kind: "incomplete",
    tokens: [20, 2],
    estimated: true,
  },
  "whole-input-in-start": { content: [read()], stopReason: "toolUse", raw: "tool_use", tokens: [20, 12] },
  "error-of-odd-shape": {
    content: [{ type: "text", text: "Hello" }],
    stopReason: "error",
    kind: "server",
    tokens: [20, 2],
    estimated: true,
  },
};

const thought = (signature: string) => [
  { type: "thinking", thinking: "Hm", thinkingSignature: signature },
  { type: "text", text: "Hello" },
];
const chat: Record<string, Outcome> = {
  "minimal-chunks": { content: [hello], stopReason: "stop", raw: "stop", tokens: [0, 0] },
  "no-done": { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "no-finish": { content: [hello], stopReason: "error", kind: "incomplete", tokens: [20, 12] },
  "no-usage": { content: [hello], stopReason: "stop", raw: "stop", tokens: [0, 0] },
  "usage-chunk-without-choices": { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "usage-inline": { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "usage-in-choice": { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "usage-null": { content: [hello], stopReason: "stop", raw: "stop", tokens: [0, 0] },
  "usage-partial": { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 0] },
  "call-without-index": { content: [read()], stopReason: "toolUse", raw: "tool_calls", tokens: [20, 12] },
  "call-without-type": { content: [read()], stopReason: "toolUse", raw: "tool_calls", tokens: [20, 12] },
  "call-without-id": { content: [read()], stopReason: "toolUse", raw: "tool_calls", tokens: [20, 12] },
  "call-without-arguments": { content: [list], stopReason: "toolUse", raw: "tool_calls", tokens: [20, 12] },
  "stop-with-call": {
    content: [read({ arguments: { path: "a.txt" } })],
    stopReason: "stop",
    raw: "stop",
    tokens: [20, 12],
  },
  "cut-tool-json": { content: [cutCall], stopReason: "length", raw: "length", tokens: [20, 12] },
  "unknown-finish": { content: [hello], stopReason: "error", raw: "bored", kind: "other", tokens: [20, 12] },
  "network-error-finish": {
    content: [hello],
    stopReason: "error",
    raw: "network_error",
    kind: "server",
    tokens: [0, 3],
    estimated: true,
  },
  "reasoning-field": { content: thought("reasoning"), stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "reasoning-text-field": { content: thought("reasoning_text"), stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "reasoning-details": {
    content: [
      ...thought('[{"type":"reasoning.text","index":0,"text":"Hm","signature":"sig"}]'),
      {
        type: "thinking",
        thinking: "",
        thinkingSignature: '[{"type":"reasoning.encrypted","index":1,"data":"ZW5j"}]',
      },
    ],
    stopReason: "stop",
    raw: "stop",
    tokens: [20, 12],
  },
  comments: { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
  crlf: { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
  "bad-json": {
    content: [{ type: "text", text: "Hello" }],
    stopReason: "error",
    kind: "incomplete",
    tokens: [0, 2],
    estimated: true,
  },
  "null-chunk": { content: [hello], stopReason: "stop", raw: "stop", tokens: [20, 12] },
};

describe.each([
  ["anthropic-messages", anthropic],
  ["openai-completions", chat],
])("odd streams of %s", (api, outcomes) => {
  test.each(Object.entries(outcomes))("%s", async (name, expected) => {
    server.reply({ body: fixture(api, `odd-${name}`) });
    const { message, lines } = await eventsOf(testModel(api, server.url));
    const outcome: Outcome = {
      content: message.content,
      stopReason: message.stopReason,
      tokens: [message.usage.input, message.usage.output],
      ...(message.usage.estimated ? { estimated: true } : {}),
      ...(message.rawStopReason ? { raw: message.rawStopReason } : {}),
      ...(message.error ? { kind: message.error.kind } : {}),
    };
    expect(outcome).toEqual(expected);
    expect(lines[0]).toBe("start");
    expect(balanced(lines)).toBe(true);
  });
});

test("a chat server without finish reasons ends well when its model says so", async () => {
  const model = testModel("openai-completions", server.url, { compat: { supportsFinishReason: false } });
  server.reply({ body: fixture("openai-completions", "odd-no-finish") });
  expect((await eventsOf(model)).message).toMatchObject({ stopReason: "stop", content: [hello] });
  const withCall = fixture("openai-completions", "odd-stop-with-call").replaceAll('"finish_reason":"stop"', '"x":1');
  server.reply({ body: withCall });
  expect((await eventsOf(model)).message.stopReason).toBe("toolUse");
});

/** Every start has one end, and no text or thinking block is open while another block starts. */
function balanced(lines: string[]): boolean {
  const open = new Map<string, string>();
  for (const line of lines) {
    const [type = "", place = ""] = line.split(" ");
    if (type.endsWith("_start")) {
      if ([...open.values()].some((kind) => kind !== "toolcall")) return false;
      open.set(place, type.slice(0, -"_start".length));
    } else if (type.endsWith("_end")) {
      if (!open.delete(place)) return false;
    }
  }
  return open.size === 0;
}
