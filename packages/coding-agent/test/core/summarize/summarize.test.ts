import { type AssistantMessage, emptyUsage, type Model, type StreamOptions, type Usage } from "@earendil-works/pi-ai";
import { hold } from "@earendil-works/pi-ai/testing";
import { describe, expect, test } from "vitest";
import type { AgentSessionEvent } from "../../../src/core/events.js";
import { summarySystemPrompt } from "../../../src/core/summarize/prompts.js";
import { Summarizer, type SummaryCall, SummaryError, type SummaryJob } from "../../../src/core/summarize/summarize.js";
import { isWellFormed } from "../../lib/well-formed.js";
import { assistant, user } from "../messages.js";

type Answer = AssistantMessage | Error | (() => Promise<AssistantMessage>);

/** A summariser whose model answers by script. */
function bench(answers: Answer[], options: { maxRetries?: number; delay?: ReturnType<typeof hold> } = {}) {
  const events: AgentSessionEvent[] = [];
  const calls: { model: Model; request: SummaryCall; options: StreamOptions }[] = [];
  const delays: number[] = [];
  const summarizer = new Summarizer({
    emit: (event) => void events.push(event),
    policy: () => ({ maxRetries: options.maxRetries ?? 2, baseMs: 10, capMs: 1000 }),
    sleep: async (ms, signal) => {
      delays.push(ms);
      if (options.delay && !(await options.delay.wait(signal))) throw new Error("Aborted");
    },
    complete: async (model, request, callOptions) => {
      calls.push({ model, request, options: callOptions });
      const answer = answers.shift() ?? assistant("More");
      if (answer instanceof Error) throw answer;
      return typeof answer === "function" ? answer() : answer;
    },
  });
  return { summarizer, events, calls, delays };
}

