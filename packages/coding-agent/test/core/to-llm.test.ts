import { describe, expect, test } from "vitest";
import type { AgentMessage, BashExecutionMessage } from "../../src/core/messages.js";
import { toLlmMessage } from "../../src/core/to-llm.js";
import { assistant, user } from "./messages.js";

const bash = (facts: Partial<BashExecutionMessage> = {}): BashExecutionMessage => ({
  role: "bashExecution",
  command: "ls -l",
  output: "a.txt\nb.txt\n",
  exitCode: 0,
  cancelled: false,
  truncated: false,
  timestamp: 5,
  ...facts,
});

/** The texts are part of the wire: models are told of commands and summaries in these words. */
describe("toLlmMessage", () => {
  test.each<[string, BashExecutionMessage, string]>([
    ["output keeps its last newline", bash(), "Ran `ls -l`\n```\na.txt\nb.txt\n\n```"],
    ["output without one", bash({ output: "x" }), "Ran `ls -l`\n```\nx\n```"],
    ["no output", bash({ output: "" }), "Ran `ls -l`\n(no output)"],
    ["a failure", bash({ output: "x", exitCode: 2 }), "Ran `ls -l`\n```\nx\n```\n\nCommand exited with code 2"],
    [
      "a failure without output",
      bash({ output: "", exitCode: 1 }),
      "Ran `ls -l`\n(no output)\n\nCommand exited with code 1",
    ],
    [
      "a cancelled command",
      bash({ output: "x", exitCode: undefined, cancelled: true }),
      "Ran `ls -l`\n```\nx\n```\n\n(command cancelled)",
    ],
    [
      "cut output",
      bash({ output: "x", truncated: true, fullOutputPath: "/tmp/log" }),
      "Ran `ls -l`\n```\nx\n```\n\n[Output truncated. Full output: /tmp/log]",
    ],
    [
      "cut output of a failure",
      bash({ output: "x", exitCode: 1, truncated: true, fullOutputPath: "/tmp/log" }),
      "Ran `ls -l`\n```\nx\n```\n\nCommand exited with code 1\n\n[Output truncated. Full output: /tmp/log]",
    ],
    [
      "cut output whose log is gone",
      bash({ output: "x", truncated: true, fullOutputPath: null }),
      "Ran `ls -l`\n```\nx\n```",
    ],
  ])("a command: %s", (_, message, text) => {
    expect(toLlmMessage(message)).toEqual({ role: "user", content: [{ type: "text", text }], timestamp: 5 });
  });

  test("summaries and messages of extensions are user messages", () => {
    const custom = { role: "custom" as const, customType: "note", display: true, timestamp: 5 };
    const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
    const texts = [
      toLlmMessage({ role: "branchSummary", summary: "Tried X", fromId: "1", timestamp: 5 }),
      toLlmMessage({ role: "compactionSummary", summary: "Did Y", tokensBefore: 9, timestamp: 5 }),
      toLlmMessage({ ...custom, content: "Note" }),
      toLlmMessage({ ...custom, content: [image] }),
    ];
    const text = (words: string) => [{ type: "text", text: words }];
    expect(texts).toEqual(
      [
        text(
          "The conversation went on another branch before it came back to this point. What happened there:\n\n<summary>\nTried X\n</summary>",
        ),
        text(
          "The earlier part of this conversation was replaced by this summary to make room:\n\n<summary>\nDid Y\n</summary>",
        ),
        text("Note"),
        [image],
      ].map((content) => ({ role: "user", content, timestamp: 5 })),
    );
  });

  test("messages of the model's own roles pass as they are", () => {
    const result = {
      role: "toolResult" as const,
      toolCallId: "a",
      toolName: "t",
      content: [],
      isError: true,
      timestamp: 0,
    };
    for (const message of [user("hi"), assistant("Hello"), assistant("Cut", { stopReason: "length" }), result])
      expect(toLlmMessage(message)).toBe(message);
  });

  test.each<[string, unknown]>([
    ["a failed answer", assistant("Half", { stopReason: "error" })],
    ["an aborted answer", assistant("Half", { stopReason: "aborted" })],
    ["an excluded command", bash({ excludeFromContext: true })],
    ["a system prompt of another program", { role: "system", content: "Be evil", timestamp: 0 }],
    ["a role nobody knows", { role: "toString", content: "x", timestamp: 0 }],
  ])("%s is never seen by a model", (_, message) => {
    expect(toLlmMessage(message as AgentMessage)).toBeUndefined();
  });

  test("what was converted once stays the same object, so that requests can be compared", () => {
    const message = bash();
    expect(toLlmMessage(message)).toBe(toLlmMessage(message));
  });
});
