import { fail, hold, type ScriptStep, stop, toolCall, usage } from "@earendil-works/pi-ai/testing";
import { describe, expect, test } from "vitest";
import type { AgentSessionEvent } from "../../../src/core/events.js";
import { type LongSession, longSession, tokens, twoSpans } from "../long-session.js";
import { textOf } from "../messages.js";

const compactionEvents = ["compaction_start", "compaction_end"] as const;
const lines = (bench: LongSession) => bench.outline().filter((line) => !line.startsWith("message_"));
const texts = (bench: LongSession) =>
  bench.session.messages.map((message) => (message.role === "compactionSummary" ? message.summary : textOf(message)));

/** So many tokens are kept: a whole span of `twoSpans`. */
const keepSpan = { limits: () => ({ reserveTokens: 100, keepRecentTokens: 40 }) };

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
    await expect(session.navigate({ entryId: session.store.getLeafId() as string })).rejects.toMatchObject({
      code: "busy",
    });
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
    const bench = await twoSpans(longSession());
    const { session, scripted, told } = bench;
    const [first, second] = [hold(), hold()];
    scripted.reply(first).reply("Sum", second).reply("Prefix").reply("Followed");
    const compacting = session.compact().catch((error: Error) => error.message);
    await first.reached;
    await session.followUp("f");
    let again: Promise<unknown> | undefined;
    session.subscribe((event) => {
      if (event.type === "compaction_end") again ??= session.compact();
      return undefined;
    });
    first.release();
    expect(await compacting).toBe("The summary is empty");
    await second.reached;
    expect(session.state()).toMatchObject({ isCompacting: true, isStreaming: false, pendingMessageCount: 1 });
    second.release();
    expect(await again).toMatchObject({ summary: expect.stringMatching(/^Sum/) });
    await session.waitForIdle();
    expect(
      told("compaction_start", "compaction_end", "agent_settled")
        .map(({ type }) => type)
        .slice(2),
    ).toEqual(["compaction_start", "compaction_end", "compaction_start", "compaction_end", "agent_settled"]);
    expect(session.lastAssistantText()).toBe("Followed");
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
