import type { Model } from "@earendil-works/pi-ai";
import { fail, hold, type ReplayReply, startReplayServer, toolCall, usage } from "@earendil-works/pi-ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { longSession } from "./long-session.js";
import { textOf } from "./messages.js";
import { testModel } from "./session.js";

const overloaded = () => fail("overloaded", "529: overloaded", { status: 529 });
const retryEvents = ["auto_retry_start", "auto_retry_end"] as const;
const willRetry = (events: readonly AgentSessionEvent[]) =>
  events.flatMap((event) => (event.type === "agent_end" ? [event.willRetry] : []));

describe("Retries: what is asked for again, through the classification of a real API", () => {
  const body = (message: string, facts: object = {}) => JSON.stringify({ error: { message, ...facts } });
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`;
  const delta = chunk({ choices: [{ index: 0, delta: { content: "Half" }, finish_reason: null }] });
  const modelAt = (url: string): Model => ({
    ...testModel().model,
    api: "openai-completions",
    baseUrl: `${url}/v1`,
  });
  const now = Date.now();
  const inSeconds = (seconds: number) => new Date(now + seconds * 1000).toUTCString();

  test.each<[string, ReplayReply, string, number?]>([
    // Decided by status; the wording may say anything in any language.
    ["529", { status: 529, body: body("Overloaded") }, "overloaded", 10],
    ["500", { status: 500, body: body("invalid request: prompt") }, "server", 10],
    ["502", { status: 502, body: "<html>Bad gateway</html>" }, "server", 10],
    ["503", { status: 503, body: body("서버가 혼잡합니다") }, "server", 10],
    ["504", { status: 504, body: "" }, "server", 10],
    ["520", { status: 520, body: body("?") }, "server", 10],
    ["524", { status: 524, body: body("authentication failed") }, "server", 10],
    ["408", { status: 408, body: body("") }, "timeout", 10],
    ["429", { status: 429, body: body("Slow down") }, "rate_limit", 10],
    ["429 for an exhausted quota", { status: 429, body: body("…", { code: "insufficient_quota" }) }, "quota"],
    ["429 that words the quota", { status: 429, body: body("You exceeded your current quota") }, "quota"],
    ["402", { status: 402, body: body("Try again later: overloaded") }, "quota"],
    [
      "400 that speaks of overload",
      { status: 400, body: body("Field overloaded: rate limit, 503") },
      "invalid_request",
    ],
    ["422", { status: 422, body: body("server error") }, "invalid_request"],
    ["401", { status: 401, body: body("overloaded") }, "auth"],
    ["403", { status: 403, body: body("overloaded") }, "auth"],
    ["404", { status: 404, body: body("overloaded") }, "not_found"],
    ["413", { status: 413, body: body("overloaded") }, "overflow"],
    ["400 for a long prompt", { status: 400, body: body("prompt is too long: 9 > 8") }, "overflow"],
    // Decided by what became of the stream.
    ["a connection that breaks", { body: [delta, "cut"] }, "transport", 10],
    ["a connection that breaks at once", { body: ["cut"] }, "transport", 10],
    ["a stream without an end", { body: [delta] }, "incomplete", 10],
    ["an empty stream", { body: "" }, "incomplete", 10],
    ["a line that is no JSON", { body: [delta, "data: {oops\n\n"] }, "incomplete", 10],
    ["silence", { body: [delta, "stall"] }, "timeout", 10],
    ["silence before the headers", { beforeHeaders: hold() }, "timeout", 10],
    [
      "overload inside the stream",
      { body: [delta, `data: ${body("Busy", { type: "overloaded_error" })}\n\n`] },
      "overloaded",
      10,
    ],
    [
      "a request refused inside the stream",
      { body: [delta, `data: ${body("No", { type: "invalid_request_error" })}\n\n`] },
      "invalid_request",
    ],
    // `retry-after` raises the delay up to the cap, and nothing lowers it.
    ["retry-after in seconds", { status: 429, headers: { "retry-after": "2" }, body: body("") }, "rate_limit", 2000],
    ["retry-after of 0", { status: 429, headers: { "retry-after": "0" }, body: body("") }, "rate_limit", 10],
    [
      "retry-after that is negative",
      { status: 429, headers: { "retry-after": "-5" }, body: body("") },
      "rate_limit",
      10,
    ],
    [
      "retry-after that is no time",
      { status: 429, headers: { "retry-after": "soon" }, body: body("") },
      "rate_limit",
      10,
    ],
    [
      "retry-after of a day",
      { status: 529, headers: { "retry-after": "86400" }, body: body("") },
      "overloaded",
      60_000,
    ],
    [
      "retry-after that is a date far away",
      { status: 503, headers: { "retry-after": inSeconds(86_400) }, body: body("") },
      "server",
      60_000,
    ],
    [
      "retry-after that is a date of the past",
      { status: 503, headers: { "retry-after": inSeconds(-60) }, body: body("") },
      "server",
      10,
    ],
    ["retry-after-ms", { status: 429, headers: { "retry-after-ms": "750" }, body: body("") }, "rate_limit", 750],
  ])("%s", async (_, reply, kind, delayMs) => {
    const server = await startReplayServer();
    onTestFinished(() => server.close());
    const done = chunk({ choices: [{ index: 0, delta: { content: "Fine" }, finish_reason: "stop" }] });
    server.reply(reply, { body: `${done}data: [DONE]\n\n` });
    // Off but for the first call of those that test it: a busy machine is silent as well.
    const streamOptions = { idleTimeoutMs: kind === "timeout" && !reply.status ? 2_000 : 0 };
    const { session, say, told, delays, events } = longSession({
      compaction: { enabled: false },
      other: { model: modelAt(server.url), streamOptions },
    });
    session.subscribe((event) => {
      if (event.type === "auto_retry_start") streamOptions.idleTimeoutMs = 0;
      return undefined;
    });
    await say("go");
    const failed = events.find((event) => event.type === "message_end" && event.message.role === "assistant");
    const { errorMessage, error } = (failed as { message: { errorMessage: string; error: { kind: string } } }).message;
    expect(error.kind).toBe(kind);
    if (delayMs === undefined) {
      expect(told(...retryEvents)).toEqual([]);
      expect(willRetry(events)).toEqual([false]);
      expect(server.requests).toHaveLength(1);
      expect(session.outcome?.last).toMatchObject({ stopReason: "error", errorMessage });
      return;
    }
    expect(told(...retryEvents)).toEqual([
      { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs, errorMessage, error },
      { type: "auto_retry_end", success: true, attempt: 1 },
    ]);
    expect(delays).toEqual([delayMs]);
    expect(willRetry(events)).toEqual([true, false]);
    expect(session.lastAssistantText()).toBe("Fine");
  });

  test("retry-after that is a date near by is waited for", async () => {
    const server = await startReplayServer();
    onTestFinished(() => server.close());
    server.reply({ status: 429, headers: { "retry-after": inSeconds(40) }, body: body("") }, { status: 400 });
    const { say, delays } = longSession({ other: { model: modelAt(server.url) } });
    await say("go");
    expect(delays).toHaveLength(1);
    expect(delays[0]).toBeGreaterThan(10);
    expect(delays[0]).toBeLessThanOrEqual(40_000);
  });
});

describe("Retries: a series", () => {
  test("the order of everything it announces, and delays that double", async () => {
    const { scripted, say, outline, told, delays, events } = longSession();
    scripted.reply(overloaded()).reply("Ha", fail("transport", "terminated")).reply("Hello");
    await say("hi");
    expect(outline()).toEqual([
      "agent_start",
      "turn_start",
      "message_start user hi",
      "message_end user hi",
      "message_start assistant",
      "message_end assistant",
      "turn_end",
      "agent_end",
      "auto_retry_start",
      "agent_start",
      "turn_start",
      "message_start assistant",
      "message_end assistant Ha",
      "turn_end",
      "agent_end",
      "auto_retry_start",
      "agent_start",
      "turn_start",
      "message_start assistant",
      "message_end assistant Hello",
      "auto_retry_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(told(...retryEvents)).toEqual([
      {
        type: "auto_retry_start",
        attempt: 1,
        maxAttempts: 3,
        delayMs: 10,
        errorMessage: "529: overloaded",
        error: { kind: "overloaded", status: 529 },
      },
      {
        type: "auto_retry_start",
        attempt: 2,
        maxAttempts: 3,
        delayMs: 20,
        errorMessage: "terminated",
        error: { kind: "transport" },
      },
      { type: "auto_retry_end", success: true, attempt: 2 },
    ]);
    expect(willRetry(events)).toEqual([true, true, false]);
    expect(delays).toEqual([10, 20]);
  });

  test("after the last attempt the failure is told, and stays", async () => {
    const { scripted, session, say, outline, told, events } = longSession({ retry: { maxRetries: 2 } });
    scripted.reply(overloaded()).reply(overloaded()).reply(overloaded()).reply("Later");
    await say("hi");
    expect(outline().slice(-5)).toEqual([
      "message_end assistant",
      "turn_end",
      "agent_end",
      "auto_retry_end",
      "agent_settled",
    ]);
    expect(told(...retryEvents).at(-1)).toEqual({
      type: "auto_retry_end",
      success: false,
      attempt: 2,
      finalError: "529: overloaded",
      error: { kind: "overloaded", status: 529 },
    });
    expect(willRetry(events)).toEqual([true, true, false]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(session.outcome).toMatchObject({ aborted: false, last: { stopReason: "error" } });
    await say("again");
    expect(session.lastAssistantText()).toBe("Later");
  });

  test("a failure of another kind ends the series with its own text", async () => {
    const { scripted, say, told } = longSession();
    scripted.reply(overloaded()).reply(fail("auth", "401: no"));
    await say("hi");
    expect(told(...retryEvents).at(-1)).toEqual({
      type: "auto_retry_end",
      success: false,
      attempt: 1,
      finalError: "401: no",
      error: { kind: "auth" },
    });
  });

  test.each<[string, boolean[], number[]]>([
    ["ERR TOOL ERR TOOL ERR TEXT", [true, false, true, false, true, false], [1, 1, 1]],
    ["ERR ERR TOOL ERR ERR TEXT", [true, true, false, true, true, false], [1, 2, 1, 2]],
  ])("the count begins anew after every answer that went well: %s", async (script, errors, attempts) => {
    const { scripted, session, say, told, events } = longSession({ retry: { maxRetries: 2 } });
    for (const word of script.split(" "))
      scripted.reply(word === "ERR" ? overloaded() : word === "TOOL" ? toolCall("noop", {}) : "Done");
    await say("work");
    expect(willRetry(events)).toEqual([...errors.filter(Boolean), false]);
    const starts = told("auto_retry_start").map((event) => (event as { attempt: number }).attempt);
    expect(starts).toEqual(attempts);
    expect(told("auto_retry_end").every((event) => (event as { success: boolean }).success)).toBe(true);
    expect(session.lastAssistantText()).toBe("Done");
    expect(told("tool_execution_start")).toHaveLength(script.split("TOOL").length - 1);
  });

  test("maxRetries 0 is none at all", async () => {
    const { scripted, say, told } = longSession({ retry: { maxRetries: 0 } });
    scripted.reply(overloaded());
    await say("hi");
    expect(told(...retryEvents)).toEqual([]);
  });

  test("a text queued during the delay goes out with the next attempt", async () => {
    const delay = hold();
    const { scripted, session, requests } = longSession({ delay });
    scripted.reply(overloaded()).reply("Hello").reply("And more");
    await session.prompt("hi");
    await delay.reached;
    expect(session.state()).toMatchObject({ isStreaming: true, messageCount: 2 });
    await session.steer("also this");
    delay.release();
    await session.waitForIdle();
    expect(requests()).toEqual([["hi"], ["hi"], ["hi", "Hello", "also this"]]);
  });
});

describe("Retries: given up", () => {
  const cancelled = { type: "auto_retry_end", success: false, attempt: 1, finalError: "Retry cancelled" };

  test("abort_retry in the delay: the failure stands, the run was not aborted, the queue goes out", async () => {
    const delay = hold();
    const { scripted, session, outline, told, requests } = longSession({ delay });
    scripted.reply(overloaded()).reply("On its own");
    await session.prompt("hi");
    await delay.reached;
    await session.followUp("next");
    expect(session.abortRetry()).toBe(1);
    await session.waitForIdle();
    expect(told("auto_retry_end")).toEqual([cancelled]);
    expect(outline().filter((line) => /^(agent|auto|queue)/.test(line))).toEqual([
      "agent_start",
      "agent_end",
      "auto_retry_start",
      "queue_update  | next",
      "auto_retry_end",
      "agent_start",
      "queue_update  | ",
      "agent_end",
      "agent_settled",
    ]);
    expect(requests()).toEqual([["hi"], ["hi", "next"]]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(session.abortRetry()).toBe(0);
  });

  test("abort in the delay ends the run as aborted, once, and the next prompt works", async () => {
    const delay = hold();
    const { scripted, session, outline, told, say } = longSession({ delay });
    scripted.reply(overloaded()).reply("Fresh");
    await session.prompt("hi");
    await delay.reached;
    expect(await session.abort()).toBe(1);
    expect(told("auto_retry_end")).toEqual([cancelled]);
    expect(outline().slice(-3)).toEqual(["auto_retry_start", "auto_retry_end", "agent_settled aborted"]);
    await say("again");
    expect(session.lastAssistantText()).toBe("Fresh");
    expect(told("auto_retry_start")).toHaveLength(1);
  });

  test("abort in the middle of a later attempt ends the series", async () => {
    const pause = hold();
    const { scripted, session, outline, told, say } = longSession();
    scripted.reply(overloaded()).reply("Hal", pause, "f").reply("Fresh");
    await session.prompt("hi");
    await pause.reached;
    expect(session.abortRetry()).toBe(0); // nothing waits: the attempt is under way
    await session.abort();
    expect(told("auto_retry_end")).toEqual([cancelled]);
    expect(outline().slice(-5)).toEqual([
      "message_end assistant Hal",
      "turn_end",
      "agent_end",
      "auto_retry_end",
      "agent_settled aborted",
    ]);
    scripted.reply("Fine");
    await say("again");
    expect(told("auto_retry_start")).toHaveLength(1);
  });

  test("abort_retry when nothing waits stops nothing", async () => {
    const { scripted, session, say, told } = longSession();
    expect(session.abortRetry()).toBe(0);
    scripted.reply("Hello");
    await say("hi");
    expect(told(...retryEvents)).toEqual([]);
  });

  test("switched off: the first failure is final; on again: it is retried; off in the delay: that attempt is the last", async () => {
    const delay = hold();
    const { scripted, session, say, told, delays, events } = longSession({ delay });
    session.setAutoRetry(false);
    scripted.reply(overloaded());
    await say("one");
    expect([told(...retryEvents), willRetry(events)]).toEqual([[], [false]]);
    session.setAutoRetry(true);
    scripted.reply(overloaded()).reply(overloaded());
    await session.prompt("two");
    await delay.reached;
    session.setAutoRetry(false);
    delay.release();
    await session.waitForIdle();
    expect(delays).toEqual([10]);
    expect(told("auto_retry_end")).toEqual([
      {
        type: "auto_retry_end",
        success: false,
        attempt: 1,
        finalError: "529: overloaded",
        error: { kind: "overloaded", status: 529 },
      },
    ]);
    expect(session.automatic()).toEqual({ retry: false, compaction: true });
  });
});

describe("Retries: an abandoned attempt", () => {
  test("leaves messages, counts and requests by an entry that nobody announces; its usage still counts", async () => {
    const { scripted, session, store, say, requests, told } = longSession();
    const spent = usage({ input: 10, output: 1 });
    scripted.reply(spent, "Ha", fail("transport", "terminated")).reply(usage({ input: 11, output: 2 }), "Hello");
    await say("hi");
    expect(session.messages.map(textOf)).toEqual(["hi", "Hello"]);
    expect(session.state().messageCount).toBe(2);
    expect(session.stats()).toMatchObject({
      userMessages: 1,
      assistantMessages: 1,
      totalMessages: 2,
      tokens: { input: 21, output: 3 },
    });
    expect(requests()).toEqual([["hi"], ["hi"]]);
    const entries = store.getEntries();
    const failed = entries.find((entry) => entry.type === "message" && textOf(entry.message) === "Ha");
    const edit = entries.find(({ type }) => type === "context_edit");
    expect(edit).toEqual({
      type: "context_edit",
      id: expect.any(String),
      parentId: failed?.id,
      timestamp: expect.any(String),
      targetId: failed?.id,
      replacement: null,
    });
    expect(told("entry_appended")).toEqual([]);
    expect(store.buildSessionContext().messages.map(textOf)).toEqual(["hi", "Hello"]);
  });

  test("a final failure stays in messages and counts, and out of requests", async () => {
    const { scripted, session, store, say, requests } = longSession({ retry: { maxRetries: 1 } });
    scripted.reply("One", overloaded()).reply("Two", overloaded()).reply("Fine");
    await say("hi");
    expect(session.messages.map(textOf)).toEqual(["hi", "Two"]);
    await say("again");
    expect(session.messages.map(textOf)).toEqual(["hi", "Two", "again", "Fine"]);
    expect(session.stats()).toMatchObject({ userMessages: 2, assistantMessages: 2 });
    expect(requests().at(-1)).toEqual(["hi", "again"]);
    expect(store.getEntries().filter(({ type }) => type === "context_edit")).toHaveLength(1);
  });

  test("its own tool calls are never run, and the conversation stays paired", async () => {
    const { scripted, session, say, requests, told } = longSession();
    scripted.reply(toolCall("noop", {}), overloaded()).reply(toolCall("noop", {})).reply("Done");
    await say("hi");
    expect(told("tool_execution_start")).toHaveLength(1);
    expect(requests().at(-1)).toEqual(["hi", "noop()", "done"]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  });
});
