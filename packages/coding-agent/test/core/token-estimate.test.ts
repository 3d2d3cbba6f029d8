import { emptyUsage } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import type { AgentMessage } from "../../src/core/messages.js";
import { contextTokens, contextUse, estimateTokens } from "../../src/core/token-estimate.js";
import { tokens } from "./long-session.js";
import { assistant, user } from "./messages.js";
import { testModel } from "./session.js";

const reported = (totalTokens: number, facts: object = {}) => ({ usage: { ...emptyUsage(), totalTokens, ...facts } });
const text = (count: number) => ({ type: "text" as const, text: tokens(count) });
const image = { type: "image" as const, data: "x".repeat(9999), mimeType: "image/png" };

describe("estimateTokens", () => {
  const shell = { role: "bashExecution", command: tokens(2), output: tokens(3), exitCode: 0, timestamp: 0 };
  const flags = { cancelled: false, truncated: false };

  test.each<[string, object, number]>([
    ["characters / 4, rounded up", user("abcde"), 2],
    ["an old plain text", { ...user(""), content: tokens(3) }, 3],
    ["blocks together", { ...user(""), content: [text(1), text(2)] }, 3],
    ["an image", { ...user(""), content: [text(1), image] }, 1201],
    [
      "thinking and calls",
      assistant("", {
        content: [
          { type: "thinking", thinking: tokens(2), thinkingSignature: "x".repeat(500) },
          { type: "toolCall", id: "1", name: "read", arguments: { path: "12" } },
        ],
      }),
      7,
    ],
    ["a failed answer, never sent", assistant(tokens(9), { stopReason: "error" }), 0],
    ["an aborted answer, never sent", assistant(tokens(9), { stopReason: "aborted" }), 0],
    ["a cut answer, which is", assistant(tokens(9), { stopReason: "length" }), 9],
    ["a command", { ...shell, ...flags }, 5],
    ["a command kept out", { ...shell, ...flags, excludeFromContext: true }, 0],
    ["a summary", { role: "compactionSummary", summary: tokens(4), tokensBefore: 1, timestamp: 0 }, 4],
    ["a branch's summary", { role: "branchSummary", summary: tokens(4), fromId: null, timestamp: 0 }, 4],
    ["an extension's text", { role: "custom", customType: "x", content: tokens(4), display: true, timestamp: 0 }, 4],
    ["a message without content", { role: "custom", customType: "x", display: true, timestamp: 0 }, 0],
  ])("%s", (_, message, expected) => {
    expect(estimateTokens(message as AgentMessage)).toBe(expected);
  });
});

describe("contextTokens", () => {
  const of = (messages: AgentMessage[], freshFrom = 0) => contextTokens({ messages, freshFrom });

  test("the last report, and an estimate of what came after it", () => {
    expect(of([])).toBe(0);
    expect(of([user(tokens(5)), assistant(tokens(7))])).toBe(12);
    expect(of([user(tokens(5)), assistant("a", reported(100)), user(tokens(3))])).toBe(103);
    expect(of([user("a"), assistant("a", reported(100)), user("a"), assistant("a", reported(40))])).toBe(40);
  });

  test.each<[string, AgentMessage]>([
    ["failed", assistant("", { ...reported(9), stopReason: "error" })],
    ["was aborted", assistant("", { ...reported(9), stopReason: "aborted" })],
    ["reported nothing", assistant("")],
    ["has an estimate only", assistant("", reported(9, { estimated: true }))],
  ])("an answer that %s is no report", (_, message) => {
    expect(of([user("a"), assistant("a", reported(100)), message, user(tokens(2))])).toBe(102);
  });

  test("a report from before a compaction does not count any more", () => {
    const kept = [user(tokens(2)), assistant(tokens(2), reported(100))];
    const summary: AgentMessage = { role: "compactionSummary", summary: tokens(3), tokensBefore: 100, timestamp: 0 };
    expect(of([summary, ...kept], 3)).toBe(7);
    expect(of([summary, ...kept, user(tokens(1))], 3)).toBe(8);
    expect(of([summary, ...kept, user("a"), assistant("a", reported(20))], 3)).toBe(20);
  });
});

describe("contextUse", () => {
  const model = () => testModel({ contextWindow: 200 }).model;

  test("tokens and percent of the window", () => {
    const context = { messages: [user("a"), assistant("a", reported(50))], freshFrom: 0 };
    expect(contextUse(context, model())).toEqual({ tokens: 50, contextWindow: 200, percent: 25 });
    expect(contextUse({ messages: [], freshFrom: 0 }, model())).toEqual({ tokens: 0, contextWindow: 200, percent: 0 });
  });

  test("nobody knows after a compaction, until an answer reports again", () => {
    const summary: AgentMessage = { role: "compactionSummary", summary: "a", tokensBefore: 100, timestamp: 0 };
    const unknown = { tokens: null, contextWindow: 200, percent: null };
    expect(contextUse({ messages: [summary], freshFrom: 1 }, model())).toEqual(unknown);
    expect(contextUse({ messages: [summary, user("a")], freshFrom: 1 }, model())).toEqual(unknown);
    const answered = { messages: [summary, user("a"), assistant("a", reported(20))], freshFrom: 1 };
    expect(contextUse(answered, model())).toEqual({ tokens: 20, contextWindow: 200, percent: 10 });
  });

  test("nothing without a model or a window", () => {
    const context = { messages: [], freshFrom: 0 };
    expect(contextUse(context, null)).toBeUndefined();
    expect(contextUse(context, { ...model(), contextWindow: 0 })).toBeUndefined();
  });
});
