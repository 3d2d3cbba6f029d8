// What a tool's definition means: its fields, its results, and how it is declared to the model.

import { hold, toolCall } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { expect } from "vitest";
import type { ExtensionToolContext } from "../../../src/extensions/api.js";
import type { AnyToolDefinition, ToolDefinition } from "../../../src/extensions/tool-definition.js";
import { type Mode, type PlayOptions, play } from "../play.js";
import type { Rows } from "./row.js";
import { results } from "./run-events.js";

const said = (text: string) => ({ content: [{ type: "text" as const, text }], details: {} });

/** A tool `probe` as one needs it. */
function tool(fields: Partial<AnyToolDefinition> = {}): AnyToolDefinition {
  return {
    name: "probe",
    description: "Probes",
    parameters: Type.Object({}),
    execute: async () => said("done"),
    ...fields,
  };
}

/** Runs the tool once for each of the calls, all in one answer. */
async function calling(
  mode: Mode,
  definitions: readonly AnyToolDefinition[],
  calls: readonly object[] = [{}],
  options: PlayOptions = {},
) {
  const played = await play(
    mode,
    (pi) => {
      for (const definition of definitions) pi.registerTool(definition);
    },
    {
      answers: [calls.map((args, index) => toolCall("probe", args as never, `c${index}`))],
      ...options,
    },
  );
  return { ...played, results: results(played.runtime.session.messages) };
}

/** The fields, and what is promised beside them. */
export type ToolItem =
  | keyof ToolDefinition
  | "declaration"
  | "validation"
  | "unknown tool"
  | "onUpdate"
  | "a throw"
  | "a looser result"
  | "terminate";

