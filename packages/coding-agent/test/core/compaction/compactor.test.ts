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
import type { AgentSessionEvent } from "../../../src/core/events.js";
import { type LongSession, longSession, tokens } from "../long-session.js";
import { textOf } from "../messages.js";

const compactionEvents = ["compaction_start", "compaction_end"] as const;
const overflow = () => fail("overflow", "400: prompt is too long", { status: 400 });
const nearlyFull = usage({ input: 950, output: 10 });
const lines = (bench: LongSession) => bench.outline().filter((line) => !line.startsWith("message_"));
const texts = (bench: LongSession) =>
  bench.session.messages.map((message) => (message.role === "compactionSummary" ? message.summary : textOf(message)));

/** So many tokens are kept: a whole span of `twoSpans`. */
const keepSpan = { limits: () => ({ reserveTokens: 100, keepRecentTokens: 40 }) };

/** Two questions and their answers of 20 tokens each; what is kept is about the last one. */
async function twoSpans(bench: LongSession): Promise<LongSession> {
  for (const name of ["one", "two"]) {
    bench.scripted.reply(usage({ input: 30, output: 20 }), tokens(20, `answer ${name}`));
    await bench.say(tokens(20, `question ${name}`));
  }
  return bench;
}

/** The id of the entry that holds this message. */
function entryOf({ store }: LongSession, text: string): string {
  return (
    store.getEntries().find((entry) => entry.type === "message" && textOf(entry.message).startsWith(text))?.id ?? ""
  );
}

