import { emptyUsage, type Model, type Usage } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import type { AgentMessage } from "../../src/core/messages.js";
import { sessionStats } from "../../src/core/stats.js";
import { contextUse, estimateTokens } from "../../src/core/token-estimate.js";
import type { SessionEntry } from "../../src/sessions/entries.js";
import { UsageTotals } from "../../src/sessions/usage-totals.js";
import { assistant, user } from "./messages.js";

const usage = (input: number, output: number, cost = 0): Usage => ({
  ...emptyUsage(),
  input,
  output,
  cacheRead: 1,
  cacheWrite: 2,
  totalTokens: input + output + 3,
  cost: { input: cost, output: 0, cacheRead: 0, cacheWrite: 0, total: cost },
});
const model = { contextWindow: 1000 } as Model;
const place = { id: "1", parentId: null, timestamp: "" };
const entry = (message: AgentMessage): SessionEntry => ({ type: "message", ...place, message });
const result = (facts: object = {}) => ({
  role: "toolResult" as const,
  toolCallId: "a",
  toolName: "t",
  content: [],
  isError: false,
  timestamp: 0,
  ...facts,
});
const call = { type: "toolCall" as const, id: "a", name: "t", arguments: {} };

function sumOf(entries: readonly SessionEntry[]) {
  const totals = new UsageTotals();
  for (const each of entries) totals.add(each);
  return totals.sum;
}

describe("sessionStats", () => {
  test("totals are those of all branches, counts those of the context", () => {
    const inContext: AgentMessage[] = [
      user("hi"),
      assistant("", { content: [call, call], usage: usage(10, 20, 0.5) }),
      result({ usage: usage(1, 1, 0.25) }),
      result(),
      assistant("Done", { usage: usage(100, 50) }),
    ];
    const entries: SessionEntry[] = [
      { type: "model_change", ...place, provider: "p", modelId: "m" },
      ...inContext.map(entry),
      entry(assistant("Left behind", { usage: usage(1000, 0, 1) })),
      { type: "compaction", ...place, summary: "", firstKeptEntryId: "1", tokensBefore: 1, usage: usage(2, 2) },
      { type: "branch_summary", ...place, summary: "", fromId: "1", usage: usage(3, 3) },
      { type: "usage", ...place, kind: "title", usage: usage(4, 4) },
    ];
    expect(
      sessionStats(
        { sessionFile: "/s.jsonl", sessionId: "id" },
        sumOf(entries),
        { messages: inContext, freshFrom: 0 },
        model,
      ),
    ).toEqual({
      sessionFile: "/s.jsonl",
      sessionId: "id",
      userMessages: 1,
      assistantMessages: 2,
      toolCalls: 2,
      toolResults: 2,
      totalMessages: 5,
      tokens: { input: 1120, output: 80, cacheRead: 7, cacheWrite: 14, total: 1221 },
      cost: 1.75,
      contextUsage: { tokens: 153, contextWindow: 1000, percent: (153 / 1000) * 100 },
    });
  });

  test("a session in memory, without a model, has neither file nor context use", () => {
    expect(
      sessionStats({ sessionFile: undefined, sessionId: "id" }, sumOf([]), { messages: [], freshFrom: 0 }, null),
    ).toEqual({
      sessionId: "id",
      userMessages: 0,
      assistantMessages: 0,
      toolCalls: 0,
      toolResults: 0,
      totalMessages: 0,
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      cost: 0,
    });
  });
});

describe("contextUse", () => {
  const summary: AgentMessage = { role: "compactionSummary", summary: "s".repeat(40), tokensBefore: 900, timestamp: 0 };

  test.each<[string, AgentMessage[], number | null]>([
    ["nothing", [], 0],
    ["an estimate before the first report", [user("x".repeat(40))], 10],
    ["the last report", [user("x"), assistant("a", { usage: usage(50, 47) })], 100],
    [
      "the last report and an estimate of what follows",
      [assistant("a", { usage: usage(50, 47) }), user("x".repeat(41))],
      111,
    ],
    [
      "an aborted answer counts neither as a report nor as text",
      [
        assistant("a", { usage: usage(50, 47) }),
        assistant("x".repeat(8), { stopReason: "aborted", usage: usage(1, 1) }),
      ],
      100,
    ],
    ["unknown right after a compaction", [summary, assistant("kept", { usage: usage(50, 47) })], null],
    ["known again with the first report after it", [summary, user("kept"), assistant("a", { usage: usage(5, 2) })], 10],
  ])("%s", (_, context, tokens) => {
    const freshFrom = context[0]?.role === "compactionSummary" ? 2 : 0;
    expect(contextUse({ messages: context, freshFrom }, model)).toEqual({
      tokens,
      contextWindow: 1000,
      percent: tokens === null ? null : (tokens / 1000) * 100,
    });
  });

  test("a model whose window is unknown has none", () => {
    expect(contextUse({ messages: [user("x")], freshFrom: 0 }, { contextWindow: 0 } as Model)).toBeUndefined();
  });
});

describe("estimateTokens", () => {
  test.each<[string, AgentMessage, number]>([
    ["text, rounded up", user("12345"), 2],
    ["a plain string", { role: "user", content: "1234", timestamp: 0 }, 1],
    [
      "an image",
      { role: "user", content: [{ type: "image", data: "A".repeat(9999), mimeType: "" }], timestamp: 0 },
      1200,
    ],
    ["thinking", assistant("", { content: [{ type: "thinking", thinking: "12345678" }] }), 2],
    ["a call, with its arguments", assistant("", { content: [{ ...call, arguments: { a: 1 } }] }), 2],
    [
      "a command and its output",
      { role: "bashExecution", command: "ls", output: "123456", cancelled: false, truncated: false, timestamp: 0 },
      2,
    ],
    ["a summary", { role: "branchSummary", summary: "1234", fromId: null, timestamp: 0 }, 1],
    ["no content at all", { role: "user", timestamp: 0 } as unknown as AgentMessage, 0],
  ])("%s", (_, message, tokens) => {
    expect(estimateTokens(message)).toBe(tokens);
  });
});