export const toolItems: Rows<ToolItem> = {
  name: async (mode) => {
    const { results: found, scripted } = await calling(mode, [tool()]);
    expect(found).toEqual([["done", false]]);
    expect(scripted.requests[0]?.context.tools?.at(-1)?.name).toBe("probe");
    const { faults } = await play(mode, (pi) => {
      expect(() => pi.registerTool(tool({ name: " " }))).toThrow("Cannot register a tool without a name");
      expect(() => pi.registerTool(tool({ execute: undefined as never }))).toThrow("execute is not a function");
      expect(() => pi.registerTool(tool({ parameters: undefined as never }))).toThrow(
        "parameters is not a JSON Schema",
      );
    });
    expect(faults).toEqual([]);
  },

  label: (mode) => isHarmless(mode, { label: "Probe" }),
  description: async (mode) => {
    const { scripted } = await calling(mode, [tool({ description: "What it does" })]);
    expect(scripted.requests[0]?.context.tools?.at(-1)?.description).toBe("What it does");
  },

  parameters: async (mode) => {
    const got: unknown[] = [];
    const parameters = Type.Object({
      n: Type.Number(),
      yes: Type.Boolean(),
      list: Type.Array(Type.String()),
      maybe: Type.Optional(Type.String()),
    });
    const execute = async (_id: string, params: unknown) => {
      got.push(params);
      return said("done");
    };
    const given = { n: "5", yes: "true", list: "one", maybe: null };
    for (const schema of [parameters, JSON.parse(JSON.stringify(parameters)) as typeof parameters])
      await calling(mode, [tool({ parameters: schema, execute })], [given]);
    expect(got).toEqual(Array.from({ length: 2 }, () => ({ n: 5, yes: true, list: ["one"] })));
  },

  execute: async (mode) => {
    let seen: unknown[] = [];
    const { runtime } = await calling(mode, [
      tool({
        execute: async (
          id: string,
          params: object,
          signal: AbortSignal | undefined,
          _update: unknown,
          ctx: ExtensionToolContext,
        ) => {
          seen = [id, params, signal instanceof AbortSignal, ctx.mode];
          return {
            content: [
              { type: "text", text: "seen" },
              { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
            ],
            details: { a: 1 },
            isError: true,
            structuredContent: { b: 2 },
          };
        },
      }),
    ]);
    expect(seen).toEqual(["c0", {}, true, mode]);
    expect(runtime.session.messages.find(({ role }) => role === "toolResult")).toMatchObject({
      content: [{ type: "text", text: "seen" }, { type: "image" }],
      details: { a: 1 },
      isError: true,
    });
  },

  promptSnippet: async (mode) => {
    const { scripted } = await play(mode, (pi) => {
      pi.registerTool(tool({ promptSnippet: "Probes the ground" }));
      pi.registerTool(tool({ name: "idle", promptSnippet: "Is not active", defaultActive: false }));
    });
    const prompt = scripted.requests[0]?.context.systemPrompt;
    expect(prompt).toContain("\n- probe: Probes the ground\n");
    expect(prompt).not.toContain("Is not active");
  },

  promptGuidelines: async (mode) => {
    const { scripted } = await play(mode, (pi) =>
      pi.registerTool(tool({ promptGuidelines: ["Probe before you dig"] })),
    );
    expect(scripted.requests[0]?.context.systemPrompt).toMatch(/^- Probe before you dig$/m);
  },

  executionMode: async (mode) => {
    const order: string[] = [];
    const execute = async (id: string) => {
      order.push(`begin ${id}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`end ${id}`);
      return said(id);
    };
    await calling(mode, [tool({ execute })], [{}, {}]);
    await calling(mode, [tool({ execute, executionMode: "sequential" })], [{}, {}]);
    expect(order).toEqual([
      ...["begin c0", "begin c1", "end c0", "end c1"],
      ...["begin c0", "end c0", "begin c1", "end c1"],
    ]);
  },

  defaultActive: async (mode) => {
    const { scripted } = await play(
      mode,
      (pi) => {
        pi.registerTool(tool({ defaultActive: false }));
        pi.registerCommand("on", { handler: () => pi.setActiveTools(["probe"]) });
      },
      { prompts: ["One", "/on", "Two"] },
    );
    expect(scripted.requests.map(({ context }) => context.tools?.some(({ name }) => name === "probe"))).toEqual([
      false,
      true,
    ]);
  },

  exposure: async (mode) => {
    const exposures = ["direct", "model-only", "codemode", "deferred", "hidden"] as const;
    let callable: string[] = [];
    const { scripted } = await play(
      mode,
      (pi) => {
        for (const exposure of exposures) pi.registerTool(tool({ name: exposure, exposure }));
        pi.registerTool(
          tool({
            execute: async (
              _id: string,
              _params: object,
              _signal: unknown,
              _update: unknown,
              ctx: ExtensionToolContext,
            ) => {
              callable = ctx.tools.map(({ name }) => name);
              return said("done");
            },
          }),
        );
        pi.on("agent_start", () => pi.setActiveTools(["hidden", "direct", "model-only", "probe"]));
      },
      { answers: [[toolCall("probe", {})]] },
    );
    expect(scripted.requests[0]?.context.tools?.map(({ name }) => name)).toEqual(["direct", "model-only", "probe"]);
    expect(callable).toEqual(["direct", "codemode", "deferred", "probe"]);
  },

  prepareArguments: async (mode) => {
    const got: unknown[] = [];
    const { results: found } = await calling(
      mode,
      [
        tool({
          parameters: Type.Object({ path: Type.String() }),
          prepareArguments: (args: unknown) => ({ path: (args as { file: string }).file }),
          execute: async (_id: string, params: unknown) => {
            got.push(params);
            return said("done");
          },
        }),
      ],
      [{ file: "a" }],
    );
    expect([got, found]).toEqual([[{ path: "a" }], [["done", false]]]);
  },

  renderCall: (mode) => isHarmless(mode, { renderCall: neverCalled }),
  renderResult: (mode) => isHarmless(mode, { renderResult: neverCalled }),
  renderShell: (mode) => isHarmless(mode, { renderShell: "self" }),

  declaration: async (mode) => {
    const parameters = Type.Object({ unit: Type.Union([Type.Literal("C"), Type.Literal("F")]) });
    const { scripted } = await calling(mode, [tool({ parameters })]);
    const declared = scripted.requests[0]?.context.tools?.at(-1);
    expect(JSON.parse(JSON.stringify(declared?.parameters))).toEqual({
      type: "object",
      properties: {
        unit: {
          anyOf: [
            { type: "string", const: "C" },
            { type: "string", const: "F" },
          ],
        },
      },
      required: ["unit"],
    });
  },

  validation: async (mode) => {
    const asked: unknown[] = [];
    const played = await play(
      mode,
      (pi) => {
        pi.on("tool_call", (event) => void asked.push(event));
        pi.registerTool(tool({ parameters: Type.Object({ n: Type.Number() }) }));
      },
      { answers: [[toolCall("probe", { n: "many" })]] },
    );
    const [[text, isError]] = results(played.runtime.session.messages) as [[string, boolean]];
    expect(text).toBe('Invalid arguments for tool "probe":\n- n: must be number\n\nReceived:\n{\n  "n": "many"\n}');
    expect([isError, asked]).toEqual([true, []]);
  },

  "unknown tool": async (mode) => {
    const { results: found } = await calling(mode, []);
    expect(found).toEqual([["Tool probe not found", true]]);
  },

  onUpdate: async (mode) => {
    const { events } = await calling(mode, [
      tool({
        execute: async (_id: string, _params: object, _signal: unknown, onUpdate?: (partial: never) => void) => {
          onUpdate?.(said("half") as never);
          return said("whole");
        },
      }),
    ]);
    expect(events.find(({ type }) => type === "tool_execution_update")).toMatchObject({
      toolCallId: "c0",
      toolName: "probe",
      args: {},
      partialResult: said("half"),
    });
  },

  "a throw": async (mode) => {
    const { runtime, faults } = await calling(mode, [
      tool({
        execute: async () => {
          throw new Error("It broke");
        },
      }),
    ]);
    expect(runtime.session.messages.find(({ role }) => role === "toolResult")).toMatchObject({
      content: [{ type: "text", text: "It broke" }],
      details: {},
      isError: true,
    });
    expect(faults).toEqual([]);
  },

  "a looser result": async (mode) => {
    let call = 0;
    const execute = async () => (call++ === 0 ? ("a text" as never) : ({ content: "text inside" } as never));
    const { results: found } = await calling(mode, [tool({ execute })], [{}, {}]);
    expect(found).toEqual([
      ["a text", false],
      ["text inside", false],
    ]);
  },

  terminate: async (mode) => {
    let both = true;
    const execute = async (id: string) => ({ ...said(id), ...((both || id === "c0") && { terminate: true }) });
    const ended = await calling(mode, [tool({ execute })], [{}, {}]);
    expect(ended.requests).toHaveLength(1);
    both = false;
    const goesOn = await calling(mode, [tool({ execute })], [{}, {}]);
    expect(goesOn.requests).toHaveLength(2);
  },
};

/** Aborting a run gives the tool's signal, and what the tool says afterwards is not waited for. */
export async function abortedTool(mode: Mode): Promise<boolean> {
  const never = hold();
  let wasAborted = false;
  const { events } = await play(
    mode,
    (pi) => {
      pi.registerTool(
        tool({
          execute: async (
            _id: string,
            _params: object,
            signal: AbortSignal,
            _update: unknown,
            ctx: ExtensionToolContext,
          ) => {
            ctx.abort();
            await never.wait(signal);
            wasAborted = signal.aborted;
            throw new Error("aborted");
          },
        }),
      );
    },
    { answers: [[toolCall("probe", {})]] },
  );
  expect(events.at(-1)).toEqual({ type: "agent_settled", aborted: true });
  return wasAborted;
}

function neverCalled(): never {
  throw new Error("Nothing is drawn here");
}

async function isHarmless(mode: Mode, fields: Partial<AnyToolDefinition>): Promise<void> {
  const { results: found, faults, code } = await calling(mode, [tool(fields)]);
  expect([found, faults, code]).toEqual([[["done", false]], [], 0]);
}
