import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExtensionAPI } from "../../src/extensions/api.js";
import {
  askBeforeToolCall,
  askUserBash,
  beforeCompact,
  beforeTree,
  changeHeaders,
  decideTrust,
  isCancelled,
  passInput,
  patchToolResult,
  proposeAt,
  replaceMessage,
  replacePayload,
  transformMessages,
} from "../../src/extensions/hooks.js";
import { runnerBench } from "./extensions.js";

const finished = {
  toolCall: { type: "toolCall" as const, id: "c", name: "probe", arguments: {} },
  args: {},
  result: { content: [{ type: "text" as const, text: "raw" }], details: {}, structuredContent: { a: 1 } },
  isError: false,
};

/** A runner whose extensions register handlers for one event. */
function withHandlers(name: string, ...handlers: ((event: never) => unknown)[]) {
  const bench = runnerBench(Math.max(handlers.length, 1));
  for (const [index, handler] of handlers.entries()) (bench.apis[index] as ExtensionAPI).on(name, handler);
  return bench;
}

const stumble = () => {
  throw new Error("I stumbled");
};

describe("passInput", () => {
  test("transformations chain, and what handles the text ends the round", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("continue", "transform", "handled", "throw", "nonsense"), { maxLength: 4 }),
        async (actions) => {
          const seen: string[] = [];
          const { runner, faults } = withHandlers(
            "input",
            ...actions.map((action) => ({ text }: { text: string }) => {
              seen.push(text);
              if (action === "throw") throw new Error("x");
              if (action === "transform") return { action, text: `${text}.` };
              return action === "nonsense" ? { action } : { action };
            }),
          );
          const result = await passInput(runner, { text: "t", source: "rpc" });
          const until = actions.includes("handled") ? actions.indexOf("handled") : actions.length;
          const before = actions.slice(0, until);
          const dots = ".".repeat(before.filter((action) => action === "transform").length);
          expect(result).toEqual(until < actions.length ? "handled" : { text: `t${dots}`, source: "rpc" });
          expect(seen).toHaveLength(Math.min(until + 1, actions.length));
          expect(faults).toHaveLength(before.filter((action) => action === "throw").length);
        },
      ),
      { seed: 3, numRuns: 100 },
    );
  });
});

describe("gates", () => {
  test.each<[string, (() => unknown)[], unknown]>([
    ["nobody says anything", [() => undefined], undefined],
    ["the first that blocks decides", [() => ({ block: true, reason: "no" }), stumble], { block: true, reason: "no" }],
    ["without a reason the extension is named", [() => ({ block: true })], { block: true, reason: "Blocked by one" }],
    ["a throw blocks", [stumble, () => ({ block: false })], { block: true, reason: "I stumbled" }],
    [
      "terminate goes along",
      [() => ({ block: true, reason: "no", terminate: true })],
      { block: true, reason: "no", terminate: true },
    ],
  ])("askBeforeToolCall: %s", async (_, handlers, expected) => {
    const { runner } = withHandlers("tool_call", ...handlers);
    expect(await askBeforeToolCall(runner, finished.toolCall, {})).toEqual(expected);
  });

  test("askBeforeToolCall: an interrupt blocks", async () => {
    const { runner } = withHandlers("tool_call", () => new Promise(() => {}));
    const verdict = askBeforeToolCall(runner, finished.toolCall, {});
    runner.interrupt();
    expect(await verdict).toEqual({ block: true, reason: "Aborted before it ran" });
  });

  test.each<[string, (() => unknown)[], boolean]>([
    ["a throw does not cancel", [stumble], false],
    ["the first cancel decides", [() => ({ cancel: true }), stumble], true],
    ["only true cancels", [() => ({ cancel: "yes" })], false],
  ])("isCancelled: %s", async (_, handlers, expected) => {
    const { runner } = withHandlers("session_before_fork", ...handlers);
    expect(await isCancelled(runner, "session_before_fork", { entryId: "e", position: "at" })).toBe(expected);
  });

  test("askUserBash: what is no answer is passed over, a throw blocks", async () => {
    const command = { command: "c", excludeFromContext: false, cwd: "/" };
    const answer = { result: { output: "o" } };
    const valid = withHandlers(
      "user_bash",
      () => ({ result: {} }),
      () => answer,
    );
    expect(await askUserBash(valid.runner, command)).toBe(answer);
    await expect(askUserBash(withHandlers("user_bash", stumble).runner, command)).rejects.toThrow("I stumbled");
  });

  test("decideTrust: the first yes or no", async () => {
    const { runner } = withHandlers(
      "project_trust",
      () => ({ trusted: "undecided" }),
      () => ({ trusted: "no", remember: true }),
      () => ({ trusted: "yes" }),
    );
    expect(await decideTrust(runner, { cwd: "/", mode: "print", ui: undefined })).toEqual({
      trusted: "no",
      remember: true,
    });
  });
});

