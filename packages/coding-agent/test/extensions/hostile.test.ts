import { toolCall } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import type { ExtensionAPI } from "../../src/extensions/api.js";
import { startCliRpc } from "../helpers/cli-rpc.js";
import { runCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";
import { play } from "./play.js";

const circular: { self?: unknown } = {};
circular.self = circular;
const throwing = {
  toJSON() {
    throw new Error("no JSON");
  },
};
const textless = Object.create(null) as object;

function gives(pi: ExtensionAPI, result: unknown): void {
  pi.registerTool({
    name: "odd",
    description: "Odd",
    parameters: Type.Object({}),
    execute: async () => result as never,
  });
}

/** A complete run, told of event by event, with another one behind it. */
function isWhole(types: readonly string[], runs: number): void {
  for (const name of ["agent", "turn", "message", "tool_execution"])
    expect([name, types.filter((type) => type === `${name}_end`).length]).toEqual([
      name,
      types.filter((type) => type === `${name}_start`).length,
    ]);
  expect(types.filter((type) => type === "agent_settled")).toHaveLength(runs);
}

describe("results of tools that cannot be kept", () => {
  const text = [{ type: "text", text: "fine" }];
  test.each<[string, unknown, string]>([
    ["circular details", { content: text, details: circular }, "details that are no JSON"],
    ["a number too large", { content: text, details: { big: 1n } }, "details that are no JSON"],
    ["details that refuse", { content: text, details: throwing }, "details that are no JSON"],
    ["a block of nothing", { content: [null] }, "content that is neither text nor image, at 0"],
    [
      "a block of no known type",
      { content: [...text, { type: "zzz" }] },
      "content that is neither text nor image, at 1",
    ],
    [
      "a text that is a number",
      { content: [{ type: "text", text: 5 }] },
      "content that is neither text nor image, at 0",
    ],
    ["no content", { content: null }, "no content list"],
  ])("%s is an error result, and the session goes on", async (_, result, reason) => {
    const { events, runtime, requests } = await play("rpc", (pi) => gives(pi, result), {
      prompts: ["One", "Two"],
      answers: [[toolCall("odd", {}, "t")], ["Done"]],
    });
    isWhole(
      events.map(({ type }) => type),
      2,
    );
    const ends = events.filter((event) => event.type === "tool_execution_end");
    expect(ends).toMatchObject([{ isError: true, result: { content: [{ text: expect.stringContaining(reason) }] } }]);
    expect(requests.at(-1)?.at(-1)).toBe("Two");
    expect(runtime.session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
  });

  test("fields of a wrong type are left out", async () => {
    const { events } = await play("rpc", (pi) => gives(pi, { content: text, isError: "yes", usage: "junk", more: 1 }), {
      answers: [[toolCall("odd", {}, "t")], ["Done"]],
    });
    const [end] = events.filter((event) => event.type === "tool_execution_end");
    expect(end).toMatchObject({ isError: false });
    expect((end as { result: object }).result).toEqual({ content: text });
  });
});

describe("messages that cannot be kept", () => {
  test.each<[string, unknown]>([
    ["a block of nothing", { customType: "x", content: [null] }],
    ["no content", { customType: "x" }],
    ["circular details", { customType: "x", content: "hi", details: circular }],
    ["no type", { content: "hi" }],
  ])("with %s are refused where they come from, and the session goes on", async (_, message) => {
    const { faults, requests } = await play("rpc", (pi) => {
      pi.on("session_start", () => pi.sendMessage(message as never));
      pi.on("before_agent_start", () => ({ message }) as never);
    });
    expect(faults.map(({ event }) => event)).toEqual(["send_message", "before_agent_start"]);
    expect(requests).toEqual([["Hello"]]);
  });

  test("a replacement that is no message is refused, the message stays", async () => {
    const { faults, runtime } = await play("rpc", (pi) => {
      pi.on("message_end", ({ message }) => ({ message: { ...message, content: [5] } }) as never);
    });
    expect(faults.map(({ event }) => event)).toEqual(["message_end", "message_end"]);
    expect(runtime.session.lastAssistantText()).toBe("Hi");
  });
});

test("what is thrown without a text is told of like anything else", async () => {
  const { events, faults } = await play("rpc", (pi) => {
    for (const event of ["session_start", "agent_start", "message_end", "turn_end", "agent_end"] as const)
      pi.on(event, () => {
        throw textless;
      });
  });
  isWhole(
    events.map(({ type }) => type),
    1,
  );
  expect(new Set(faults.map(({ error }) => error))).toEqual(new Set(["Something was thrown that has no text"]));
});

describe("a dialog of a tool", () => {
  test("is closed before the session is replaced, and the tool is not waited for", async () => {
    const seen: unknown[] = [];
    await play(
      "rpc",
      (pi) => {
        pi.registerTool({
          name: "odd",
          description: "Asks",
          parameters: Type.Object({}),
          execute: async (_id, _params, _signal, _onUpdate, ctx) => {
            const answer = await (ctx as { ui: { confirm(title: string, text: string): Promise<boolean> } }).ui.confirm(
              "Go on?",
              "",
            );
            seen.push(answer);
            return { content: [{ type: "text", text: String(answer) }], details: {} };
          },
        });
      },
      {
        prompts: [],
        answers: [[toolCall("odd", {}, "t")]],
        drive: async ({ io, ask }) => {
          await ask({ type: "prompt", message: "Ask" });
          await io.list.anywhere({ type: "extension_ui_request" });
          await ask({ type: "new_session" });
        },
      },
    );
    expect(seen).toEqual([false]);
  });
});

test("a text that was sent before a command that replaces the session is accepted first", async () => {
  const { answers } = await play(
    "rpc",
    (pi) => pi.registerCommand("fresh", { handler: async (_, ctx) => void (await ctx.newSession()) }),
    {
      prompts: [],
      drive: async ({ io, ask }) => {
        io.send(
          { id: "first", type: "prompt", message: "First" },
          { id: "fresh", type: "prompt", message: "/fresh" },
          { id: "second", type: "follow_up", message: "Second" },
        );
        await ask({ type: "get_session_stats" });
      },
    },
  );
  const fates = answers.filter(({ id }) => typeof id === "string" && ["first", "fresh", "second"].includes(id));
  expect(fates.map(({ id, success }) => [id, success]).sort()).toEqual([
    ["first", true],
    ["fresh", true],
    ["second", true],
  ]);
});

describe("an end that is not ours", () => {
  const extension = (source: string) => ({ "project/odd.js": source });

  test("process.exit in a handler is told of, and is no success", async () => {
    const { cli } = await startCliRpc({
      args: ["-e", "odd.js"],
      files: extension("export default (pi) => { pi.registerCommand('out', { handler: () => process.exit(0) }); };"),
    });
    await cli.ask({ type: "get_state" });
    cli.send({ type: "prompt", message: "/out" });
    expect(await cli.ended).toBe(1);
    expect(cli.stderr).toContain("ended from inside");
  });

  test.each([
    ["process.exit while it loads", "export default () => { process.exit(0); };", "ended from inside"],
    ["a factory that never returns", "export default () => new Promise(() => {});", 'odd.js": it never returned'],
    ["a module that never ends", "await new Promise(() => {}); export default () => {};", 'odd.js": it never returned'],
  ])("%s fails the start, naming why", async (_, source, reason) => {
    const cli = await runCli({ place: workspace(extension(source)), args: ["--mode", "rpc", "-e", "odd.js"] });
    expect([cli.code, cli.stderr]).toEqual([1, expect.stringContaining(reason)]);
  });
});
