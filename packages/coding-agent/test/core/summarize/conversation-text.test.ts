import { describe, expect, test } from "vitest";
import type { AgentMessage } from "../../../src/core/messages.js";
import { conversationParagraphs } from "../../../src/core/summarize/conversation-text.js";
import { assistant, user } from "../messages.js";

const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
const result = (text: string, isError = false): AgentMessage => ({
  role: "toolResult",
  toolCallId: "1",
  toolName: "read",
  content: [{ type: "text", text }, image],
  isError,
  timestamp: 0,
});

describe("conversationParagraphs", () => {
  test("one paragraph a message: who said what, calls with their arguments, images by name, no thinking", () => {
    const messages: AgentMessage[] = [
      { role: "compactionSummary", summary: "Before", tokensBefore: 1, timestamp: 0 },
      { ...user("look"), content: [{ type: "text", text: "look" }, image] },
      assistant("", {
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "I see" },
          { type: "text", text: " \n" },
          { type: "toolCall", id: "1", name: "read", arguments: { path: "a" } },
        ],
      }),
      result("content"),
      result("gone", true),
      assistant("Half", { stopReason: "error" }),
      assistant("", { content: [{ type: "thinking", thinking: "hm" }] }),
      {
        role: "bashExecution",
        command: "ls",
        output: "a",
        exitCode: 0,
        cancelled: false,
        truncated: false,
        timestamp: 0,
      },
      {
        role: "bashExecution",
        command: "env",
        output: "secret",
        exitCode: 0,
        cancelled: false,
        truncated: false,
        excludeFromContext: true,
        timestamp: 0,
      },
    ];
    expect(conversationParagraphs(messages)).toEqual([
      "[User]: The earlier part of this conversation was replaced by this summary to make room:\n\n<summary>\nBefore\n</summary>",
      "[User]: look\n(an image)",
      '[Agent]: I see\n[Agent calls read]: {"path":"a"}',
      "[Result of read]: content\n(an image)",
      "[Result of read, failed]: gone\n(an image)",
      "[User]: Ran `ls`\n```\na\n```",
    ]);
  });

  test("a long result is clipped to 2,000 characters, never inside one", () => {
    const [exact, long, pair] = conversationParagraphs([
      { ...result(""), content: [{ type: "text", text: "x".repeat(2000) }] } as AgentMessage,
      { ...result(""), content: [{ type: "text", text: "x".repeat(2500) }] } as AgentMessage,
      { ...result(""), content: [{ type: "text", text: `${"x".repeat(1999)}😀${"y".repeat(10)}` }] } as AgentMessage,
    ]);
    expect(exact).toBe(`[Result of read]: ${"x".repeat(2000)}`);
    expect(long).toBe(`[Result of read]: ${"x".repeat(2000)}\n(500 more characters)`);
    expect(pair).toBe(`[Result of read]: ${"x".repeat(1999)}\n(12 more characters)`);
  });

  test("arguments are clipped as well; what was said is not", () => {
    const content = "x".repeat(3000);
    const [said, called] = conversationParagraphs([
      user(content),
      assistant("", { content: [{ type: "toolCall", id: "1", name: "write", arguments: { content } }] }),
    ]);
    expect(said).toBe(`[User]: ${content}`);
    expect(called).toBe(`[Agent calls write]: {"content":"${"x".repeat(1988)}\n(1014 more characters)`);
  });
});
