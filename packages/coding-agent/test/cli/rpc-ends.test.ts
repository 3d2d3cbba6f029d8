// How RPC mode ends, by cause: what is written before, which exit code, and that nothing is left behind.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { startCliRpc, workspaceWithModel } from "../helpers/cli-rpc.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { isAlive, processesWith, until } from "../helpers/processes.js";
import { cliPath, type RunningCli } from "../helpers/running-cli.js";
import { readSession } from "../helpers/workspace.js";

const prompt = { id: "p", type: "prompt", message: "hi" };

function expectOrder(cli: RunningCli): void {
  expect(cli.faults).toEqual([]);
  expect(brokenOrder(cli.records.all)).toEqual([]);
}

describe("end of stdin", () => {
  test("aborts a run in order and writes its end", async () => {
    const { cli, model, place } = await startCliRpc();
    model.answer("Let me", { end: "stall" });
    cli.send(prompt);
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expectOrder(cli);
    expect(cli.records.matching({ type: "response", id: "p", success: true })).toHaveLength(1);
    expect(cli.records.all.at(-1)).toEqual({ type: "agent_settled", aborted: true });
    expect(cli.records.matching({ type: "agent_settled" })).toHaveLength(1);
    const roles = readSession(place.sessionFiles()[0] as string).flatMap((entry) =>
      entry.type === "message" ? [(entry.message as { role: string }).role] : [],
    );
    expect(roles).toEqual(["user", "assistant"]);
    expect(cli.stderr).toBe("");
  });

  test("carries out every record before it, the last one without LF too", async () => {
    const { cli } = await startCliRpc();
    cli.send({ id: 1, type: "set_session_name", name: "first" });
    cli.sendRaw('{"id":2,"type":"get_state"}');
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    await cli.records.next({ type: "response", id: 1, success: true });
    await cli.records.next({ type: "response", id: 2, data: { sessionName: "first" } });
  });

  test("answers running shell commands as cancelled and ends them", async () => {
    const { cli } = await startCliRpc();
    cli.send({ id: "b", type: "bash", command: "echo started; sleep 300" });
    await cli.records.next({ type: "bash_execution_update", id: "b" });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    await cli.records.next({
      type: "response",
      id: "b",
      success: true,
      data: { output: "started\n", cancelled: true, exitCode: "<absent>" },
    });
  });

  test("shows queued messages a last time", async () => {
    const { cli, model } = await startCliRpc();
    model.answer("Let me", { end: "stall" });
    cli.send(prompt);
    await cli.records.next({ type: "message_update" });
    cli.send({ type: "steer", message: "left" });
    cli.send({ type: "follow_up", message: "behind" });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expectOrder(cli);
    const last = cli.records.matching({ type: "queue_update" }).at(-1);
    expect(last).toEqual({ type: "queue_update", steering: ["left"], followUp: ["behind"] });
  });

  test("ends although nobody reads", { timeout: 30_000 }, async () => {
    const { cli, model } = await startCliRpc({ paused: true });
    model.answer({ text: "x".repeat(4_000_000), deltas: 400 }, { end: "stall" });
    cli.send(prompt);
    cli.closeStdin();
    const exited = once(cli.child, "exit");
    expect((await exited)[0]).toBe(0);
  });
});

describe("signals", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("%s without a run ends the process with %i", async (signal, code) => {
    const { cli } = await startCliRpc();
    await cli.ask({ type: "get_state" });
    cli.signal(signal);
    expect(await cli.ended).toBe(code);
    expect(cli.stderr).toBe("");
  });

  test("SIGTERM in a run writes the run's end", async () => {
    const { cli, model } = await startCliRpc();
    model.answer("Let me", { end: "stall" });
    cli.send(prompt);
    await cli.records.next({ type: "message_update" });
    cli.signal("SIGTERM");
    expect(await cli.ended).toBe(143);
    expectOrder(cli);
    expect(cli.records.all.at(-1)).toEqual({ type: "agent_settled", aborted: true });
  });

  test("SIGTERM ends the process although nobody reads", async () => {
    const { cli, model, server } = await startCliRpc({ paused: true });
    model.answer({ text: "x".repeat(4_000_000), deltas: 400 }, { end: "stall" });
    cli.send(prompt);
    await server.request(0);
    await until(() => server.bytesSent > 500_000, "the model has written");
    cli.signal("SIGTERM");
    const [code] = await once(cli.child, "exit");
    expect(code).toBe(143);
  });

  test("a second signal ends it at once", async () => {
    const { cli, place } = await startCliRpc({
      args: ["-e", "slow.ts"],
      files: {
        "project/slow.ts": `
          import { writeFileSync } from "node:fs";
          export default (pi) => {
            process.on("exit", () => writeFileSync("lasted", String(performance.now() - begun)));
            let begun = Number.NaN;
            pi.on("session_shutdown", (_, ctx) => {
              begun = performance.now();
              ctx.ui.notify("stopping");
              return new Promise(() => {});
            });
          };`,
      },
    });
    await cli.ask({ type: "get_state" });
    cli.signal("SIGTERM");
    await cli.records.next({ type: "extension_ui_request", message: "stopping" });
    cli.signal("SIGTERM");
    expect(await cli.ended).toBe(143);
    // Less than the 5 s that the handler has.
    expect(Number(place.read("project/lasted"))).toBeLessThan(4_500);
  });

  test("SIGINT in a run stops the run and nothing else", async () => {
    const { cli, model } = await startCliRpc();
    model.answer("Let me", { end: "stall" });
    cli.send(prompt);
    await cli.records.next({ type: "message_update" });
    cli.signal("SIGINT");
    await cli.records.next({ type: "agent_settled", aborted: true });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ data: { isStreaming: false, messageCount: 2 } });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expectOrder(cli);
  });
});

