import {
  fail,
  hold,
  type ScriptedRequest,
  type ScriptStep,
  stop,
  toolCall,
  usage,
} from "@earendil-works/pi-ai/testing";
import { describe, expect, test } from "vitest";
import { type LongSession, longSession, tokens, twoSpans } from "../long-session.js";
import { textOf } from "../messages.js";

const compactionEvents = ["compaction_start", "compaction_end"] as const;
const overflow = () => fail("overflow", "400: prompt is too long", { status: 400 });
const nearlyFull = usage({ input: 950, output: 10 });
const lines = (bench: LongSession) => bench.outline().filter((line) => !line.startsWith("message_"));
const texts = (bench: LongSession) =>
  bench.session.messages.map((message) => (message.role === "compactionSummary" ? message.summary : textOf(message)));

describe("compaction by itself, when the context is nearly full", () => {
  test("after a run, before it settles", async () => {
    const bench = longSession();
    const { session, scripted, told, say } = bench;
    scripted.reply(tokens(20, "answer one"));
    await say("question one");
    scripted
      .reply(usage({ input: 891, output: 10 }), tokens(20, "answer two"))
      .reply("Sum")
      .reply("Prefix");
    await say("question two");
    expect(lines(bench).slice(-4)).toEqual(["agent_end", "compaction_start", "compaction_end", "agent_settled"]);
    expect(told(...compactionEvents)).toMatchObject([
      { reason: "threshold" },
      { reason: "threshold", aborted: false, willRetry: false, result: { tokensBefore: 901 } },
    ]);
    expect(texts(bench)).toEqual([expect.stringMatching(/^Sum/), tokens(20, "answer two")]);
    expect(session.outcome).toMatchObject({ aborted: false, last: { stopReason: "stop" } });
  });

  test("strictly above the limit: 900 of a window of 1,000 with a reserve of 100 is not", async () => {
    const { scripted, told, say } = longSession();
    scripted.reply(tokens(20, "answer one"));
    await say("question one");
    scripted.reply(usage({ input: 890, output: 10 }), tokens(20, "answer two"));
    await say("question two");
    expect(told(...compactionEvents)).toEqual([]);
  });

  test("between two turns, and the run goes on by itself with what was kept", async () => {
    const bench = longSession();
    const { scripted, say, requests, session } = bench;
    scripted.reply(tokens(20, "answer one"));
    await say("question one");
    scripted
      .reply(nearlyFull, tokens(20, "Working"), toolCall("noop", {}))
      .reply("Sum")
      .reply("Prefix")
      .reply(usage({ input: 60, output: 5 }), "Done");
    await say("question two");
    expect(lines(bench).slice(lines(bench).lastIndexOf("agent_start"))).toEqual([
      "agent_start",
      "turn_start",
      "tool_execution_start",
      "tool_execution_end",
      "turn_end",
      "compaction_start",
      "compaction_end",
      "turn_start",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    const [summary, ...kept] = requests().at(-1) ?? [];
    expect(summary).toContain("Sum");
    expect(kept).toEqual([`${tokens(20, "Working")}noop()`, "done"]);
    expect(session.lastAssistantText()).toBe("Done");
  });

  test("before a prompt, which is answered first and is in what is kept", async () => {
    const scripted = longSession().scripted;
    scripted.model.contextWindow = 100_000;
    const bench = await twoSpans(longSession({ scripted }));
    const { session, told, requests, events } = bench;
    scripted.model.contextWindow = 1000;
    scripted.reply("Sum").reply("Hello");
    expect(await session.prompt(tokens(950, "long question"))).toBe("started");
    expect(told(...compactionEvents)).toEqual([]);
    await session.waitForIdle();
    expect(lines(bench).slice(-7)).toEqual([
      "compaction_start",
      "compaction_end",
      "agent_start",
      "turn_start",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(requests().at(-1)).toEqual([expect.stringContaining("Sum"), tokens(950, "long question")]);
    expect(events.filter((event) => event.type === "message_end" && event.message.role === "user")).toHaveLength(3);
  });

  test("an abort before a prompt's run gives the compaction up, and the run begins and ends", async () => {
    const bench = await twoSpans(longSession());
    const { session, scripted } = bench;
    const pause = hold();
    scripted.reply("Sum", pause);
    await session.prompt(tokens(950, "long question"));
    await pause.reached;
    expect(session.state()).toMatchObject({ isCompacting: true, isStreaming: true });
    expect(await session.abort()).toBe(1);
    expect(bench.outline().slice(-10)).toEqual([
      "compaction_end",
      "agent_start",
      "turn_start",
      `message_start user ${tokens(950, "long question")}`,
      `message_end user ${tokens(950, "long question")}`,
      "message_start assistant",
      "message_end assistant",
      "turn_end",
      "agent_end",
      "agent_settled aborted",
    ]);
  });

  test("an abort during the compaction after a complete answer gives it up; the answer is not called aborted", async () => {
    const bench = longSession();
    const { session, scripted, told } = bench;
    scripted.reply(tokens(20, "answer one"));
    await bench.say("question one");
    const pause = hold();
    scripted.reply(nearlyFull, tokens(20, "answer two")).reply(pause, "Sum");
    await session.prompt("question two");
    await pause.reached;
    expect(await session.abort()).toBe(1);
    expect(told("compaction_end")).toEqual([
      { type: "compaction_end", reason: "threshold", aborted: true, willRetry: false },
    ]);
    expect(bench.events.at(-1)).toEqual({ type: "agent_settled", aborted: false });
    expect(texts(bench)).toHaveLength(4);
  });

  test("texts sent meanwhile go out in the same run", async () => {
    const bench = longSession();
    const { session, scripted, requests } = bench;
    scripted.reply(tokens(20, "answer one"));
    await bench.say("question one");
    const pause = hold();
    scripted.reply(nearlyFull, tokens(20, "answer two")).reply(pause, "Sum").reply("Prefix").reply("More");
    await session.prompt("question two");
    await pause.reached;
    expect(await session.steer("also")).toBe("queued");
    await expect(session.prompt("no")).rejects.toMatchObject({ code: "busy", message: /^The agent is running/ });
    pause.release();
    await session.waitForIdle();
    expect(requests().at(-1)?.slice(1)).toEqual([tokens(20, "answer two"), "also"]);
    expect(lines(bench).filter((line) => line === "agent_settled")).toHaveLength(2);
  });

  test("one that fails is told by its events alone, and is not tried again in the same user turn", async () => {
    const bench = longSession();
    const { session, scripted, told } = bench;
    scripted.reply(tokens(20, "answer one"));
    await bench.say("question one");
    scripted
      .reply(nearlyFull, tokens(20, "a"), toolCall("noop", {}))
      .reply("") // the summary
      .reply(nearlyFull, tokens(20, "b"), toolCall("noop", {}))
      .reply(nearlyFull, "Done");
    await bench.say("question two");
    expect(told("compaction_end")).toEqual([
      {
        type: "compaction_end",
        reason: "threshold",
        aborted: false,
        willRetry: false,
        errorMessage: "The summary is empty",
        error: { kind: "other" },
      },
    ]);
    expect(session.outcome).toMatchObject({ aborted: false, last: { stopReason: "stop" } });
    expect(session.messages.at(0)?.role).toBe("user");
  });

  test("a context that stays full is compacted once a user turn, not for ever", async () => {
    const bench = longSession();
    const { scripted, told } = bench;
    let turns = 0;
    // Every answer reports a full window, also right after a summary, which is no tool's work.
    const answer = ({ context }: ScriptedRequest): readonly ScriptStep[] => {
      if (!context.tools?.length) return ["Sum"];
      turns += 1;
      return [nearlyFull, tokens(20, "work"), ...(turns % 10 > 0 ? [toolCall("noop", {})] : [])];
    };
    for (let request = 0; request < 60; request += 1) scripted.replyWith(answer);
    await bench.say("question one");
    expect([turns, told("compaction_start").length]).toEqual([10, 1]);
    await bench.say("question two");
    expect([turns, told("compaction_start").length]).toEqual([20, 2]);
  });

  test("not when it is switched off, without a window, or after a failed answer", async () => {
    const off = longSession();
    off.session.setAutoCompaction(false);
    off.scripted.reply(tokens(20)).reply(nearlyFull, tokens(20));
    await off.say("one");
    await off.say("two");
    expect([off.told(...compactionEvents), off.session.state().autoCompactionEnabled]).toEqual([[], false]);
    const windowless = longSession({ model: { contextWindow: 0 } });
    windowless.scripted.reply(tokens(20)).reply(nearlyFull, tokens(20));
    await windowless.say("one");
    await windowless.say("two");
    expect(windowless.told(...compactionEvents)).toEqual([]);
    const failed = longSession();
    failed.scripted.reply(tokens(20)).reply(nearlyFull, tokens(20), fail("auth", "401"));
    await failed.say("one");
    await failed.say("two");
    expect(failed.told(...compactionEvents)).toEqual([]);
  });
});

describe("recovery from a context that did not fit", () => {
  async function oneSpan(options: Parameters<typeof longSession>[0] = {}) {
    const bench = longSession(options);
    bench.scripted.reply(tokens(20, "answer one"));
    await bench.say(tokens(20, "question one"));
    bench.events.length = 0;
    return bench;
  }
  const willRetry = ({ events }: LongSession) =>
    events.flatMap((event) => (event.type === "agent_end" ? [event.willRetry] : []));

  test("makes room and tries the prompt again, which is no retry; the failed answer is forgotten", async () => {
    const bench = await oneSpan();
    const { scripted, session, told, requests } = bench;
    scripted.reply(overflow()).reply("Sum").reply("After all");
    await bench.say(tokens(20, "question two"));
    expect(lines(bench)).toEqual([
      "agent_start",
      "turn_start",
      "turn_end",
      "agent_end",
      "compaction_start",
      "compaction_end",
      "agent_start",
      "turn_start",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(told(...compactionEvents)).toMatchObject([
      { reason: "overflow" },
      { reason: "overflow", aborted: false, willRetry: true, result: { summary: "Sum" } },
    ]);
    expect(willRetry(bench)).toEqual([true, false]);
    expect(requests().at(-1)).toEqual([expect.stringContaining("Sum"), tokens(20, "question two")]);
    expect(texts(bench)).toEqual(["Sum", tokens(20, "question two"), "After all"]);
    expect(session.stats()).toMatchObject({ assistantMessages: 1 });
  });

  test("once a user turn: the second time a lone compaction_end says so", async () => {
    const bench = await oneSpan();
    const { scripted, told, session } = bench;
    scripted.reply(overflow()).reply("Sum").reply(overflow());
    await bench.say(tokens(20, "question two"));
    expect(lines(bench).slice(-4)).toEqual(["turn_end", "agent_end", "compaction_end", "agent_settled"]);
    expect(told("compaction_start")).toHaveLength(1);
    expect(told("compaction_end").at(-1)).toEqual({
      type: "compaction_end",
      reason: "overflow",
      aborted: false,
      willRetry: false,
      errorMessage: "The context is still too large after compaction: 400: prompt is too long",
      error: { kind: "overflow", status: 400 },
    });
    expect(willRetry(bench)).toEqual([true, false]);
    expect(session.outcome).toMatchObject({ last: { stopReason: "error" } });
    // The next text of the user begins anew.
    scripted.reply(overflow()).reply("Sum again").reply("Fine");
    await bench.say(tokens(20, "question three"));
    expect(session.lastAssistantText()).toBe("Fine");
  });

  test("an answer cut off early by a full window counts; a long one that was cut does not", async () => {
    const early = await oneSpan();
    early.scripted
      .reply(usage({ input: 980, output: 20 }), "Half", stop("length"))
      .reply("Sum")
      .reply("Whole");
    await early.say(tokens(20, "question two"));
    expect(early.told("compaction_end")).toMatchObject([{ reason: "overflow", willRetry: true }]);
    expect(texts(early)).toEqual(["Sum", tokens(20, "question two"), "Whole"]);
    expect(willRetry(early)).toEqual([true, false]);

    const long = await oneSpan();
    long.scripted.reply(usage({ input: 500, output: 200 }), "Long", stop("length"));
    await long.say("question two");
    expect(long.told(...compactionEvents)).toEqual([]);
    expect(long.session.outcome?.last).toMatchObject({ stopReason: "length" });
  });

  test("a second early cut in the same user turn is the answer, and no failure", async () => {
    const bench = await oneSpan();
    const cut = [usage({ input: 980, output: 20 }), "Half", stop("length")] as const;
    bench.scripted
      .reply(...cut)
      .reply("Sum")
      .reply(...cut)
      .reply("Later")
      .reply("Later");
    await bench.say(tokens(20, "question two"));
    expect(bench.told("compaction_start").map((event) => (event as { reason: string }).reason)[0]).toBe("overflow");
    expect(bench.session.outcome?.last).toMatchObject({ stopReason: "length" });
    expect(willRetry(bench)).toEqual([true, false]);
  });

  test("switched off: the failure is final", async () => {
    const bench = await oneSpan({ compaction: { enabled: false } });
    bench.scripted.reply(overflow());
    await bench.say("question two");
    expect(bench.told(...compactionEvents)).toEqual([]);
    expect(willRetry(bench)).toEqual([false]);
  });

  test("nothing to summarise: agent_end says that no attempt follows, and why is told", async () => {
    const bench = longSession();
    bench.scripted.reply(overflow());
    await bench.say(tokens(2000, "a long question"));
    expect(willRetry(bench)).toEqual([false]);
    expect(bench.told(...compactionEvents)).toEqual([
      { type: "compaction_start", reason: "overflow" },
      {
        type: "compaction_end",
        reason: "overflow",
        aborted: false,
        willRetry: false,
        errorMessage: "Nothing to compact (session too small)",
      },
    ]);
    expect(bench.session.outcome?.last).toMatchObject({ stopReason: "error", error: { kind: "overflow" } });
  });

  test("a summary that fails leaves the failure as the last word", async () => {
    const bench = await oneSpan();
    const { scripted, told, session } = bench;
    scripted.reply(overflow()).reply(fail("invalid_request", "400: no"));
    await bench.say(tokens(20, "question two"));
    expect(lines(bench).slice(-4)).toEqual(["agent_end", "compaction_start", "compaction_end", "agent_settled"]);
    expect(told("compaction_end")).toEqual([
      {
        type: "compaction_end",
        reason: "overflow",
        aborted: false,
        willRetry: false,
        errorMessage: "400: no",
        error: { kind: "invalid_request" },
      },
    ]);
    expect(texts(bench)).toEqual([
      tokens(20, "question one"),
      tokens(20, "answer one"),
      tokens(20, "question two"),
      "",
    ]);
    expect(session.outcome).toMatchObject({ aborted: false, last: { stopReason: "error" } });
  });

  test("an abort gives the summary up, and the run is aborted", async () => {
    const bench = await oneSpan();
    const { scripted, session, told } = bench;
    const pause = hold();
    scripted.reply(overflow()).reply(pause, "Sum");
    await session.prompt(tokens(20, "question two"));
    await pause.reached;
    expect(await session.abort()).toBe(1);
    expect(told("compaction_end")).toEqual([
      { type: "compaction_end", reason: "overflow", aborted: true, willRetry: false },
    ]);
    expect(bench.events.at(-1)).toEqual({ type: "agent_settled", aborted: true });
  });

  test("within a series of retries: room is made, and the series ends with the answer", async () => {
    const bench = await oneSpan();
    const { scripted } = bench;
    scripted.reply(fail("overloaded", "529")).reply(overflow()).reply("Sum").reply("Fine");
    await bench.say(tokens(20, "question two"));
    expect(lines(bench).filter((line) => /^(auto|compaction)/.test(line))).toEqual([
      "auto_retry_start",
      "compaction_start",
      "compaction_end",
      "auto_retry_end",
    ]);
    expect(bench.told("auto_retry_end")).toEqual([{ type: "auto_retry_end", success: true, attempt: 1 }]);
  });

  test("within a series of retries: without room the series ends with the failure", async () => {
    const bench = await oneSpan();
    bench.scripted.reply(fail("overloaded", "529")).reply(overflow()).reply("");
    await bench.say(tokens(20, "question two"));
    expect(bench.told("auto_retry_end")).toEqual([
      {
        type: "auto_retry_end",
        success: false,
        attempt: 1,
        finalError: "400: prompt is too long",
        error: { kind: "overflow", status: 400 },
      },
    ]);
    expect(lines(bench).slice(-3)).toEqual(["compaction_end", "auto_retry_end", "agent_settled"]);
  });
});
