import { stream } from "@earendil-works/pi-ai";
import { fail, hold, ScriptedModel } from "@earendil-works/pi-ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { PreparedCompaction } from "../../src/core/compaction/compactor.js";
import { Conversation } from "../../src/core/conversation.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { type RecoveryOptions, RunRecovery } from "../../src/core/recovery.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { tokens } from "./long-session.js";
import { assistant, user } from "./messages.js";

/** Recovery over a stored conversation of two spans, without a session around it. */
function bench(options: Partial<RecoveryOptions> = {}) {
  const scripted = new ScriptedModel({ contextWindow: 1000, maxTokens: 200 });
  onTestFinished(() => scripted.dispose());
  const store = SessionManager.inMemory("/");
  const ids = ["question one", "answer one", "question two", "answer two"].map((name) =>
    store.appendMessage(name.startsWith("q") ? user(tokens(20, name)) : assistant(tokens(20, name))),
  );
  const conversation = new Conversation(store);
  const events: AgentSessionEvent[] = [];
  const recovery = new RunRecovery({
    emit: (event) => void events.push(event),
    conversation,
    model: () => scripted.model,
    requestOptions: async () => ({ apiKey: "key" }),
    stream,
    settings: {
      retry: { enabled: true, maxRetries: 3, baseMs: 1, capMs: 10 },
      compaction: { enabled: true, limits: () => ({ reserveTokens: 100, keepRecentTokens: 40 }) },
    },
    sleep: async () => {},
    appendCompaction: ({ summary, firstKeptEntryId, tokensBefore, details, usage, fromHook }) =>
      store.appendCompaction(summary, firstKeptEntryId, tokensBefore, details, fromHook || undefined, usage),
    ...options,
  });
  return { recovery, compactor: recovery.compactor, conversation, store, scripted, events, ids };
}