/** Resolves when it has ended. A process that another test has just forked holds the pipe until it runs its own program. */
async function loseReader(cli: RunningCli): Promise<void> {
  cli.child.stdout?.destroy();
  await until(() => {
    cli.send({ type: "get_state" });
    return cli.child.exitCode !== null;
  }, "the process ends");
}

describe("children", () => {
  // A mark in the environment that every child inherits.
  const mark = () => `mark-${process.pid}-${Math.random()}`;

  test.each(["end of stdin", "SIGTERM", "lost reader"])("none is left after %s", async (cause) => {
    const value = mark();
    const { cli, model } = await startCliRpc({ env: { PI_TEST_MARK: value } });
    await cli.ask({ type: "bash", command: "sleep 300 & echo started" });
    model.answer({ toolCall: "bash", arguments: { command: "sleep 300 & echo started" } });
    model.answer("Done");
    cli.send(prompt);
    await cli.records.next({ type: "agent_settled" });
    await until(() => processesWith("PI_TEST_MARK", value).length >= 3, "all of them run");
    if (cause === "end of stdin") cli.closeStdin();
    else if (cause === "SIGTERM") cli.signal("SIGTERM");
    else await loseReader(cli);
    await cli.ended;
    await until(() => processesWith("PI_TEST_MARK", value).length === 0, "no process is left");
  });

  test("none is left when the parent is killed", async () => {
    const { place, model } = await workspaceWithModel();
    const value = mark();
    model.answer({ toolCall: "bash", arguments: { command: "sleep 300 & sleep 300" } });
    const records = `${JSON.stringify({ type: "bash", command: "sleep 300 & echo started" })}\n${JSON.stringify(prompt)}\n`;
    const script = `const child = require("node:child_process").spawn(process.execPath,
      ${JSON.stringify([cliPath, "--mode", "rpc", "--model", "scripted/thinker"])}, { stdio: ["pipe", "pipe", "ignore"] });
      child.stdin.write(${JSON.stringify(records)});
      let out = ""; child.stdout.on("data", (text) => { out += text; if (out.includes("tool_execution_start")) console.log("ready"); });`;
    const parent = spawn(process.execPath, ["-e", script], {
      cwd: place.cwd,
      env: place.environment({ PI_TEST_MARK: value }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    await once(parent.stdout as NodeJS.ReadableStream, "data");
    await until(() => processesWith("PI_TEST_MARK", value).length >= 5, "the tool's children run");
    parent.kill("SIGKILL");
    await until(() => processesWith("PI_TEST_MARK", value).length === 0, "no process is left");
  });
});

describe("lost reader", () => {
  test("ends the process quietly, without a run and in one", async () => {
    for (const inRun of [false, true]) {
      const { cli, model } = await startCliRpc();
      await cli.ask({ type: "get_state" });
      model.answer({ toolCall: "bash", arguments: { command: "sleep 300" } });
      if (inRun) {
        cli.send(prompt);
        await cli.records.next({ type: "tool_execution_start" });
      }
      await loseReader(cli);
      expect(await cli.ended).toBe(0);
      expect(cli.stderr).toBe("");
    }
  });

  test("is noticed while the program has nothing to write", async () => {
    const { cli } = await startCliRpc();
    await cli.ask({ type: "get_state" });
    cli.child.stdout?.destroy();
    cli.child.stdin?.destroy();
    expect(await cli.ended).toBe(0);
    expect(isAlive(cli.pid)).toBe(false);
  });
});

describe("a silent provider", () => {
  test("fails the answer after the time the settings give it", async () => {
    const { cli, model } = await startCliRpc({ files: { "agent/settings.json": { httpIdleTimeoutMs: 150 } } });
    model.answer("Let me", { end: "stall" });
    for (let attempt = 0; attempt < 4; attempt += 1) model.answer({ end: "stall" });
    cli.send({ type: "set_auto_retry", enabled: false });
    cli.send(prompt);
    const { message } = await cli.records.next({ type: "message_end", message: { role: "assistant" } });
    expect(message).toMatchObject({ stopReason: "error", error: { kind: "timeout" } });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expectOrder(cli);
  });

  test("can be aborted at any time", async () => {
    const { cli, model } = await startCliRpc();
    model.answer({ end: "stall" });
    cli.send(prompt);
    await cli.records.next({ type: "agent_start" });
    expect(await cli.ask({ type: "abort" })).toMatchObject({ success: true, data: { stopped: 1 } });
    expect(cli.records.matching({ type: "agent_settled", aborted: true })).toHaveLength(1);
    expectOrder(cli);
  });
});
