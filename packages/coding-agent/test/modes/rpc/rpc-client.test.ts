import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { RpcClient, type RpcClientEvent, RpcCommandError } from "../../../src/modes/rpc/rpc-client.js";
import { rpcCommands } from "../../../src/modes/rpc/rpc-types.js";

/**
 * Plays the process. It answers `get_state` and notes its arguments; every other command is noted, and answered as its
 * text parameter asks: the lines after `say:` are written with the command's id in place of ID, `silent` has no answer,
 * `exit` ends the process.
 */
const fake = `
import { createInterface } from "node:readline";
const seen = [];
const write = (...records) => process.stdout.write(records.map((r) => (typeof r === "string" ? r : JSON.stringify(r)) + "\\n").join(""));
process.stderr.write("warming up\\n");
if (process.argv.includes("--broken")) { process.stderr.write("No such option\\n"); process.exit(1); }
for await (const line of createInterface({ input: process.stdin })) {
  const record = JSON.parse(line);
  const { id, type, ...params } = record;
  const answer = (data) => ({ id, type: "response", command: type, success: true, data });
  const text = params.message ?? params.command ?? "";
  if (type === "get_state") write(answer({ args: process.argv.slice(2), env: process.env.FAKE, cwd: process.cwd() }));
  else if (text.startsWith("say:")) write(...text.slice(4).split("\\n").map((each) => each.replaceAll("ID", id)));
  else if (text === "exit") { process.stderr.write("Out of luck\\n"); process.exit(3); }
  else if (text !== "silent") { seen.push(record); write(answer({ seen: record })); }
}
`;

let folder: string;
let cliPath: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pi-client-"));
  cliPath = join(folder, "fake.mjs");
  writeFileSync(cliPath, fake);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function started(options: ConstructorParameters<typeof RpcClient>[0] = {}) {
  const client = new RpcClient({ cliPath, ...options });
  onTestFinished(() => client.stop());
  await client.start();
  return client;
}

const lines = (...records: object[]) => `say:${records.map((record) => JSON.stringify(record)).join("\n")}`;
const answer = (command: string, data: object) => ({ id: "ID", type: "response", command, success: true, data });
const disposition = (what: string) => answer("prompt", { disposition: what });
const failed = (error: unknown) => expect(error).rejects;

describe("starting and ending", () => {
  test("passes options, environment and directory on", async () => {
    const client = await started({
      provider: "p",
      model: "m",
      args: ["--no-session"],
      env: { FAKE: "yes" },
      cwd: folder,
    });
    expect(await client.getState()).toEqual({
      args: ["--mode", "rpc", "--provider", "p", "--model", "m", "--no-session"],
      env: "yes",
      cwd: folder,
    });
  });

  test("a process that ends instead of answering rejects the start with what it said; another start is allowed", async () => {
    const client = new RpcClient({ cliPath, args: ["--broken"] });
    const text = "The process ended (exit code 1): warming up\nNo such option";
    await failed(client.start()).toThrow(new Error(text));
    await failed(client.start()).toThrow(new Error(text));
    expect(client.getStderr()).toBe("warming up\nNo such option\n");
  });

  test("a second start is refused while it runs", async () => {
    const client = await started();
    await failed(client.start()).toThrow("Cannot start: the process is running");
  });

  test("stop is harmless before, during and after, and the client starts again", async () => {
    const client = new RpcClient({ cliPath });
    await client.stop();
    await client.start();
    await Promise.all([client.stop(), client.stop()]);
    await client.stop();
    await client.start();
    expect(await client.getState()).toBeDefined();
    await client.stop();
  });

  test("when the process goes, every open call and wait rejects with how, and what it last said", async () => {
    const client = await started();
    const open = [client.prompt("silent"), client.bash("silent"), client.waitForIdle(), client.promptAndWait("silent")];
    const last = client.prompt("exit");
    const text = "The process ended (exit code 3): warming up\nOut of luck";
    for (const each of [...open, last]) await failed(each).toThrow(new Error(text));
    await failed(client.getState()).toThrow("Cannot send: the process is not running");
    await failed(client.waitForIdle()).toThrow("Cannot wait: the process is not running");
    await client.start();
    expect(await client.getState()).toBeDefined();
  });
});

