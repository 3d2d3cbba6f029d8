import { fail, hold, toolCall, usage } from "@earendil-works/pi-ai/testing";
import { describe, expect, test } from "vitest";
import { type LongSession, longSession } from "./long-session.js";
import { textOf } from "./messages.js";

const texts = ({ session }: LongSession) =>
  session.messages.map((message) => (message.role === "branchSummary" ? message.summary : textOf(message)));
const idOf = ({ store }: LongSession, text: string) =>
  store.getEntries().find((entry) => entry.type === "message" && textOf(entry.message) === text)?.id ?? "";

/** "one" and "two" answered in a row; the second used tools. */
async function bench(): Promise<LongSession> {
  const made = longSession({ tools: [] });
  made.scripted
    .reply("First")
    .reply(toolCall("edit", { path: "a.ts" }))
    .reply("Second");
  await made.say("one");
  await made.say("two");
  made.events.length = 0;
  return made;
}

describe("navigate", () => {
  test("goes on from another entry, without a word; what is left stays in the tree", async () => {
    const made = await bench();
    const { session, store, scripted, requests, events } = made;
    const target = idOf(made, "First");
    const count = store.getEntries().length;
    expect(await session.navigate({ entryId: target })).toEqual({ cancelled: false, leafId: target });
    expect([texts(made), store.getLeafId(), store.getEntries().length]).toEqual([["one", "First"], target, count]);
    expect(events).toEqual([]);
    scripted.reply("Third");
    await made.say("three");
    expect(requests().at(-1)).toEqual(["one", "First", "three"]);
    expect(store.getChildren(target).map((entry) => (entry.type === "message" ? textOf(entry.message) : ""))).toEqual([
      "two",
      "three",
    ]);
    // And back to where the other branch ended.
    expect(await session.navigate({ entryId: idOf(made, "Second") })).toMatchObject({ cancelled: false });
    expect(texts(made)).toEqual(["one", "First", "two", "edit()", expect.any(String), "Second"]);
  });

  test("to where the leaf is changes nothing, with or without a summary", async () => {
    const made = await bench();
    const { session, store, scripted } = made;
    const leaf = store.getLeafId() as string;
    for (const summarize of [false, true])
      expect(await session.navigate({ entryId: leaf, summarize })).toEqual({ cancelled: false, leafId: leaf });
    expect(scripted.requests).toHaveLength(3);
    expect(texts(made)).toHaveLength(6);
  });

  test("with a summary of what is left: entry, message, files, usage, and the next request", async () => {
    const made = await bench();
    const { session, store, scripted, requests } = made;
    const target = idOf(made, "First");
    const left = store.getLeafId();
    scripted.reply(usage({ input: 40, output: 4 }), "It went wrong");
    const { tokens } = session.stats();
    const moved = await session.navigate({ entryId: target, summarize: true, instructions: "Be brief" });
    const summary = "It went wrong\n\n<modified-files>\na.ts\n</modified-files>";
    expect(moved).toEqual({ cancelled: false, leafId: store.getLeafId(), summary });
    expect(store.getLeafEntry()).toEqual({
      type: "branch_summary",
      id: moved.leafId,
      parentId: target,
      timestamp: expect.any(String),
      fromId: left,
      summary,
      details: { readFiles: [], modifiedFiles: ["a.ts"] },
      usage: expect.objectContaining({ input: 40, output: 4, totalTokens: 44 }),
    });
    const request = requests().at(-1)?.[0] ?? "";
    expect(request).toContain("[User]: two");
    expect(request).not.toContain("[User]: one");
    expect(request).toContain("The user asks of this summary: Be brief");
    expect(texts(made)).toEqual(["one", "First", summary]);
    expect(session.stats().tokens).toMatchObject({ input: tokens.input + 40, output: tokens.output + 4 });
    scripted.reply("Third");
    await made.say("three");
    expect(requests().at(-1)).toEqual(["one", "First", expect.stringContaining("It went wrong"), "three"]);
  });

  test("to an entry after a compaction of the branch that is left shows all messages again", async () => {
    const made = await bench();
    const { session, store, scripted } = made;
    const target = idOf(made, "Second");
    store.appendCompaction("Sum", target, 100);
    await session.navigate({ entryId: store.getLeafId() as string });
    expect(session.messages.map(({ role }) => role)).toEqual(["compactionSummary", "assistant"]);
    scripted.reply("What was left");
    await session.navigate({ entryId: target, summarize: true });
    expect(session.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "branchSummary",
    ]);
    expect(session.stats().contextUsage?.tokens).toEqual(expect.any(Number));
  });

  test("what a model never saw needs no summary", async () => {
    const made = await bench();
    const { session, store, scripted } = made;
    const target = store.getLeafId() as string;
    scripted.reply(fail("auth", "401"));
    await session.bash({ command: "true", excludeFromContext: true });
    const count = store.getEntries().length;
    expect(await session.navigate({ entryId: target, summarize: true })).toEqual({ cancelled: false, leafId: target });
    expect(store.getEntries()).toHaveLength(count);
  });

  test.each<[string, Parameters<LongSession["scripted"]["reply"]>, string]>([
    ["fails", [fail("auth", "401: no")], "401: no"],
    ["is empty", [" "], "The summary is empty"],
  ])("a summary that %s leaves the leaf where it is", async (_, steps, message) => {
    const made = await bench();
    const { session, store, scripted } = made;
    const before = { leaf: store.getLeafId(), texts: texts(made), entries: store.getEntries() };
    scripted.reply(...steps);
    await expect(session.navigate({ entryId: idOf(made, "First"), summarize: true })).rejects.toMatchObject({
      code: "provider_error",
      message,
    });
    expect({ leaf: store.getLeafId(), texts: texts(made), entries: store.getEntries() }).toEqual(before);
  });

  test("a transient failure of the summary is retried, and says that it is a branch's", async () => {
    const made = await bench();
    const { session, scripted, events } = made;
    scripted.reply(fail("overloaded", "529")).reply("It went wrong");
    expect(await session.navigate({ entryId: idOf(made, "First"), summarize: true })).toMatchObject({
      cancelled: false,
    });
    expect(events).toEqual([
      {
        type: "summarization_retry_scheduled",
        attempt: 1,
        maxAttempts: 3,
        delayMs: 10,
        errorMessage: "529",
        error: { kind: "overloaded" },
      },
      { type: "summarization_retry_attempt_start", source: "branchSummary" },
      { type: "summarization_retry_finished" },
    ]);
  });

  test.each<[string, () => Parameters<LongSession["scripted"]["reply"]>]>([
    ["the request", () => ["So ", hold(), "far"]],
    ["a delay", () => [fail("overloaded", "529")]],
  ])("abort during %s answers it as cancelled, after its last event; the leaf stays", async (_, steps) => {
    const delay = hold();
    const made = longSession({ delay, tools: [] });
    const { session, store, scripted, events, outline } = made;
    scripted.reply("First").reply("Second");
    await made.say("one");
    await made.say("two");
    const leaf = store.getLeafId();
    const reply = steps();
    scripted.reply(...reply);
    const pause = reply.find((step) => typeof step === "object" && "reached" in step) as typeof delay | undefined;
    const navigating = session.navigate({ entryId: idOf(made, "First"), summarize: true });
    await (pause ?? delay).reached;
    expect(await session.abort()).toBe(1);
    const count = events.length;
    expect(await navigating).toEqual({ cancelled: true, leafId: leaf });
    expect([events.length, store.getLeafId()]).toEqual([count, leaf]);
    if (!pause) expect(outline().at(-1)).toBe("summarization_retry_finished");
    expect(await session.abort()).toBe(0);
    scripted.reply("Third");
    await made.say("three");
    expect(session.lastAssistantText()).toBe("Third");
  });

  test("while it is summarised, prompts, compactions and other moves are refused", async () => {
    const made = await bench();
    const { session, scripted } = made;
    const pause = hold();
    scripted.reply(pause, "Sum");
    const navigating = session.navigate({ entryId: idOf(made, "First"), summarize: true });
    await pause.reached;
    for (const refused of [session.prompt("x"), session.steer("x"), session.followUp("x"), session.compact()])
      await expect(refused).rejects.toMatchObject({ code: "busy", message: "The session is moving to another entry" });
    await expect(session.navigate({ entryId: idOf(made, "one") })).rejects.toMatchObject({ code: "busy" });
    pause.release();
    expect(await navigating).toMatchObject({ cancelled: false });
  });

  test("during a run it is refused", async () => {
    const made = await bench();
    const { session, scripted } = made;
    const pause = hold();
    scripted.reply(pause, "Hello");
    await session.prompt("hi");
    await pause.reached;
    await expect(session.navigate({ entryId: idOf(made, "First") })).rejects.toMatchObject({
      code: "busy",
      message: "The agent is busy. Abort it, or navigate when it has settled",
    });
    pause.release();
    await session.waitForIdle();
  });

  test("an entry that is not there, and a summary without a model", async () => {
    const made = await bench();
    await expect(made.session.navigate({ entryId: "nope", summarize: true })).rejects.toMatchObject({
      code: "not_found",
      message: "Entry not found: nope",
      field: "entryId",
    });
    const modelless = longSession({ store: made.store, other: { model: null } });
    await expect(modelless.session.navigate({ entryId: idOf(made, "First"), summarize: true })).rejects.toMatchObject({
      code: "no_model",
    });
    expect(await modelless.session.navigate({ entryId: idOf(made, "First") })).toMatchObject({ cancelled: false });
  });
});

describe("setLabel", () => {
  test("sets and clears a bookmark; an entry that is not there is refused", async () => {
    const made = await bench();
    const { session, store } = made;
    const id = idOf(made, "First");
    await session.setLabel(id, "here");
    expect(store.getLabel(id)).toBe("here");
    await session.setLabel(id, undefined);
    expect(store.getLabel(id)).toBeUndefined();
    await expect(session.setLabel("nope", "x")).rejects.toMatchObject({ code: "not_found", field: "entryId" });
    expect(texts(made)).toHaveLength(6);
  });
});