describe("compact", () => {
  test("puts a summary in place of the older part: result, events, entry, messages and the next request agree", async () => {
    const bench = await twoSpans(longSession({ compaction: keepSpan }));
    const { session, scripted, store, told, requests } = bench;
    scripted.reply(usage({ input: 60, output: 5 }), "What was said").reply("Third");
    const before = session.stats();
    const result = await session.compact();
    expect(result).toEqual({
      summary: "What was said",
      firstKeptEntryId: entryOf(bench, "question two"),
      tokensBefore: 50,
      estimatedTokensAfter: 44,
      usage: expect.objectContaining({ input: 60, output: 5, totalTokens: 65 }),
      details: { readFiles: [], modifiedFiles: [] },
    });
    expect(told(...compactionEvents)).toEqual([
      { type: "compaction_start", reason: "manual" },
      { type: "compaction_end", reason: "manual", result, aborted: false, willRetry: false },
    ]);
    expect(store.getLeafEntry()).toEqual({
      type: "compaction",
      id: expect.any(String),
      parentId: entryOf(bench, "answer two"),
      timestamp: expect.any(String),
      summary: result.summary,
      firstKeptEntryId: result.firstKeptEntryId,
      tokensBefore: 50,
      usage: result.usage,
      details: result.details,
    });
    expect(texts(bench)).toEqual(["What was said", tokens(20, "question two"), tokens(20, "answer two")]);
    expect(session.state()).toMatchObject({ messageCount: 3, isCompacting: false, isStreaming: false });
    expect(session.stats().tokens).toEqual({
      ...before.tokens,
      input: before.tokens.input + 60,
      output: before.tokens.output + 5,
      total: before.tokens.total + 65,
    });
    await bench.say("question three");
    const next = requests().at(-1)?.join("\n") ?? "";
    expect(next).toContain("What was said");
    expect(next).not.toContain("question one");
    expect(JSON.stringify(store.getEntries())).toContain("question one");
  });

  test("contextUsage is unknown until an answer reports again", async () => {
    const { session, scripted, say } = await twoSpans(longSession({ compaction: keepSpan }));
    expect(session.stats().contextUsage).toEqual({ tokens: 50, contextWindow: 1000, percent: 5 });
    scripted
      .reply("Sum")
      .reply("No report")
      .reply(usage({ input: 30, output: 10 }), "Report");
    await session.compact();
    const unknown = { tokens: null, contextWindow: 1000, percent: null };
    expect(session.stats().contextUsage).toEqual(unknown);
    await say("three");
    expect(session.stats().contextUsage).toEqual(unknown);
    await say("four");
    expect(session.stats().contextUsage).toEqual({ tokens: 40, contextWindow: 1000, percent: 4 });
  });

  test("instructions reach the request; the summary so far is carried, and its file lists grow", async () => {
    const bench = longSession({ tools: [] });
    const { session, scripted, requests } = bench;
    scripted.reply(toolCall("read", { path: "a.ts" }), toolCall("edit", { path: "b.ts" })).reply(tokens(20, "did it"));
    await bench.say("work");
    scripted.reply("First summary");
    const first = await session.compact("Focus on the zebra");
    expect(requests().at(-1)?.[0]).toContain("The user asks of this summary: Focus on the zebra");
    expect(first).toMatchObject({
      summary: "First summary\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>",
      details: { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] },
    });
    scripted.reply(toolCall("write", { path: "a.ts" }), toolCall("read", { path: "c.ts" })).reply(tokens(20, "again"));
    await bench.say("more work");
    scripted.reply("Second summary").reply("Its beginning");
    const second = await session.compact();
    const history = requests().at(-2)?.[0] ?? "";
    expect(history).toContain("[Agent]: did it");
    expect(history).toContain("<summary-so-far>\nFirst summary\n</summary-so-far>");
    expect(history).not.toContain("[User]: work");
    expect(requests().at(-1)?.[0]).toContain("[User]: more work");
    expect(second.details).toEqual({ readFiles: ["c.ts"], modifiedFiles: ["a.ts", "b.ts"] });
    expect(second.summary).toBe(
      "Second summary\n\n# The work under way, from its beginning\n\nIts beginning\n\n<read-files>\nc.ts\n</read-files>\n\n<modified-files>\na.ts\nb.ts\n</modified-files>",
    );
    expect(texts(bench)).toEqual([second.summary, tokens(20, "again")]);
  });

  test("a summary so far stays as it is when only the beginning of a span follows; its file lists are told once", async () => {
    let keepRecentTokens = 40;
    const bench = longSession({ tools: [], compaction: { limits: () => ({ reserveTokens: 100, keepRecentTokens }) } });
    const { session, scripted, requests } = bench;
    scripted
      .reply(toolCall("read", { path: "a.ts" }))
      .reply("Did it")
      .reply(tokens(20, "answer two"));
    await bench.say("work");
    await bench.say(tokens(20, "question two"));
    scripted.reply("First summary");
    await session.compact();
    scripted.reply("Yes");
    await bench.say("Well?");
    keepRecentTokens = 10;
    scripted.reply("Its beginning");
    const count = requests().length;
    expect((await session.compact()).summary).toBe(
      "First summary\n\n# The work under way, from its beginning\n\nIts beginning\n\n<read-files>\na.ts\n</read-files>",
    );
    expect(requests().slice(count)).toEqual([[expect.stringContaining("[User]: question two")]]);
    expect(texts(bench).slice(1)).toEqual([tokens(20, "answer two"), "Well?", "Yes"]);
  });

  test("a cut inside a span takes two requests, whose usages are added", async () => {
    const { session, scripted, requests } = await twoSpans(longSession());
    scripted.reply(usage({ input: 10, output: 1 }), "History").reply(usage({ input: 20, output: 2 }), "Prefix");
    const { summary, usage: spent } = await session.compact();
    expect(summary).toBe("History\n\n# The work under way, from its beginning\n\nPrefix");
    expect(spent).toMatchObject({ input: 30, output: 3, totalTokens: 33 });
    expect(requests().at(-2)?.[0]).toContain("question one");
    expect(requests().at(-1)?.[0]).toContain("question two");
  });

  test.each<[string, (bench: LongSession) => Promise<unknown>, string]>([
    ["an empty session", async () => {}, "Nothing to compact (session too small)"],
    [
      "what fits",
      async ({ scripted, say }) => {
        scripted.reply("Hello");
        await say("hi");
      },
      "Nothing to compact (session too small)",
    ],
    [
      "what was compacted",
      async (bench) => {
        await twoSpans(bench);
        bench.scripted.reply("Sum").reply("Prefix");
        await bench.session.compact();
        bench.events.length = 0;
      },
      "Already compacted",
    ],
  ])("there is nothing to do for %s", async (_, prepare, text) => {
    const bench = longSession();
    await prepare(bench);
    await expect(bench.session.compact()).rejects.toMatchObject({ code: "nothing_to_do", message: text });
    expect(bench.told(...compactionEvents)).toEqual([
      { type: "compaction_start", reason: "manual" },
      { type: "compaction_end", reason: "manual", aborted: false, willRetry: false, errorMessage: text },
    ]);
  });

  test("without a model it says so, and one that is gone is no reason to lose anything", async () => {
    const bench = longSession({ other: { model: null } });
    bench.store.appendMessage({ role: "user", content: [{ type: "text", text: tokens(50) }], timestamp: 0 });
    const again = longSession({ store: bench.store, other: { model: null } });
    await expect(again.session.compact()).rejects.toMatchObject({ code: "no_model" });
    expect(again.told("compaction_end")).toMatchObject([{ aborted: false, errorMessage: /^No model selected/ }]);
  });

  test.each<[string, ScriptStep[][], string, object | undefined]>([
    ["is empty", [["  "]], "The summary is empty", { kind: "other" }],
    ["is cut off", [["Half", stop("length")]], "The summary was cut off", { kind: "other" }],
    ["is refused", [[fail("refusal", "I will not")]], "I will not", { kind: "refusal" }],
    [
      "fails",
      [[fail("invalid_request", "400: quota exceeded", { status: 400 })]],
      "400: quota exceeded",
      { kind: "invalid_request", status: 400 },
    ],
    ["fails in its second part", [["History"], [fail("auth", "401")]], "401", { kind: "auth" }],
  ])("a summary that %s changes nothing, and prompts go on", async (_, answers, errorMessage, error) => {
    const bench = await twoSpans(longSession());
    const { session, scripted, store, told, say } = bench;
    const before = { messages: [...session.messages], entries: store.getEntries(), stats: session.stats() };
    for (const steps of answers) scripted.reply(...steps);
    await expect(session.compact()).rejects.toMatchObject({ code: "provider_error", message: errorMessage });
    expect(told("compaction_end")).toEqual([
      { type: "compaction_end", reason: "manual", aborted: false, willRetry: false, errorMessage, error },
    ]);
    expect({ messages: [...session.messages], entries: store.getEntries(), stats: session.stats() }).toEqual(before);
    scripted.reply("Third");
    await say("three");
    expect(session.lastAssistantText()).toBe("Third");
  });

  test("a transient failure of the summary is retried by its own events, by the settings of retries", async () => {
    const bench = await twoSpans(longSession());
    const { session, scripted, told, delays } = bench;
    const overloaded = fail("overloaded", "529", { status: 529 });
    scripted.reply(overloaded).reply("History").reply(overloaded).reply("Prefix");
    await session.compact();
    const series = [
      {
        type: "summarization_retry_scheduled",
        attempt: 1,
        maxAttempts: 3,
        delayMs: 10,
        errorMessage: "529",
        error: { kind: "overloaded", status: 529 },
      },
      { type: "summarization_retry_attempt_start", source: "compaction", reason: "manual" },
      { type: "summarization_retry_finished" },
    ];
    const types = [
      "summarization_retry_scheduled",
      "summarization_retry_attempt_start",
      "summarization_retry_finished",
    ];
    expect(told(...(types as AgentSessionEvent["type"][]))).toEqual([...series, ...series]);
    expect(delays).toEqual([10, 10]);
    expect(told("auto_retry_start")).toEqual([]);
  });

  test("with retries switched off a failed summary is final", async () => {
    const { session, scripted, told } = await twoSpans(longSession());
    session.setAutoRetry(false);
    scripted.reply(fail("overloaded", "529"));
    await expect(session.compact()).rejects.toThrow("529");
    expect(told("summarization_retry_scheduled")).toEqual([]);
  });

  test("numbers are those of the model in use", async () => {
    const { session, scripted } = await twoSpans(
      longSession({
        compaction: { limits: ({ id }) => ({ reserveTokens: 100, keepRecentTokens: id === "scripted" ? 40 : 1 }) },
      }),
    );
    scripted.reply("History alone");
    expect((await session.compact()).summary).toBe("History alone");
  });
});

