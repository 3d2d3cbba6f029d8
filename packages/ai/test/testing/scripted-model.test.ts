// The model that answers by script.

import { expect, test } from "vitest";
import { apiNames, complete, stream } from "../../src/index.js";
import { fail, hold, scriptedModel, stop, text, thinking, toolCall, usage } from "../../src/testing/index.js";
import { eventsOf, question } from "../fixtures.js";

test("answers in order, records what it was asked, and says when the script is over", async () => {
  const scripted = scriptedModel({ cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } });
  scripted
    .reply(thinking("hm", "sig"), "Reading", toolCall("read", { path: "a" }), usage({ input: 10, output: 5 }))
    .replyWith(({ context }) => [`${context.messages.length} message`, stop("length")]);
  expect(scripted.remaining).toBe(2);
  expect(await complete(scripted.model, question, { thinkingLevel: "low" })).toMatchObject({
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "text", text: "Reading" },
      { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a" } },
    ],
    provider: "scripted",
    thinkingLevel: "low",
    stopReason: "toolUse",
    usage: { input: 10, output: 5, totalTokens: 15, cost: { total: 0.00002 } },
  });
  expect(await complete(scripted.model, question)).toMatchObject({
    content: [{ type: "text", text: "1 message" }],
    stopReason: "length",
  });
  expect(await complete(scripted.model, question)).toMatchObject({
    stopReason: "error",
    error: { kind: "other" },
    errorMessage: "The script has no answer left",
  });
  expect(scripted.requests.map((request) => request.options.thinkingLevel)).toEqual(["low", undefined, undefined]);
  scripted.dispose();
  expect(apiNames()).not.toContain(scripted.model.api);
});

test("the recorded context is what it was at the call", async () => {
  const scripted = scriptedModel();
  scripted.reply("x");
  const messages = [...question.messages];
  await complete(scripted.model, { messages });
  messages.push(...question.messages);
  expect(scripted.requests[0]?.context.messages.length).toBe(1);
  scripted.dispose();
});

test("text comes in the pieces asked for; cut arguments and errors as they are given", async () => {
  const scripted = scriptedModel();
  scripted
    .reply(text("a😀bc", 2), toolCall("read", '{"a"', "id-1"))
    .reply("half", fail("overloaded", "529 no", { status: 529, retryAfterMs: 5 }));
  const first = await eventsOf(scripted.model);
  expect(first.lines).toEqual([
    "start",
    "text_start 0",
    'text_delta 0 "a😀"',
    'text_delta 0 "bc"',
    'text_end 0 "a😀bc"',
    "toolcall_start 1 id-1 read",
    'toolcall_delta 1 "{\\"a\\""',
    "toolcall_end 1 {}",
    "done toolUse",
  ]);
  expect(first.message.content[1]).toMatchObject({ incompleteArguments: '{"a"' });
  expect((await eventsOf(scripted.model)).message).toMatchObject({
    stopReason: "error",
    errorMessage: "529 no",
    error: { kind: "overloaded", status: 529, retryAfterMs: 5 },
    content: [{ text: "half" }],
  });
  scripted.dispose();
});

test("a hold stops the answer until it is released, or until the call is aborted", async () => {
  const scripted = scriptedModel();
  const pause = hold();
  scripted.reply("Do", pause, "ne").reply("Do", hold(), "ne");
  const result = complete(scripted.model, question);
  await pause.reached;
  pause.release();
  expect((await result).content).toEqual([{ type: "text", text: "Done" }]);
  const controller = new AbortController();
  const events = stream(scripted.model, question, { signal: controller.signal });
  for await (const event of events) if (event.type === "text_delta") controller.abort();
  expect(await events.result()).toMatchObject({ stopReason: "aborted", content: [{ text: "Do" }] });
  scripted.dispose();
});
