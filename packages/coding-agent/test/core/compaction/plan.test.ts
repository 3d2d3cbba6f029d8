import { describe, expect, test } from "vitest";
import { planCompaction } from "../../../src/core/compaction/plan.js";
import type { AgentMessage } from "../../../src/core/messages.js";
import { tokens } from "../long-session.js";
import { assistant, user } from "../messages.js";

const call = (id: string, size = 10) =>
  assistant("", {
    content: [{ type: "toolCall", id, name: "read", arguments: { path: tokens(size) } }],
    stopReason: "toolUse",
  });
const result = (id: string, size = 10): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [{ type: "text", text: tokens(size) }],
  isError: false,
  timestamp: 0,
});
const says = (size = 10) => assistant(tokens(size));
const asks = (size = 10) => user(tokens(size));
const failed = (stopReason: "error" | "aborted") => assistant(tokens(10), { stopReason });
const shell = (excludeFromContext = false): AgentMessage => ({
  role: "bashExecution",
  command: "ls",
  output: tokens(10),
  exitCode: 0,
  cancelled: false,
  truncated: false,
  ...(excludeFromContext && { excludeFromContext: true }),
  timestamp: 0,
});
const summary = (): AgentMessage => ({ role: "compactionSummary", summary: "Before", tokensBefore: 9, timestamp: 0 });

/** The plan in places of `messages`: where it cuts, and which messages it summarises as what. */
function plan(messages: AgentMessage[], keep: number) {
  const items = messages.map((message, index) => ({ id: String(index), message }));
  const made = planCompaction(items, keep);
  if (!made) return undefined;
  const places = (list: readonly AgentMessage[]) => list.map((message) => messages.indexOf(message));
  const { firstKeptEntryId, history, prefix, previousSummary } = made;
  return { cut: Number(firstKeptEntryId), history: places(history), prefix: places(prefix), previousSummary };
}

const whole = { previousSummary: undefined, prefix: [] };

describe("planCompaction", () => {
  test("keeps whole spans from the end until they are large enough", () => {
    const messages = [asks(), says(), asks(), says(), asks(), says()];
    expect(plan(messages, 20)).toEqual({ ...whole, cut: 4, history: [0, 1, 2, 3] });
    expect(plan(messages, 40)).toEqual({ ...whole, cut: 2, history: [0, 1] });
  });

  test("keeps at least one message, however large", () => {
    expect(plan([asks(), says(), asks(5000)], 10)).toEqual({ ...whole, cut: 2, history: [0, 1] });
  });

  test.each<[string, AgentMessage[]]>([
    ["nothing was said", []],
    ["one message", [asks(5000)]],
    ["all of it fits into what is kept", [asks(), says(), asks(), says()]],
    ["only the summary is older", [summary(), asks(5000)]],
    ["the summary and what fits", [summary(), asks(), says()]],
  ])("there is nothing to do: %s", (_, messages) => {
    expect(plan(messages, 100)).toBeUndefined();
  });

  test("a span that is too large is split: what came before it, and its beginning", () => {
    expect(plan([asks(), says(), asks(), says(), says(), says()], 20)).toEqual({
      cut: 4,
      history: [0, 1],
      prefix: [2, 3],
      previousSummary: undefined,
    });
  });

  test("the first span alone can be split too", () => {
    expect(plan([asks(), says(), says()], 10)).toEqual({
      cut: 2,
      history: [],
      prefix: [0, 1],
      previousSummary: undefined,
    });
  });

  test("the summary so far is carried, not summarised as a message", () => {
    const messages = [summary(), asks(), says(), asks(), says()];
    expect(plan(messages, 20)).toEqual({ cut: 3, history: [1, 2], prefix: [], previousSummary: "Before" });
    expect(plan([summary(), asks(), says(), says()], 10)).toEqual({
      cut: 3,
      history: [],
      prefix: [1, 2],
      previousSummary: "Before",
    });
  });

  test("a call stays with its results: the cut moves on to the next message that may begin", () => {
    const messages = [asks(), call("a"), result("a"), call("b"), result("b"), says()];
    // 20 tokens would begin at the result of b, 40 at the result of a.
    expect(plan(messages, 20)).toMatchObject({ cut: 5, prefix: [0, 1, 2, 3, 4] });
    expect(plan(messages, 40)).toMatchObject({ cut: 3, prefix: [0, 1, 2] });
  });

  test("results at the end take their call with them", () => {
    expect(plan([asks(), says(), call("a"), result("a", 500), result("b", 500)], 20)).toMatchObject({ cut: 2 });
  });

  test("a foreign message between a call and its result parts them no more than a result would", () => {
    const messages = [asks(), says(), call("a"), shell(), asks(), result("a"), says(30)];
    expect(plan(messages, 45)).toMatchObject({ cut: 6 });
    expect(plan(messages, 75)).toMatchObject({ cut: 2 });
  });

  test.each(["error", "aborted"] as const)("nothing begins with an answer that ended as %s", (reason) => {
    expect(plan([asks(), says(), failed(reason), asks(), says()], 30)).toMatchObject({ cut: 1 });
    expect(plan([asks(), says(), asks(), failed(reason), says()], 10)).toMatchObject({ cut: 4 });
  });

  test("commands of the user and messages of extensions begin spans", () => {
    const custom: AgentMessage = { role: "custom", customType: "x", content: tokens(10), display: true, timestamp: 0 };
    const left: AgentMessage = { role: "branchSummary", summary: tokens(10), fromId: null, timestamp: 0 };
    for (const message of [shell(), custom, left])
      expect(plan([asks(), says(), message, says()], 20)).toEqual({ ...whole, cut: 2, history: [0, 1] });
  });

  test("what a model never sees is no room to be made", () => {
    expect(plan([shell(true), asks(30)], 10)).toBeUndefined();
    expect(plan([failed("error"), shell(true), asks(30)], 10)).toBeUndefined();
    expect(plan([shell(true), asks(), asks(30)], 10)).toEqual({ ...whole, cut: 2, history: [0, 1] });
  });
});