describe("while a summary is made", () => {
  async function started(steps: ScriptStep[] = []) {
    const bench = await twoSpans(longSession());
    const pause = hold();
    bench.scripted.reply("Sum", pause, "mary", ...steps).reply("Prefix");
    const compacting = bench.session.compact();
    compacting.catch(() => {});
    await pause.reached;
    return { ...bench, pause, compacting };
  }

  test("the state says so; a prompt and another compaction are refused, and nothing of them is left", async () => {
    const { session, pause, compacting } = await started();
    expect(session.state()).toMatchObject({ isCompacting: true, isStreaming: false, messageCount: 4 });
    await expect(session.prompt("now")).rejects.toMatchObject({
      code: "busy",
      message: 'A compaction is running. Set streamingBehavior to "steer" or "followUp" to queue the message',
    });
    await expect(session.compact()).rejects.toMatchObject({ code: "busy", message: "A compaction is running" });
    await expect(session.navigate(session.store.getLeafId() as string)).rejects.toMatchObject({ code: "busy" });
    pause.release();
    await compacting;
    expect(session.state()).toMatchObject({ isCompacting: false, messageCount: 2, pendingMessageCount: 0 });
  });

  test("texts are queued and start one run afterwards: steering first, then follow-ups", async () => {
    const bench = await started();
    const { session, scripted, pause, compacting, requests } = bench;
    scripted.reply("Steered").reply("Followed").reply("Prompted");
    expect(await session.followUp("f")).toBe("queued");
    expect(await session.steer("s")).toBe("queued");
    expect(await session.prompt("p", { streamingBehavior: "followUp" })).toBe("queued");
    expect(session.state()).toMatchObject({ pendingMessageCount: 3, isStreaming: false });
    pause.release();
    await compacting;
    expect(session.isStreaming).toBe(true);
    await session.waitForIdle();
    expect(lines(bench).slice(lines(bench).indexOf("compaction_end"))).toEqual([
      "compaction_end",
      "agent_start",
      "turn_start",
      "queue_update  | f,p",
      "turn_end",
      "turn_start",
      "queue_update  | p",
      "turn_end",
      "turn_start",
      "queue_update  | ",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(requests().at(-3)?.slice(-1)).toEqual(["s"]);
    expect(requests().at(-1)?.slice(-5)).toEqual(["s", "Steered", "f", "Followed", "p"]);
  });

  test("they start it after a summary that failed, too", async () => {
    const { session, scripted, pause, compacting, requests } = await started([fail("auth", "401")]);
    await session.followUp("f");
    scripted.reply("Followed");
    pause.release();
    await expect(compacting).rejects.toThrow("401");
    await session.waitForIdle();
    expect(requests().at(-1)?.at(-1)).toBe("f");
  });

  test("a compaction asked for when the first one ends is waited for by the run", async () => {
    const bench = await started();
    const { session, scripted, pause, compacting } = bench;
    let second: Promise<unknown> | undefined;
    session.subscribe((event) => {
      if (event.type === "compaction_end") second ??= session.compact().catch((error: Error) => error.message);
      return undefined;
    });
    await session.followUp("f");
    scripted.reply("Followed");
    pause.release();
    await compacting;
    expect(await second).toBe("Already compacted");
    await session.waitForIdle();
    expect(
      lines(bench)
        .filter((line) => /^(compaction|agent)/.test(line))
        .slice(-7),
    ).toEqual([
      "compaction_start",
      "compaction_end",
      "compaction_start",
      "compaction_end",
      "agent_start",
      "agent_end",
      "agent_settled",
    ]);
  });

  test("abort: everything is as it was, the queue is kept and goes out with the next prompt", async () => {
    const bench = await started();
    const { session, scripted, compacting, told, say, store, requests } = bench;
    const before = [...session.messages];
    await session.followUp("f");
    expect(await session.abort()).toBe(1);
    expect(session.state()).toMatchObject({ isCompacting: false, isStreaming: false, pendingMessageCount: 1 });
    await expect(compacting).rejects.toMatchObject({ code: "cancelled", message: "Compaction cancelled" });
    expect(told("compaction_end")).toEqual([
      { type: "compaction_end", reason: "manual", aborted: true, willRetry: false },
    ]);
    expect(session.messages).toEqual(before);
    expect(store.getEntries().filter(({ type }) => type === "compaction")).toEqual([]);
    expect(told("agent_start")).toHaveLength(2);
    scripted.reply("Third").reply("Followed"); // behind the second part of the summary, which nobody asks for now
    await say("three");
    expect(requests().at(-1)?.at(-1)).toBe("f");
    expect(await session.abort()).toBe(0);
  });

  test("abort between the parts of a summary counts as well", async () => {
    const bench = await twoSpans(longSession());
    const { session, scripted, told } = bench;
    const pause = hold();
    scripted.reply("History").reply(pause, "Prefix");
    const compacting = session.compact();
    compacting.catch(() => {});
    await pause.reached;
    await session.abort();
    await expect(compacting).rejects.toMatchObject({ code: "cancelled" });
    expect(told("compaction_end")).toMatchObject([{ aborted: true }]);
  });

  test("abort during the delay of a summary's retry ends that series, then the compaction", async () => {
    const delay = hold();
    const bench = await twoSpans(longSession({ delay }));
    const { session, scripted } = bench;
    scripted.reply(fail("overloaded", "529"));
    const compacting = session.compact();
    compacting.catch(() => {});
    await delay.reached;
    await session.abort();
    await expect(compacting).rejects.toMatchObject({ code: "cancelled" });
    expect(lines(bench).slice(-4)).toEqual([
      "compaction_start",
      "summarization_retry_scheduled",
      "summarization_retry_finished",
      "compaction_end",
    ]);
  });

  test("compact is refused during a run", async () => {
    const { session, scripted, told } = longSession();
    const pause = hold();
    scripted.reply(pause, "Hello");
    await session.prompt("hi");
    await pause.reached;
    await expect(session.compact()).rejects.toMatchObject({ code: "busy" });
    expect(told(...compactionEvents)).toEqual([]);
    pause.release();
    await session.waitForIdle();
  });
});

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
