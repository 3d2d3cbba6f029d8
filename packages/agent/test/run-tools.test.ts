import { hold } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runTools } from "../src/run-tools.js";
import type { AgentEvent, AgentLoopOptions, AnyAgentTool } from "../src/types.js";
import { tool } from "./recorded-loop.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1000 }));
afterEach(() => void vi.useRealTimers());

const call = (name: string, args: Record<string, unknown> = {}, id = name) => ({
  type: "toolCall" as const,
  id,
  name,
  arguments: args,
});
type Call = ReturnType<typeof call> & { incompleteArguments?: string };

async function run(calls: Call[], tools: AnyAgentTool[], options: Partial<AgentLoopOptions> = {}) {
  const events: AgentEvent[] = [];
  const batch = await runTools(calls, tools, {
    signal: new AbortController().signal,
    emit: (event) => {
      events.push(event);
      return undefined;
    },
    ...options,
  });
  return { events, ...batch };
}

const refused = (name: string, text: string) => ({
  role: "toolResult",
  toolCallId: name,
  toolName: name,
  content: [{ type: "text", text }],
  isError: true,
  timestamp: 1000,
});

const counting = tool("count", ({ to }) => `Counted to ${to}`, {
  parameters: Type.Object({ to: Type.Number(), by: Type.Optional(Type.Number()) }),
});

describe("calls that are not run", () => {
  test("an unknown tool is named, and its end has no duration", async () => {
    const { results, events } = await run([call("nope")], [counting]);
    expect(results).toEqual([refused("nope", "Tool nope not found")]);
    expect(events).toEqual([
      { type: "tool_execution_start", toolCallId: "nope", toolName: "nope", args: {} },
      {
        type: "tool_execution_end",
        toolCallId: "nope",
        toolName: "nope",
        result: { content: [{ type: "text", text: "Tool nope not found" }] },
        isError: true,
      },
    ]);
  });

  test("bad arguments name the tool and the field", async () => {
    const { results } = await run([call("count", { to: "many" })], [counting]);
    expect(results).toEqual([
      refused("count", 'Invalid arguments for tool "count":\n- to: must be number\n\nReceived:\n{\n  "to": "many"\n}'),
    ]);
  });

  test("incomplete arguments are named, and shown in part only", async () => {
    const incomplete = { ...call("count"), incompleteArguments: `{"to": "${"x".repeat(300)}` };
    const { results } = await run([incomplete], [counting]);
    expect(results).toEqual([
      refused(
        "count",
        `The arguments of "count" are not complete JSON, so it was not run: {"to": "${"x".repeat(192)}…`,
      ),
    ]);
  });

  test.each([
    [{ block: true, reason: "Not here" }, "Not here", false],
    [{ block: true }, "Blocked", false],
    [{ block: true, reason: "Stop all", terminate: true }, "Stop all", true],
  ])("a hook's block %j is told to the model", async (verdict, text, terminate) => {
    const batch = await run([call("count", { to: 1 })], [counting], { beforeToolCall: async () => verdict });
    expect(batch.results).toEqual([refused("count", text)]);
    expect(batch.terminate).toBe(terminate);
  });

  test("a throwing hook refuses its call and no other", async () => {
    const { results } = await run([call("count", { to: 1 }, "a"), call("count", { to: 2 }, "b")], [counting], {
      beforeToolCall: async ({ id }) => {
        if (id === "a") throw new Error("Hook broke");
        return undefined;
      },
    });
    expect(results.map(({ content, isError }) => [content, isError])).toEqual([
      [[{ type: "text", text: "Hook broke" }], true],
      [[{ type: "text", text: "Counted to 2" }], false],
    ]);
  });

  test("after an abort in a hook no further call is asked about", async () => {
    const abort = new AbortController();
    const beforeToolCall = vi.fn(async () => {
      abort.abort();
      return undefined;
    });
    const calls = [call("count", { to: 1 }, "a"), call("count", { to: 2 }, "b"), call("count", { to: 3 }, "c")];
    const { results } = await run(calls, [counting], { signal: abort.signal, beforeToolCall });
    expect(beforeToolCall).toHaveBeenCalledTimes(1);
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true]);
  });
});