describe("RunRecovery: hooks of a compaction", () => {
  test("they see what will be done", async () => {
    const seen: unknown[] = [];
    const { compactor, scripted, ids, conversation } = bench({
      prepare: async (preparation, signal) => {
        seen.push(preparation, signal.aborted);
        return undefined;
      },
    });
    scripted.reply("Sum");
    const before = [...conversation.messages];
    await compactor.compact("Briefly");
    expect(seen).toEqual([
      {
        reason: "manual",
        instructions: "Briefly",
        willRetry: false,
        tokensBefore: 80,
        firstKeptEntryId: ids[2],
        history: before.slice(0, 2),
        prefix: [],
        previousSummary: undefined,
      },
      false,
    ]);
  });

  test("cancel: nothing is asked, written or changed", async () => {
    const { compactor, scripted, events, store, conversation } = bench({ prepare: async () => ({ cancel: true }) });
    const before = { entries: store.getEntries(), messages: [...conversation.messages] };
    await expect(compactor.compact(undefined)).rejects.toMatchObject({
      code: "cancelled",
      message: "Compaction cancelled",
    });
    expect(events).toEqual([
      { type: "compaction_start", reason: "manual" },
      { type: "compaction_end", reason: "manual", aborted: true, willRetry: false },
    ]);
    expect(scripted.requests).toEqual([]);
    expect({ entries: store.getEntries(), messages: [...conversation.messages] }).toEqual(before);
  });

  test.each<[string, (ids: string[]) => PreparedCompaction, object]>([
    [
      "a summary alone",
      () => ({ summary: "By hand" }),
      { summary: "By hand", tokensBefore: 80, estimatedTokensAfter: 42, place: 2 },
    ],
    [
      "a summary with everything",
      (ids) => ({ summary: "By hand", firstKeptEntryId: ids[3] as string, tokensBefore: 7, details: { a: 1 } }),
      { summary: "By hand", tokensBefore: 7, estimatedTokensAfter: 22, details: { a: 1 }, place: 3 },
    ],
  ])("they may bring %s: no model is asked", async (_, given, expected) => {
    const { compactor, scripted, events, store, ids } = bench({ prepare: async () => given(ids) });
    const result = await compactor.compact(undefined);
    const { place, ...rest } = expected as { place: number };
    expect(result).toEqual({ ...rest, firstKeptEntryId: ids[place] });
    expect(events.at(-1)).toEqual({
      type: "compaction_end",
      reason: "manual",
      result,
      aborted: false,
      willRetry: false,
    });
    expect(store.getLeafEntry()).toMatchObject({ type: "compaction", summary: "By hand", fromHook: true });
    expect(scripted.requests).toEqual([]);
  });

  test("details of a hook are not taken for file lists", async () => {
    const { compactor, scripted, conversation } = bench({
      prepare: async ({ instructions }) =>
        instructions ? { summary: "By hand", details: { readFiles: ["x"], modifiedFiles: ["y"] } } : undefined,
    });
    await compactor.compact("hook");
    conversation.append(user(tokens(40, "question three")));
    scripted.reply("Sum");
    expect((await compactor.compact(undefined)).details).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  test("one that throws fails the compaction", async () => {
    const { compactor, store } = bench({ prepare: () => Promise.reject(new Error("Hook broke")) });
    await expect(compactor.compact(undefined)).rejects.toMatchObject({ message: "Hook broke" });
    expect(store.getEntries().filter(({ type }) => type === "compaction")).toEqual([]);
  });

  test("an abort while one waits counts", async () => {
    const pause = hold();
    const { compactor, events } = bench({
      prepare: async (_, signal) => {
        await pause.wait(signal);
        return { summary: "Too late" };
      },
    });
    const compacting = compactor.compact(undefined);
    compacting.catch(() => {});
    await pause.reached;
    expect(await compactor.abort()).toBe(1);
    await expect(compacting).rejects.toMatchObject({ code: "cancelled" });
    expect(events.at(-1)).toMatchObject({ type: "compaction_end", aborted: true });
  });
});

describe("RunRecovery: requests of a summary", () => {
  test("get the session's options, without tools, thinking or cache", async () => {
    const { compactor, scripted } = bench();
    scripted.reply("Sum");
    await compactor.compact(undefined);
    const [request] = scripted.requests;
    expect(request?.options).toMatchObject({
      apiKey: "key",
      maxTokens: 200,
      thinkingLevel: "off",
      cacheRetention: "none",
    });
    expect(request?.context.tools ?? []).toEqual([]);
    expect(request?.context.messages.map(({ role }) => role)).toEqual(["user"]);
  });

  test("a key that is missing fails the compaction with its text", async () => {
    const { compactor, events } = bench({ requestOptions: () => Promise.reject(new Error('No key for "x"')) });
    await expect(compactor.compact(undefined)).rejects.toMatchObject({ message: 'No key for "x"' });
    expect(events.map(({ type }) => type)).toEqual(["compaction_start", "compaction_end"]);
  });

  test("a session that cannot be taken for writing refuses before anything is announced", async () => {
    const { compactor, events, scripted } = bench();
    const locked = compactor.compact(undefined, () => Promise.reject(new Error("Locked")));
    expect(compactor.isRunning).toBe(true);
    await expect(locked).rejects.toThrow("Locked");
    expect([events, compactor.isRunning]).toEqual([[], false]);
    scripted.reply("Sum");
    expect(await compactor.compact(undefined, async () => {})).toMatchObject({ summary: "Sum" });
  });

  test("abort while the session is waited for", async () => {
    const { compactor, events } = bench();
    const lock = hold();
    const compacting = compactor.compact(undefined, () => lock.wait().then(() => {}));
    compacting.catch(() => {});
    const aborted = compactor.abort();
    lock.release();
    expect(await aborted).toBe(1);
    await expect(compacting).rejects.toMatchObject({ code: "cancelled" });
    expect(events).toEqual([
      { type: "compaction_start", reason: "manual" },
      { type: "compaction_end", reason: "manual", aborted: true, willRetry: false },
    ]);
  });
});

describe("RunRecovery: what follows a failed answer", () => {
  const failed = (kind: "overflow" | "overloaded" | "auth") =>
    assistant("", { stopReason: "error", errorMessage: kind, error: { kind } });
  const { signal } = new AbortController();

  test("a kind that has no remedy: nothing", () => {
    const { recovery } = bench();
    expect(recovery.hooks.recover(failed("auth"), signal)).toBeUndefined();
    expect(recovery.hooks.recover(assistant("Fine"), signal)).toBeUndefined();
  });

  test("a transient one: another attempt, the failed answer forgotten", async () => {
    const { recovery, conversation } = bench();
    const answer = failed("overloaded");
    conversation.append(answer);
    const plan = recovery.hooks.recover(answer, signal);
    expect(plan?.willRetry).toBe(true);
    expect(conversation.messages).toContain(answer);
    expect(await plan?.proceed()).toBe(true);
    expect(conversation.messages).not.toContain(answer);
  });

  test("a context that did not fit: room, then another attempt; an abort meanwhile gives both up", async () => {
    const { recovery, conversation, scripted } = bench();
    const answer = failed("overflow");
    conversation.append(answer);
    const pause = hold();
    scripted.reply(pause, "Sum");
    const abort = new AbortController();
    const plan = recovery.hooks.recover(answer, abort.signal);
    expect(plan?.willRetry).toBe(true);
    const going = plan?.proceed();
    await pause.reached;
    abort.abort();
    expect(await going).toBe(false);
    expect(conversation.messages).toContain(answer);
  });

  test("a user's message lets the next overflow be recovered from", async () => {
    const { recovery, compactor, conversation, scripted } = bench();
    for (const expected of [true, true]) {
      const answer = failed("overflow");
      conversation.append(user(tokens(40, "again")));
      conversation.append(answer);
      scripted.reply("Sum");
      compactor.beginUserTurn();
      expect(await recovery.hooks.recover(answer, signal)?.proceed()).toBe(expected);
    }
    const answer = failed("overflow");
    conversation.append(answer);
    expect(compactor.willRecover(answer)).toBe(false);
    expect(await recovery.hooks.recover(answer, signal)?.proceed()).toBe(false);
  });

  test("a summary's own failure is retried as the switch says", async () => {
    const { recovery, compactor, scripted, events } = bench();
    recovery.retries.enabled = false;
    scripted.reply(fail("overloaded", "529"));
    await expect(compactor.compact(undefined)).rejects.toThrow("529");
    expect(events.map(({ type }) => type)).toEqual(["compaction_start", "compaction_end"]);
  });
});