describe("answers and events", () => {
  test("answers find their calls by id, in whatever order they come", async () => {
    const client = await started();
    const first = client.prompt("silent");
    // The first call of this client after get_state has the id before this one's.
    const second = client.prompt(
      lines(answer("prompt", { disposition: "queued" }), { ...disposition("started"), id: "c2" }),
    );
    expect(await Promise.all([first, second])).toEqual([{ disposition: "started" }, { disposition: "queued" }]);
  });

  test("a refusal rejects with its text, code and field", async () => {
    const client = await started();
    const refusal = {
      id: "ID",
      type: "response",
      command: "prompt",
      success: false,
      error: "No",
      code: "busy",
      field: "message",
    };
    const error = await client.prompt(lines(refusal)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcCommandError);
    const { name, message, code, field } = error as RpcCommandError;
    expect({ name, message, code, field }).toEqual({
      name: "RpcCommandError",
      message: "No",
      code: "busy",
      field: "message",
    });
  });

  test("what is no answer goes to every listener in order; one may end itself; a late answer is no event", async () => {
    const client = await started();
    const seen: string[] = [];
    const end = client.onEvent(({ type }) => {
      seen.push(`first ${type}`);
      end();
    });
    client.onEvent(({ type }) => void seen.push(`second ${type}`));
    const request = { type: "extension_ui_request", id: "1", method: "notify", message: "x" };
    await client.prompt(
      lines({ type: "agent_start" }, request, { ...disposition("started"), id: "long ago" }, disposition("started")),
    );
    expect(seen).toEqual(["first agent_start", "second agent_start", "second extension_ui_request"]);
  });

  test("lines that are no records are passed over", async () => {
    const client = await started();
    const seen: RpcClientEvent[] = [];
    client.onEvent((event) => void seen.push(event));
    await client.prompt(`say:not json\n${JSON.stringify(disposition("started"))}`);
    expect(seen).toEqual([]);
  });

  test("an answer to a dialog is written as it is asked for", async () => {
    const client = await started();
    const record = client.getState();
    client.respond({ id: "1", confirmed: true });
    await record;
    expect(await client.prompt("after")).toMatchObject({ seen: { message: "after" } });
  });
});

describe("waiting for a run", () => {
  const settled = { type: "agent_settled", aborted: false };

  test("promptAndWait gives the events of the run", async () => {
    const client = await started();
    const events = await client.promptAndWait(lines(disposition("started"), { type: "agent_start" }, settled));
    expect(events).toEqual([{ type: "agent_start" }, settled]);
  });

  test("promptAndWait does not wait for a run that never comes", async () => {
    const client = await started();
    expect(await client.promptAndWait(lines(disposition("handled")))).toEqual([]);
    const refused = { id: "ID", type: "response", command: "prompt", success: false, error: "No", code: "busy" };
    await failed(client.promptAndWait(lines(refused))).toThrow("No");
  });

  test("waitForIdle resolves when the run settles", async () => {
    const client = await started();
    const idle = client.waitForIdle();
    const order: string[] = [];
    void idle.then(() => order.push("idle"));
    await client.prompt(lines(disposition("started"), { type: "agent_start" }));
    order.push("prompt");
    await client.prompt(lines(disposition("queued"), settled));
    await idle;
    expect(order).toEqual(["prompt", "idle"]);
  });

  test("waitForIdle does not miss a run that settled together with the answer", async () => {
    const client = await started();
    await client.prompt(lines(disposition("started"), { type: "agent_start" }, settled));
    await client.waitForIdle();
    // That run has been waited for: the next wait is for the next run.
    await client.prompt(lines(disposition("started")));
    await failed(client.waitForIdle(1)).toThrow("No end of the run within 1 ms");
  });

  test("an earlier end is not taken for that of a run just started", async () => {
    const client = await started();
    await client.prompt(lines(disposition("started"), { type: "agent_start" }, settled));
    await client.prompt(lines(disposition("started")));
    await failed(client.waitForIdle(1)).toThrow("No end of the run within 1 ms");
  });
});