const model: Model = {
  id: "m",
  name: "M",
  provider: "p",
  api: "a",
  baseUrl: "",
  reasoning: true,
  input: ["text"],
  contextWindow: 200_000,
  maxTokens: 64_000,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

function job(facts: Partial<SummaryJob> = {}): SummaryJob {
  return {
    kind: "history",
    model,
    messages: [user("do it"), assistant("Done")],
    signal: new AbortController().signal,
    source: "compaction",
    reason: "manual",
    ...facts,
  };
}

const overloaded = (facts: object = {}) =>
  assistant("", { stopReason: "error", errorMessage: "529", error: { kind: "overloaded", status: 529, ...facts } });
const usage = (input: number, output: number): Usage => ({
  ...emptyUsage(),
  input,
  output,
  totalTokens: input + output,
});

describe("Summarizer: what it asks for", () => {
  test("one request: the conversation, what the summary is for, and the headings; no thinking, no caching", async () => {
    const { summarizer, calls, events } = bench([assistant(" All of it \n", { usage: usage(50, 5) })]);
    expect(await summarizer.summarize(job())).toEqual({ text: "All of it", usage: usage(50, 5) });
    expect(calls).toHaveLength(1);
    const { request, options, model: asked } = calls[0] as (typeof calls)[0];
    expect(asked).toBe(model);
    expect(request.systemPrompt).toBe(summarySystemPrompt);
    expect(request.text).toMatch(/^<conversation>\n\[User\]: do it\n\n\[Agent\]: Done\n<\/conversation>\n\n/);
    expect(request.text).toContain("## Goal");
    expect(request.text).not.toContain("<summary-so-far>");
    expect(options).toEqual({
      signal: expect.any(AbortSignal),
      maxTokens: 8192,
      cacheRetention: "none",
      thinkingLevel: "off",
    });
    expect(events).toEqual([]);
  });

  test("instructions and the summary so far are in it", async () => {
    const { summarizer, calls } = bench([assistant("New")]);
    await summarizer.summarize(job({ previous: "Old facts", instructions: " Focus on the zebra " }));
    const { text } = (calls[0] as (typeof calls)[0]).request;
    expect(text).toContain("<summary-so-far>\nOld facts\n</summary-so-far>");
    expect(text).toMatch(/The user asks of this summary: Focus on the zebra$/);
  });

  test.each(["history", "prefix", "branch"] as const)("a %s has a purpose of its own", async (kind) => {
    const { summarizer, calls } = bench([assistant("A")]);
    await summarizer.summarize(job({ kind }));
    const words = { history: "older part", prefix: "beginning of the agent's current", branch: "user has left" };
    for (const [name, text] of Object.entries(words)) expect(calls[0]?.request.text.includes(text)).toBe(name === kind);
  });

  test("nothing a model may see needs no request", async () => {
    const { summarizer, calls } = bench([]);
    const messages = [assistant("Half", { stopReason: "error" })];
    expect(await summarizer.summarize(job({ messages }))).toEqual({ text: "" });
    expect(await summarizer.summarize(job({ messages, previous: "Old" }))).toEqual({ text: "Old" });
    expect(calls).toEqual([]);
  });
});

describe("Summarizer: a conversation larger than the window", () => {
  const small = { ...model, contextWindow: 8000, maxTokens: 4000 };

  test("goes in pieces that fit, each into the summary so far; usage is added up", async () => {
    const messages = Array.from({ length: 12 }, (_, index) => user(`<${index}>${"x".repeat(4000)}</${index}>`));
    const names = ["One", "Two", "Three", "Four", "Five", "Six"];
    const { summarizer, calls } = bench(
      names.map((name, index) => assistant(name, { usage: usage(10 * (index + 1), index + 1) })),
    );
    const made = await summarizer.summarize(job({ model: small, messages, previous: "Zero", instructions: "Short" }));
    expect(made).toEqual({ text: "Six", usage: usage(210, 21) });
    const texts = calls.map(({ request }) => request.text);
    const soFar = texts.map((text) => /<summary-so-far>\n(.*)\n<\/summary-so-far>/.exec(text)?.[1]);
    expect(soFar).toEqual(["Zero", "One", "Two", "Three", "Four", "Five"]);
    for (const { request, options } of calls) {
      expect(request.text.length / 4 + (options.maxTokens ?? 0)).toBeLessThan(small.contextWindow);
      expect(request.text).toContain("Short");
    }
    // Every message is in exactly one request, in order.
    const order = texts.flatMap((text) => [...text.matchAll(/<(\d+)>x/g)].map(([, index]) => Number(index)));
    expect(order).toEqual(messages.map((_, index) => index));
  });

  test("a single message can be larger; it is cut between characters, and nothing of it is lost", async () => {
    const text = `${"😀".repeat(20_000)}end`;
    const { summarizer, calls } = bench([]);
    await summarizer.summarize(job({ model: small, messages: [user(`a${text}`)] }));
    expect(calls.length).toBeGreaterThan(2);
    const pieces = calls.map(({ request }) => /<conversation>\n(.*?)\n<\/conversation>/s.exec(request.text)?.[1] ?? "");
    for (const piece of pieces) expect(isWellFormed(piece)).toBe(true);
    expect(pieces.join("")).toBe(`[User]: a${text}`);
  });

  test("a failure on the way fails the whole", async () => {
    const messages = Array.from({ length: 12 }, () => user("x".repeat(4000)));
    const { summarizer, calls } = bench([assistant("One"), assistant("")]);
    await expect(summarizer.summarize(job({ model: small, messages }))).rejects.toThrow("The summary is empty");
    expect(calls).toHaveLength(2);
  });

  test.each([
    [200_000, 64_000, 8192],
    [200_000, 4096, 4096],
    [8000, 8000, 2000],
    [0, 64_000, 8192], // nobody knows its window
  ])(
    "with a window of %i and an output of %i it asks for at most %i tokens",
    async (contextWindow, maxTokens, asked) => {
      const { summarizer, calls } = bench([]);
      await summarizer.summarize(
        job({ model: { ...model, contextWindow, maxTokens }, messages: [user("x".repeat(50_000))] }),
      );
      expect(calls[0]?.options.maxTokens).toBe(asked);
      if (contextWindow !== 8000) expect(calls).toHaveLength(1);
    },
  );
});

describe("Summarizer: what goes wrong", () => {
  test.each<[string, Answer, string, object]>([
    ["an empty answer", assistant(" \n"), "The summary is empty", { kind: "other" }],
    ["a cut answer", assistant("Half a summ", { stopReason: "length" }), "The summary was cut off", { kind: "other" }],
    [
      "a refusal",
      assistant("", { stopReason: "error", errorMessage: "No", error: { kind: "refusal" } }),
      "No",
      { kind: "refusal" },
    ],
    ["a failure of no kind", assistant("", { stopReason: "error" }), "The model failed", { kind: "other" }],
  ])("%s is no summary, and is not asked for again", async (_, answer, message, info) => {
    const { summarizer, calls, events } = bench([answer]);
    const failure = await summarizer.summarize(job()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SummaryError);
    expect(failure).toMatchObject({ message, info });
    expect([calls.length, events]).toEqual([1, []]);
  });

  test("a transient failure is asked for again, with all its events and doubling delays", async () => {
    const { summarizer, calls, events, delays } = bench([
      overloaded(),
      overloaded({ retryAfterMs: 500 }),
      assistant("At last"),
    ]);
    expect(await summarizer.summarize(job())).toMatchObject({ text: "At last" });
    const scheduled = { type: "summarization_retry_scheduled", maxAttempts: 2, errorMessage: "529" };
    const started = { type: "summarization_retry_attempt_start", source: "compaction", reason: "manual" };
    expect(events).toEqual([
      { ...scheduled, attempt: 1, delayMs: 10, error: { kind: "overloaded", status: 529 } },
      started,
      { ...scheduled, attempt: 2, delayMs: 500, error: { kind: "overloaded", status: 529, retryAfterMs: 500 } },
      started,
      { type: "summarization_retry_finished" },
    ]);
    expect(delays).toEqual([10, 500]);
    expect(calls).toHaveLength(3);
  });

  test("a branch summary names its source and no reason", async () => {
    const { summarizer, events } = bench([overloaded()]);
    const { reason: _, ...rest } = job({ source: "branchSummary", kind: "branch" });
    await summarizer.summarize(rest);
    expect(events[1]).toEqual({ type: "summarization_retry_attempt_start", source: "branchSummary" });
  });

  test("after the last attempt, and after a failure of another kind, the series is finished once", async () => {
    const used = bench([overloaded(), overloaded(), overloaded()]);
    await expect(used.summarizer.summarize(job())).rejects.toThrow("529");
    expect(used.events.map(({ type }) => type).filter((type) => type.endsWith("finished"))).toHaveLength(1);
    const other = bench([overloaded(), assistant("")]);
    await expect(other.summarizer.summarize(job())).rejects.toThrow("The summary is empty");
    expect(other.events.at(-1)).toEqual({ type: "summarization_retry_finished" });
  });

  test("a request that cannot be made fails, and ends the series", async () => {
    const first = bench([new Error("No key")]);
    await expect(first.summarizer.summarize(job())).rejects.toThrow("No key");
    expect(first.events).toEqual([]);
    const later = bench([overloaded(), new Error("No key")]);
    await expect(later.summarizer.summarize(job())).rejects.toThrow("No key");
    expect(later.events.at(-1)).toEqual({ type: "summarization_retry_finished" });
  });

  test("retries that are switched off are none", async () => {
    const { summarizer, events } = bench([overloaded()], { maxRetries: 0 });
    await expect(summarizer.summarize(job())).rejects.toThrow("529");
    expect(events).toEqual([]);
  });

  test("an abort during the request counts, whatever the answer says", async () => {
    const abort = new AbortController();
    const { summarizer } = bench([
      async () => {
        abort.abort();
        return assistant("Too late");
      },
    ]);
    await expect(summarizer.summarize(job({ signal: abort.signal }))).rejects.toMatchObject({
      info: { kind: "aborted" },
    });
  });

  test("an abort during the delay ends the series and asks no more", async () => {
    const abort = new AbortController();
    const delay = hold();
    const { summarizer, events, calls } = bench([overloaded()], { delay });
    const asking = summarizer.summarize(job({ signal: abort.signal }));
    await delay.reached;
    abort.abort();
    await expect(asking).rejects.toMatchObject({ info: { kind: "aborted" } });
    expect(events.map(({ type }) => type)).toEqual(["summarization_retry_scheduled", "summarization_retry_finished"]);
    expect(calls).toHaveLength(1);
  });
});
