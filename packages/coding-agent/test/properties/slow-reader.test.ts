// A slow reader slows the model down: memory stays bounded, nothing is dropped, and an abort acts all the same.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startCliRpc } from "../helpers/cli-rpc.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { residentBytes, until } from "../helpers/processes.js";

const megabyte = 1024 * 1024;
const pieces = 1200;
/** 12 MB; each delta carries its number, so that a lost one is seen. */
const piece = (index: number) => `${String(index).padStart(6, "0")}${"x".repeat(10 * 1024)}`;
const text = Array.from({ length: pieces }, (_, index) => piece(index)).join("");

/** Resolves when a number has stayed the same for 300 ms. */
async function steady(value: () => number, what: string): Promise<void> {
  let last = value();
  let since = performance.now();
  await until(() => {
    if (value() !== last) {
      last = value();
      since = performance.now();
    }
    return performance.now() - since > 300;
  }, what);
}

async function startBlocked() {
  // An answer of this size would be summarised behind it.
  const files = { "agent/settings.json": { compaction: { enabled: false } } };
  const { cli, model, server } = await startCliRpc({ args: ["--no-session"], paused: true, files });
  // Up and idle: what the stream adds is measured from here.
  await until(() => residentBytes(cli.pid) > 30 * megabyte, "the program runs");
  model.answer({ text, deltas: pieces });
  cli.send({ id: "p", type: "prompt", message: "go" });
  await until(() => server.bytesSent > 0, "the model answers");
  return { cli, model, server };
}

describe("a reader that does not read", () => {
  test("stops the stream before memory grows, and misses nothing afterwards", { timeout: 60_000 }, async () => {
    const { cli, server } = await startBlocked();
    await steady(() => server.bytesSent, "the stream stands still");
    expect(server.bytesSent).toBeLessThan(10 * megabyte);
    const blocked = residentBytes(cli.pid);
    expect(blocked).toBeGreaterThan(0);
    // Far below the 12 MB of text plus what holding it in records would take.
    expect(blocked).toBeLessThan(170 * megabyte);
    cli.resume();
    await cli.records.next({ type: "agent_settled", aborted: false });
    const deltas = cli.records
      .matching({ type: "message_update", assistantMessageEvent: { type: "text_delta" } })
      .map(({ assistantMessageEvent }) => (assistantMessageEvent as { delta: string }).delta);
    expect(deltas.join("") === text).toBe(true);
    expect(cli.faults).toEqual([]);
    expect(brokenOrder(cli.records.all)).toEqual([]);
  });

  test("does not keep an abort from acting", { timeout: 60_000 }, async () => {
    const { cli, server } = await startBlocked();
    await steady(() => server.bytesSent, "the stream stands still");
    cli.send({ id: "a", type: "abort" });
    // The provider's connection is closed while nobody has read a byte yet.
    expect(await (await server.request(0)).closed).toBe(true);
    cli.resume();
    await cli.records.next({ type: "agent_settled", aborted: true });
    await cli.records.next({ type: "response", id: "a", success: true, data: { stopped: 1 } });
    expect(brokenOrder(cli.records.all)).toEqual([]);
  });

  test("slows a shell command down and gets all of its output", { timeout: 60_000 }, async () => {
    const { cli, place } = await startCliRpc({ args: ["--no-session"], paused: true });
    const lines = 400_000;
    cli.send({ id: "b", type: "bash", command: `seq ${lines}; echo done > finished` });
    await until(() => residentBytes(cli.pid) > 30 * megabyte, "the program runs");
    await steady(() => residentBytes(cli.pid), "it stands still");
    expect(() => place.read("project/finished")).toThrow();
    cli.resume();
    await cli.records.next({ type: "response", id: "b", success: true, data: { exitCode: 0, truncated: true } });
    const output = cli.records.matching({ type: "bash_execution_update", id: "b" }).map(({ delta }) => delta);
    expect(output.join("") === Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("")).toBe(true);
  });

  test("gets all that an extension says without waiting, in order", async () => {
    const count = 50_000;
    const { cli, place } = await startCliRpc({
      args: ["--no-session", "-e", "flood.ts"],
      files: {
        "project/flood.ts": `
          import { writeFileSync } from "node:fs";
          export default (pi) => {
            pi.registerCommand("flood", { handler: (_, ctx) => {
              for (let at = 0; at < ${count}; at += 1) ctx.ui.notify("number " + at);
              writeFileSync("said", "");
            } });
          };`,
      },
      paused: true,
    });
    cli.send({ type: "prompt", message: "/flood" });
    await until(() => existsSync(join(place.cwd, "said")), "all is said");
    cli.resume();
    await cli.records.next({ type: "extension_ui_request", message: `number ${count - 1}` });
    const said = cli.records.matching({ type: "extension_ui_request" }).map(({ message }) => message);
    expect(said.findIndex((message, at) => message !== `number ${at}`)).toBe(-1);
    expect(said).toHaveLength(count);
  });

  test("does not keep abort_bash from acting", { timeout: 60_000 }, async () => {
    const { cli } = await startCliRpc({ args: ["--no-session"], paused: true });
    cli.send({ id: "b", type: "bash", command: "echo begun > begun; yes" });
    await until(() => residentBytes(cli.pid) > 30 * megabyte, "the program runs");
    await steady(() => residentBytes(cli.pid), "it stands still");
    cli.send({ id: "a", type: "abort_bash" });
    cli.resume();
    await cli.records.anywhere({ type: "response", id: "a", success: true, data: { stopped: 1 } });
    await cli.records.anywhere({ type: "response", id: "b", success: true, data: { cancelled: true } });
  });
});