describe("calls that are run", () => {
  test("the hook sees the coerced arguments and the tool", async () => {
    const beforeToolCall = vi.fn(async () => undefined);
    const toolCall = call("count", { to: "3", by: null });
    const { results } = await run([toolCall], [counting], { beforeToolCall });
    expect(beforeToolCall).toHaveBeenCalledExactlyOnceWith(toolCall, { to: 3 }, counting);
    expect(results[0]?.content).toEqual([{ type: "text", text: "Counted to 3" }]);
  });

  test("arguments are mended by the tool before they are checked; the announced ones stay as they came", async () => {
    const mended = { ...counting, prepareArguments: (args: unknown) => ({ to: (args as { until: number }).until }) };
    const { results, events } = await run([call("count", { until: 4 })], [mended]);
    expect(results[0]?.content).toEqual([{ type: "text", text: "Counted to 4" }]);
    expect(events[0]).toEqual({
      type: "tool_execution_start",
      toolCallId: "count",
      toolName: "count",
      args: { until: 4 },
    });
  });

  test("details and usage are in the result", async () => {
    const usage = {
      input: 1,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 3,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    };
    const rich = tool("rich", () => "", {
      execute: async () => ({ content: [], details: { lines: 3 }, usage }),
    });
    const { results } = await run([call("rich")], [rich]);
    expect(results).toEqual([
      {
        role: "toolResult",
        toolCallId: "rich",
        toolName: "rich",
        content: [],
        details: { lines: 3 },
        usage,
        isError: false,
        timestamp: 1000,
      },
    ]);
  });

  test.each<[string, () => unknown, object]>([
    ["an error", () => new Error("Broke"), refused("bad", "Broke")],
    ["a text", () => "Broke", refused("bad", "Broke")],
    [
      "an error with details",
      () => Object.assign(new Error("Broke"), { details: { log: "/tmp/log" } }),
      { ...refused("bad", "Broke"), details: { log: "/tmp/log" } },
    ],
    ["nothing", () => null, refused("bad", "null")],
  ])("a tool that throws %s gives an error result", async (_, thrown, result) => {
    const bad = tool("bad", () => {
      throw thrown();
    });
    expect((await run([call("bad")], [bad])).results).toEqual([result]);
  });

  test("a tool that returns no content list gives an error result", async () => {
    const bad = { ...tool("bad", () => ""), execute: async () => "text" } as unknown as AnyAgentTool;
    expect((await run([call("bad")], [bad])).results).toEqual([refused("bad", 'Tool "bad" returned no content list')]);
  });

  test("a tool that is no promise maker, and throws at once, gives an error result", async () => {
    const bad: AnyAgentTool = {
      ...tool("bad", () => ""),
      execute: () => {
        throw new Error("At once");
      },
    };
    expect((await run([call("bad")], [bad])).results).toEqual([refused("bad", "At once")]);
  });

  test("updates are announced with the call's own arguments, and none after the end", async () => {
    let report: (() => void) | undefined;
    const telling: AnyAgentTool = {
      ...tool("tell", () => ""),
      parameters: Type.Object({ n: Type.Number() }),
      execute: async (_, __, ___, onUpdate) => {
        report = () => void onUpdate({ content: [{ type: "text", text: "half" }] });
        report();
        return { content: [{ type: "text", text: "whole" }] };
      },
    };
    const { events } = await run([call("tell", { n: "1" })], [telling]);
    report?.();
    expect(events.map(({ type }) => type)).toEqual([
      "tool_execution_start",
      "tool_execution_update",
      "tool_execution_end",
    ]);
    expect(events[1]).toEqual({
      type: "tool_execution_update",
      toolCallId: "tell",
      toolName: "tell",
      args: { n: "1" },
      partialResult: { content: [{ type: "text", text: "half" }] },
    });
  });

  test("a tool that waits for its reader is held by it", async () => {
    const reader = hold();
    const order: string[] = [];
    const telling: AnyAgentTool = {
      ...tool("tell", () => ""),
      execute: async (_, __, ___, onUpdate) => {
        await onUpdate({ content: [] });
        order.push("went on");
        return { content: [] };
      },
    };
    const done = run([call("tell")], [telling], {
      emit: (event) => (event.type === "tool_execution_update" ? reader.wait().then(() => {}) : undefined),
    });
    await reader.reached;
    order.push("released");
    reader.release();
    await done;
    expect(order).toEqual(["released", "went on"]);
  });

  test("a hook patches the result before it is announced", async () => {
    const { results, events } = await run([call("count", { to: 1 })], [counting], {
      afterToolCall: async (finished) => ({ ...finished, result: { content: [] }, isError: true }),
    });
    expect(results[0]).toEqual({ ...refused("count", ""), content: [] });
    expect(events[1]).toEqual({
      type: "tool_execution_end",
      toolCallId: "count",
      toolName: "count",
      result: { content: [] },
      isError: true,
      durationMs: 0,
    });
  });

  test("a hook that throws makes its own result an error, and no other", async () => {
    const { results } = await run(
      [call("count", { to: 1 }, "a"), call("count", { to: 2 }, "b"), call("count", { to: 3 }, "c")],
      [counting],
      {
        afterToolCall: async ({ toolCall }) => {
          if (toolCall.id === "b") throw new Error("Hook broke");
          return undefined;
        },
      },
    );
    expect(results.map(({ content, isError }) => [content[0], isError])).toEqual([
      [{ type: "text", text: "Counted to 1" }, false],
      [{ type: "text", text: "Hook broke" }, true],
      [{ type: "text", text: "Counted to 3" }, false],
    ]);
  });

  test("one tool that wants to run alone makes the whole batch run one after the other", async () => {
    const order: string[] = [];
    const step = (name: string) => async () => {
      order.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      return "";
    };
    const tools = [tool("free", step("free")), tool("alone", step("alone"), { executionMode: "sequential" })];
    await run([call("free", {}, "a"), call("alone", {}, "b")], tools);
    expect(order).toEqual(["free starts", "free ends", "alone starts", "alone ends"]);
    order.length = 0;
    await run([call("free", {}, "a"), call("free", {}, "b")], tools);
    expect(order).toEqual(["free starts", "free starts", "free ends", "free ends"]);
  });

  test("a batch that runs in turn stops at an abort", async () => {
    const abort = new AbortController();
    const ran: string[] = [];
    const alone = tool(
      "alone",
      () => {
        ran.push("alone");
        abort.abort();
        return "";
      },
      { executionMode: "sequential" },
    );
    const { results } = await run([call("alone", {}, "a"), call("alone", {}, "b")], [alone], {
      signal: abort.signal,
    });
    expect(ran).toEqual(["alone"]);
    expect(results.map(({ isError }) => isError)).toEqual([false, true]);
  });
});
