// The example extensions, in the built program with a server as its model.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { AnswerStep } from "../helpers/answers.js";
import { startCliRpc, workspaceWithModel } from "../helpers/cli-rpc.js";
import type { JsonRecord } from "../helpers/records.js";
import { cliPath, runCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

const examples = new URL("../../examples/", import.meta.url);
const pathOf = (name: string) => fileURLToPath(new URL(`extensions/${name}.ts`, examples));

/** RPC mode with one example; `ask` answers a dialog that is expected meanwhile. */
async function withExample(name: string, ...answers: AnswerStep[][]) {
  const rpc = await startCliRpc({ args: ["-e", pathOf(name)] });
  for (const steps of answers) rpc.model.answer(...steps);
  const { cli } = rpc;
  const settle = async (message: string) => {
    const before = cli.records.matching({ type: "agent_settled" }).length;
    const { data, error } = await cli.ask({ type: "prompt", message });
    if ((data as { disposition?: string } | undefined)?.disposition !== "started") return { data, error };
    // Looked for beside the place of the list, which tests move meanwhile.
    while (cli.records.matching({ type: "agent_settled" }).length === before)
      await new Promise((resolve) => setImmediate(resolve));
    return { data, error };
  };
  const results = () =>
    cli.records.matching({ type: "tool_execution_end" }).map(({ result, isError }) => {
      const [block] = (result as { content: JsonRecord[] }).content;
      return [block?.text, isError];
    });
  const requests = () =>
    rpc.server.requests.map(({ body }) => body as { messages: { role: string; content: unknown }[] });
  return { ...rpc, settle, results, requests };
}

const bash = (command: string): AnswerStep => ({ toolCall: "bash", arguments: { command } });

describe("examples/extensions", () => {
  test("each says on top what it shows, and has a test here", () => {
    const own = readFileSync(fileURLToPath(import.meta.url), "utf8");
    const names = readdirSync(new URL("extensions/", examples));
    expect(names.length).toBeGreaterThanOrEqual(10);
    for (const name of names) {
      expect(readFileSync(new URL(`extensions/${name}`, examples), "utf8")).toMatch(
        /^\/\/ [^\n]+\n\/\/ |^\/\/ [^\n]+\n\n/,
      );
      expect(own).toContain(`"${name.replace(/\.ts$/, "")}"`);
    }
  });

  test("rpc-demo with rpc-extension-ui", () => {
    const runTs = fileURLToPath(new URL("../../../../scripts/run-ts.mjs", import.meta.url));
    const client = fileURLToPath(new URL("rpc-extension-ui.ts", examples));
    const place = workspace();
    const { status, stdout, stderr } = spawnSync(process.execPath, [runTs, client, pathOf("rpc-demo"), cliPath], {
      cwd: place.cwd,
      env: place.environment(),
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({ colour: "green", isSure: true, name: "Grace" });
  });

  test("permission-gate asks, and takes anything but Allow for no", async () => {
    const calls = [bash("echo harmless"), bash("rm -rf gone-1"), bash("rm -rf gone-2"), bash("sudo true")];
    const { cli, settle, results } = await withExample("permission-gate", calls, ["Done"]);
    const run = settle("Clean up");
    for (const answer of [{ value: "Allow" }, { value: "Refuse" }, { cancelled: true }]) {
      const { id } = await cli.records.next({ type: "extension_ui_request", method: "select" });
      cli.send({ type: "extension_ui_response", id, ...answer });
    }
    await run;
    expect(
      results()
        .map(([, isError]) => isError)
        .sort(),
    ).toEqual([false, false, true, true]);
    expect(results().filter(([text]) => text === "Refused by the user")).toHaveLength(2);
  });

  test("permission-gate refuses where nobody can be asked", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer(bash("rm -rf gone"));
    model.answer("Done");
    const args = ["-e", pathOf("permission-gate"), "--mode", "json", "--model", "scripted/thinker", "Clean up"];
    const { code, records } = await runCli({ place, args });
    expect(code).toBe(0);
    expect(JSON.stringify(records.matching({ type: "tool_execution_end" }))).toContain("nobody is there to allow");
  });

  test("custom-tool", async () => {
    const call = (args: object): AnswerStep => ({
      toolCall: "count_words",
      arguments: args as Record<string, unknown>,
    });
    const { cli, settle, results, requests } = await withExample(
      "custom-tool",
      [call({ text: "a bee sees the sea", minLength: "3" }), call({ text: " " })],
      ["Done"],
    );
    await settle("Count");
    expect(results()).toEqual([
      ['4 words, the longest is "sees"', false],
      ["There is no word in the text", true],
    ]);
    expect(cli.records.matching({ type: "tool_execution_update" })).toHaveLength(1);
    expect(JSON.stringify(requests()[0])).toContain("- count_words: Count words; use it instead of counting yourself");
  });

  test("custom-provider, in print mode", async () => {
    const args = ["-e", pathOf("custom-provider"), "--model", "echo/parrot", "-p", "Hello"];
    const { code, stdout, stderr } = await runCli({ place: workspace(), args, isText: true });
    expect([code, stdout.toString(), stderr]).toEqual([0, "You said: Hello\n", ""]);
  });

  test("custom-compaction", async () => {
    const filler = "word ".repeat(20_000);
    const { cli, settle, requests } = await withExample("custom-compaction", [filler], [filler], ["Done"]);
    await settle("First request");
    await settle("Second request");
    const { data } = await cli.ask({ type: "compact" });
    expect(data).toMatchObject({ summary: expect.stringContaining("The user asked for:\n- First request") });
    expect(requests()).toHaveLength(2);
  });

  test("input-transform", async () => {
    const { cli, settle, requests } = await withExample("input-transform", ["Short"], ["Plain"]);
    await settle("?short Why?");
    expect((await settle("!time")).data).toEqual({ disposition: "handled" });
    await cli.records.anywhere({ type: "extension_ui_request", method: "notify", message: "/^\\d{4}-.*Z$/" });
    await settle("Plain");
    const said = requests().map(({ messages }) => JSON.stringify(messages.at(-1)?.content));
    expect(said).toEqual([
      expect.stringContaining("Why?\\n\\nAnswer in one sentence."),
      expect.stringContaining("Plain"),
    ]);
  });

  test("status-line", async () => {
    const { cli, settle } = await withExample("status-line", ["Hi", { usage: { input: 12_000, output: 800 } }]);
    await settle("Hello");
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    const texts = cli.records.matching({ method: "setStatus" }).map(({ statusText }) => statusText);
    expect(texts).toEqual(["turn 1", "done, context 10 %", undefined]);
  });

  test("session-guard", async () => {
    const { cli } = await withExample("session-guard");
    for (const [answer, cancelled] of [
      [{ confirmed: false }, true],
      [{ cancelled: true }, true],
      [{ confirmed: true }, false],
    ] as const) {
      const change = cli.ask({ type: "new_session" });
      const { id } = await cli.records.next({ type: "extension_ui_request", method: "confirm" });
      cli.send({ type: "extension_ui_response", id, ...answer });
      expect((await change).data).toEqual({ cancelled });
    }
  });

  test("subagent", async () => {
    const call: AnswerStep = { toolCall: "ask_reviewer", arguments: { text: "A poem" } };
    const { settle, results, requests } = await withExample(
      "subagent",
      [call],
      ["Too long"],
      [call],
      [{ status: 400 }],
      ["Done"],
    );
    // The first run: a call, the reviewer's answer, another call that fails, and the end.
    await settle("Have it reviewed");
    expect(results()).toEqual([
      ["Too long", false],
      [expect.stringContaining("400"), true],
    ]);
    expect(requests()[1]?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(JSON.stringify(requests()[1])).toContain("You review texts");
  });

  test("todo: a fork and a resumed session have the list of their branch", async () => {
    const add = (text: string): AnswerStep => ({ toolCall: "todo", arguments: { add: text } });
    const { cli, settle, place } = await withExample("todo", [add("one")], ["Ok"], [add("two")], ["Ok"]);
    const todos = async () => {
      await cli.ask({ type: "prompt", message: "/todos" });
      return cli.records.matching({ method: "notify" }).at(-1)?.message;
    };
    await settle("Note one");
    await settle("Note two");
    expect(await todos()).toBe("1. [ ] one\n2. [ ] two");
    const { data: state } = await cli.ask({ type: "get_state" });
    const { data } = await cli.ask({ type: "get_fork_messages" });
    const { messages } = data as unknown as { messages: { entryId: string; text: string }[] };
    await cli.ask({ type: "fork", entryId: messages.find(({ text }) => text === "Note two")?.entryId });
    expect(await todos()).toBe("1. [ ] one");
    const sessionPath = (state as { sessionFile: string }).sessionFile;
    await cli.ask({ type: "switch_session", sessionPath });
    expect(await todos()).toBe("1. [ ] one\n2. [ ] two");
    const { stderr } = cli;
    expect([stderr, place.sessionFiles().length]).toEqual(["", 2]);
  });
});
