import { toolCall } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { expect, test } from "vitest";
import type { ExtensionAPI, ExtensionToolContext } from "../../src/extensions/api.js";
import { play } from "./play.js";

const spent = (input: number) => ({
  input,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});

/** A tool that spends, after it has called others. */
function spender(pi: ExtensionAPI, name: string, input: number, calls: readonly string[] = []): void {
  pi.registerTool({
    name,
    description: name,
    parameters: Type.Object({}),
    execute: async (_id, _params, _signal, _onUpdate, ctx: ExtensionToolContext) => {
      for (const other of calls) await ctx.executeTool(other, {});
      return { content: [{ type: "text", text: name }], details: {}, ...(input > 0 && { usage: spent(input) }) };
    },
  });
}

test("a tool's result has the model work of the tools it called, at every depth, once", async () => {
  const { events, runtime } = await play(
    "rpc",
    (pi) => {
      spender(pi, "top", 0, ["middle", "leaf"]);
      spender(pi, "middle", 10, ["leaf"]);
      spender(pi, "leaf", 1);
    },
    { answers: [[toolCall("top", {}, "t")], ["Done"]] },
  );
  const usages = events.flatMap((event) =>
    event.type === "tool_execution_end" ? [[event.toolCallId, event.result.usage?.input]] : [],
  );
  expect(usages).toEqual([
    ["t/1/1", 1],
    ["t/1", 11],
    ["t/2", 1],
    ["t", 12],
  ]);
  const results = runtime.session.messages.filter(({ role }) => role === "toolResult");
  expect(results).toMatchObject([{ usage: { input: 12 } }]);
});