describe("the methods", () => {
  /** What each method is called with, and what it sends beside `id`. */
  const calls: Record<keyof typeof rpcCommands, { method: keyof RpcClient; args: unknown[]; sent: object }> = {
    prompt: { method: "prompt", args: ["x", undefined, "steer"], sent: { message: "x", streamingBehavior: "steer" } },
    steer: { method: "steer", args: ["x", []], sent: { message: "x", images: [] } },
    follow_up: { method: "followUp", args: ["x"], sent: { message: "x" } },
    clear_queue: { method: "clearQueue", args: [], sent: {} },
    abort: { method: "abort", args: [], sent: {} },
    new_session: { method: "newSession", args: ["/p"], sent: { parentSession: "/p" } },
    get_state: { method: "getState", args: [], sent: {} },
    get_messages: { method: "getMessages", args: [], sent: {} },
    set_model: { method: "setModel", args: ["p", "m"], sent: { provider: "p", modelId: "m" } },
    cycle_model: { method: "cycleModel", args: [], sent: {} },
    get_available_models: { method: "getAvailableModels", args: [], sent: {} },
    set_thinking_level: { method: "setThinkingLevel", args: ["high"], sent: { level: "high" } },
    cycle_thinking_level: { method: "cycleThinkingLevel", args: [], sent: {} },
    get_available_thinking_levels: { method: "getAvailableThinkingLevels", args: [], sent: {} },
    set_steering_mode: { method: "setSteeringMode", args: ["all"], sent: { mode: "all" } },
    set_follow_up_mode: { method: "setFollowUpMode", args: ["all"], sent: { mode: "all" } },
    compact: { method: "compact", args: ["short"], sent: { customInstructions: "short" } },
    set_auto_compaction: { method: "setAutoCompaction", args: [true], sent: { enabled: true } },
    set_auto_retry: { method: "setAutoRetry", args: [false], sent: { enabled: false } },
    abort_retry: { method: "abortRetry", args: [], sent: {} },
    bash: {
      method: "bash",
      args: ["ls", { excludeFromContext: true }],
      sent: { command: "ls", excludeFromContext: true },
    },
    abort_bash: { method: "abortBash", args: [], sent: {} },
    get_session_stats: { method: "getSessionStats", args: [], sent: {} },
    export_html: { method: "exportHtml", args: ["a.html"], sent: { outputPath: "a.html" } },
    switch_session: { method: "switchSession", args: ["/s"], sent: { sessionPath: "/s" } },
    fork: { method: "fork", args: ["e"], sent: { entryId: "e" } },
    clone: { method: "clone", args: [], sent: {} },
    get_fork_messages: { method: "getForkMessages", args: [], sent: {} },
    get_entries: { method: "getEntries", args: ["e"], sent: { since: "e" } },
    get_tree: { method: "getTree", args: [], sent: {} },
    get_last_assistant_text: { method: "getLastAssistantText", args: [], sent: {} },
    set_session_name: { method: "setSessionName", args: ["n"], sent: { name: "n" } },
    list_sessions: { method: "listSessions", args: [{ cwd: "/w", limit: 2 }], sent: { cwd: "/w", limit: 2 } },
    rename_session: { method: "renameSession", args: ["/s", "n"], sent: { sessionPath: "/s", name: "n" } },
    delete_session: { method: "deleteSession", args: ["/s"], sent: { sessionPath: "/s" } },
    set_label: { method: "setLabel", args: ["e", "l"], sent: { entryId: "e", label: "l" } },
    navigate_tree: {
      method: "navigateTree",
      args: ["e", { summarize: true }],
      sent: { entryId: "e", summarize: true },
    },
    get_commands: { method: "getCommands", args: [], sent: {} },
    get_capabilities: { method: "getCapabilities", args: [], sent: {} },
    get_diagnostics: { method: "getDiagnostics", args: [], sent: {} },
  };

  test("every command of the table has one, and it sends that command", async () => {
    expect(Object.keys(calls).sort()).toEqual(Object.keys(rpcCommands).sort());
    const client = new RpcClient();
    const sent: object[] = [];
    client.call = (async (type: string, params: object) => {
      sent.push({ type, ...params });
      return {};
    }) as unknown as typeof client.call;
    for (const { method, args } of Object.values(calls)) {
      await (client[method] as (...given: unknown[]) => Promise<unknown>).apply(client, args);
    }
    expect(sent).toEqual(Object.entries(calls).map(([type, { sent: params }]) => ({ type, ...params })));
  });

  test("optional parameters that are not given are not sent", async () => {
    const client = await started();
    for (const call of [
      () => client.newSession(),
      () => client.compact(),
      () => client.exportHtml(),
      () => client.getEntries(),
      () => client.listSessions(),
    ]) {
      const { seen } = (await call()) as unknown as { seen: object };
      expect(Object.keys(seen).sort()).toEqual(["id", "type"]);
    }
  });
});
