// JSON mode of the built program: what it writes, in which order, and its exit codes.

import { describe, expect, test } from "vitest";
import { workspaceWithModel } from "../helpers/cli-rpc.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { until } from "../helpers/processes.js";
import { runCli, startCli } from "../helpers/running-cli.js";

const json = ["--mode", "json", "--model", "scripted/thinker"];

describe("JSON mode", () => {
  test("writes the header and the events of every prompt", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer("One");
    model.answer("Two");
    const cli = await runCli({ place, args: [...json, "first", "second"] });
    expect(cli.code).toBe(0);
    expect(cli.faults).toEqual([]);
    const [header, ...events] = cli.records.all;
    expect(header).toMatchObject({ type: "session", version: 3, cwd: place.cwd });
    expect(brokenOrder(events)).toEqual([]);
    const users = cli.records.matching({ type: "message_end", message: { role: "user" } });
    expect(users.map(({ message }) => message)).toMatchObject([
      { content: [{ type: "text", text: "first" }] },
      { content: [{ type: "text", text: "second" }] },
    ]);
    expect(cli.records.matching({ type: "agent_settled" })).toHaveLength(2);
    expect(events.at(-1)).toEqual({ type: "agent_settled", aborted: false });
    expect(cli.stderr).toBe("");
  });

  test("sends deltas without the message so far", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer({ thinking: "hm" }, "Hello");
    const cli = await runCli({ place, args: [...json, "hi"] });
    const updates = cli.records.matching({ type: "message_update" });
    expect(updates.map((update) => update.assistantMessageEvent)).toEqual([
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0, content: "hm" },
      { type: "text_start", contentIndex: 1 },
      { type: "text_delta", contentIndex: 1, delta: "Hello" },
      { type: "text_end", contentIndex: 1, content: "Hello" },
    ]);
    for (const update of updates)
      expect(Object.keys(update).sort()).toEqual(["assistantMessageEvent", "type", "usage"]);
    const { message } = await cli.records.next({ type: "message_start", message: { role: "assistant" } });
    expect(message).toMatchObject({ content: [], stopReason: "pending" });
  });

  test("without a prompt writes the header and exits with 0", async () => {
    const { place } = await workspaceWithModel();
    const cli = await runCli({ place, args: json });
    expect(cli.code).toBe(0);
    expect(cli.records.all).toMatchObject([{ type: "session", version: 3 }]);
    expect(place.sessionFiles()).toEqual([]);
  });

  test("exits with 1 when the last run failed, after its end", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer({ status: 400, message: "no such thing" });
    const cli = await runCli({ place, args: [...json, "hi"] });
    expect(cli.code).toBe(1);
    expect(brokenOrder(cli.records.all)).toEqual([]);
    await cli.records.next({ type: "message_end", message: { stopReason: "error", errorMessage: "/no such thing/" } });
    await cli.records.next({ type: "agent_settled", aborted: false });
  });

  test("reads a piped prompt", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer("One");
    const cli = await runCli({ place, args: json, input: "from the pipe" });
    expect(cli.code).toBe(0);
    await cli.records.next({ type: "message_end", message: { content: [{ type: "text", text: "from the pipe" }] } });
  });

  test("keeps stdout complete for a reader that takes its time", { timeout: 60_000 }, async () => {
    const { place, model } = await workspaceWithModel();
    // 1 MB of text stands in the deltas, the block's end, the message, the turn and the run: 5 MB of output.
    const text = "0123456789abcdef".repeat((1024 * 1024) / 16);
    model.answer({ text, deltas: 200 });
    const cli = startCli({ place, args: [...json, "hi"], input: "", paused: true });
    const chunks: Buffer[] = [];
    for await (const chunk of cli.child.stdout as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      // Everybody else goes first before more is read.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await cli.ended).toBe(0);
    const lines = Buffer.concat(chunks).toString("utf8").split("\n");
    expect(lines.pop()).toBe("");
    const records = lines.map((line) => JSON.parse(line));
    expect(records.at(-1)).toEqual({ type: "agent_settled", aborted: false });
    const deltas = records.flatMap(({ assistantMessageEvent: event }) =>
      event?.type === "text_delta" ? [event.delta] : [],
    );
    expect(deltas.join("")).toBe(text);
  });

  test("ends in order on SIGTERM", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer("Let me", { end: "stall" });
    const cli = startCli({ place, args: [...json, "hi", "never asked"], input: "" });
    await cli.records.next({ type: "message_update" });
    cli.signal("SIGTERM");
    expect(await cli.ended).toBe(143);
    expect(cli.faults).toEqual([]);
    expect(brokenOrder(cli.records.all)).toEqual([]);
    expect(cli.records.all.at(-1)).toEqual({ type: "agent_settled", aborted: true });
  });

  test("SIGINT ends the process with 130", async () => {
    const { place, model } = await workspaceWithModel();
    model.answer("Let me", { end: "stall" });
    const cli = startCli({ place, args: [...json, "hi"], input: "" });
    await cli.records.next({ type: "message_update" });
    cli.signal("SIGINT");
    expect(await cli.ended).toBe(130);
    expect(cli.records.all.at(-1)).toEqual({ type: "agent_settled", aborted: true });
  });

  test("a reader that leaves ends it quietly and stops the model", async () => {
    const { place, model, server } = await workspaceWithModel();
    model.answer("Let me", { hold: "gone" }, { text: "x".repeat(1000), deltas: 10 }, { end: "stall" });
    const cli = startCli({ place, args: [...json, "hi"], input: "" });
    await cli.records.next({ type: "message_update" });
    cli.child.stdout!.destroy();
    model.holds.get("gone").release();
    expect(await cli.ended).toBe(1);
    expect(await (await server.request(0)).closed).toBe(true);
    expect(cli.stderr).toBe("");
    await until(() => cli.child.exitCode !== null, "it has ended");
  });
});