describe("patchToolResult", () => {
  test("patches chain; structured data beside a replaced text goes", async () => {
    const { runner } = withHandlers(
      "tool_result",
      () => ({ content: [{ type: "text", text: "one" }] }),
      ({ content }: { content: { text: string }[] }) => ({ details: content[0]?.text, isError: true }),
    );
    expect(await patchToolResult(runner, finished)).toEqual({
      ...finished,
      isError: true,
      result: { content: [{ type: "text", text: "one" }], details: "one" },
    });
  });

  test("a throw fails closed, and ends the round", async () => {
    let later = false;
    const { runner } = withHandlers("tool_result", stumble, () => {
      later = true;
    });
    await expect(patchToolResult(runner, finished)).rejects.toThrow("I stumbled");
    expect(later).toBe(false);
  });
});

describe("chains", () => {
  test("messages: each handler sees the list of the one before; what is no list of messages is passed over", async () => {
    const message = (role: string) => ({ role });
    const { runner } = withHandlers(
      "context",
      ({ messages }: { messages: object[] }) => ({ messages: [...messages, message("b")] }),
      () => ({ messages: "none" }),
      () => ({ messages: [null] }),
      ({ messages }: { messages: object[] }) => ({ messages: [...messages, message("c")] }),
    );
    const given = await transformMessages(runner, "context", [message("a")]);
    expect(given.map(({ role }) => role)).toEqual(["a", "b", "c"]);
  });

  test("payloads: any answer but undefined", async () => {
    const { runner } = withHandlers(
      "before_provider_request",
      () => undefined,
      ({ payload }: { payload: number }) => payload + 1,
      ({ payload }: { payload: number }) => [payload],
    );
    expect(await replacePayload(runner, 1)).toEqual([2]);
  });

  test("headers: changed in place, null takes one away, and the caller's stay as they are", async () => {
    const given = { a: "1", b: "2" };
    const { runner } = withHandlers("before_provider_headers", ({ headers }: { headers: Record<string, unknown> }) => {
      headers.a = null;
      headers.c = "3";
    });
    expect(await changeHeaders(runner, given)).toEqual({ b: "2", c: "3" });
    expect(given).toEqual({ a: "1", b: "2" });
  });

  test("messages that end: another role is refused", async () => {
    const message = { role: "user" as const, content: "a", timestamp: 1 };
    const { runner, faults } = withHandlers(
      "message_end",
      () => ({ message: { ...message, role: "custom" } }),
      () => ({ message: { ...message, content: "b" } }),
    );
    expect(await replaceMessage(runner, message as never)).toMatchObject({ role: "user", content: "b" });
    expect(faults.map(({ extensionPath }) => extensionPath)).toEqual(["one"]);
  });

  test("proposals: each field by itself, entries of other types refused as a whole", async () => {
    const entry = { type: "custom" as const, customType: "a" };
    const { runner, faults } = withHandlers(
      "turn_end",
      () => ({ entries: [entry] }),
      ({ entries }: { entries: unknown[] }) => ({ entries: [...entries, { type: "message" }], continue: true }),
      () => ({ continue: "yes" }),
    );
    const payload = { outcome: "completed" as const, entries: [], continue: false, context: [] };
    expect(await proposeAt(runner, "turn_end", payload as never)).toEqual({ entries: [entry], continue: true });
    expect(faults).toHaveLength(1);
  });

  test("compactions: one without a summary is told of and passed over", async () => {
    const { runner, faults } = withHandlers(
      "session_before_compact",
      () => ({ compaction: {} }),
      () => ({ compaction: { summary: "s" } }),
      () => ({ cancel: true }),
    );
    expect(await beforeCompact(runner, {} as never)).toEqual({ compaction: { summary: "s" } });
    expect(faults).toHaveLength(1);
  });

  test("moves: later answers win, until one cancels", async () => {
    const { runner } = withHandlers(
      "session_before_tree",
      () => ({ label: "a", customInstructions: "i" }),
      () => ({ label: "b", cancel: true }),
      () => ({ label: "c" }),
    );
    expect(await beforeTree(runner, {} as never)).toEqual({ label: "b", customInstructions: "i", cancel: true });
  });
});
