// How the built program starts: help, versions, sessions, models, broken files, and what it refuses.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { flags } from "../../src/args.js";
import { startCliRpc, workspaceWithModel } from "../helpers/cli-rpc.js";
import { type RunningCli, runCli, startCli } from "../helpers/running-cli.js";
import { readSession, type Workspace, workspace } from "../helpers/workspace.js";

const rpc = ["--mode", "rpc", "--model", "demo"];

async function runText(place: Workspace, args: readonly string[], env?: Record<string, string>, input = "") {
  const cli = await runCli({ place, args, isText: true, input, ...(env && { env }) });
  return { code: cli.code, stdout: cli.stdout.toString("utf8"), stderr: cli.stderr };
}

async function stateOf(cli: RunningCli) {
  return (await cli.ask({ type: "get_state" })).data as Record<string, unknown>;
}

/** Writes a session with one prompt and gives its file and id. */
async function savedSession(place: Workspace, args: readonly string[] = [], env?: Record<string, string>) {
  const cli = startCli({ place, args: [...rpc, ...args], ...(env && { env }) });
  cli.send({ type: "prompt", message: "hello" });
  await cli.records.next({ type: "agent_settled" });
  const { sessionFile, sessionId } = (await stateOf(cli)) as { sessionFile: string; sessionId: string };
  cli.closeStdin();
  expect(await cli.ended).toBe(0);
  return { file: sessionFile, id: sessionId };
}

describe("information", () => {
  test("--help lists every option that does something", async () => {
    const { code, stdout, stderr } = await runText(workspace(), ["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const [name, flag] of Object.entries(flags))
      expect(stdout.includes(`--${name}`), name).toBe("does" in flag && flag.does !== undefined);
    expect(stdout).toContain("Usage: pi [options] [--] [@files...] [messages...]");
  });

  test("--version is the package's", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    for (const flag of ["--version", "-v"])
      expect(await runText(workspace(), [flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("--list-models lists those with credentials, and finds by search", async () => {
    const { place } = await workspaceWithModel();
    const all = await runText(place, ["--list-models"], { ANTHROPIC_API_KEY: "key" });
    expect(all.code).toBe(0);
    expect(all.stdout).toMatch(/^provider +model/);
    expect(all.stdout).toMatch(/^scripted +thinker +128K/m);
    expect(all.stdout).toMatch(/^anthropic +claude-/m);
    expect(all.stdout).not.toMatch(/^openai /m);
    const found = await runText(place, ["--list-models", "plain"], { ANTHROPIC_API_KEY: "key" });
    expect(found.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(found.stdout).toContain("plain");
    const none = await runText(workspace(), ["--list-models"]);
    expect([none.code, none.stdout]).toEqual([0, expect.stringMatching(/^No models with credentials\. /)]);
  });
});

describe("refusals", () => {
  test.each([
    [["--no-such-option"], "Unknown option: --no-such-option"],
    [["--mode", "xml"], 'Unknown mode "xml": use text, json, rpc'],
    [["--model"], "--model needs a value"],
    [["--thinking", "hard", "-p", "x"], 'Unknown thinking level "hard"'],
    [["--mode", "rpc", "@a.txt"], "RPC mode takes no @file arguments"],
    [["--mode", "rpc", "--session", "a", "--continue"], "cannot be combined"],
    [["--mode", "rpc", "--model", "demo", "--session", "abcdef"], 'No session found whose id begins with "abcdef"'],
    [["--mode", "rpc", "--provider", "nowhere", "--model", "x"], 'Unknown provider "nowhere"'],
    [["--mode", "rpc", "--model", "demo", "--tools", "nothing"], 'Unknown tool "nothing"'],
    [["--mode", "rpc", "--model", "demo", "--name", " "], "Session name cannot be empty"],
    [["--mode", "rpc", "--model", "demo", "--name", "\n\x07"], "Session name cannot be empty"],
    [
      ["--mode", "rpc", "--model", "demo", "--session-id", "x".repeat(300)],
      "an id has 160 characters at most, this one has 300",
    ],
    [
      ["-p", "hi", "--model", "demo", "--no-session", "--session-id", "x".repeat(161)],
      "an id has 160 characters at most",
    ],
    [
      ["--mode", "rpc", "--model", "demo", "--session", `./${"x".repeat(250)}.jsonl`],
      "its file name has 256 bytes, 200 are allowed",
    ],
  ])("%j", async (args, reason) => {
    const { code, stdout, stderr } = await runText(workspace(), args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.startsWith("pi: ")).toBe(true);
    expect(stderr).toContain(reason);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test("a working directory that is gone", async () => {
    const place = workspace();
    const gone = join(place.root, "gone");
    mkdirSync(gone);
    // Removed by the shell that then becomes the program.
    const cli = startCli({
      place,
      args: [...rpc],
      cwd: gone,
      isText: true,
      wrapper: ["/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh"],
    });
    expect(await cli.ended).toBe(1);
    expect(cli.stdout.toString()).toBe("");
    expect(cli.stderr).toBe("pi: Cannot start: the working directory is gone\n");
  });
});

describe("no model at all", () => {
  test("the process answers, and only prompts are refused", async () => {
    const cli = startCli({ place: workspace(), args: ["--mode", "rpc"] });
    expect(await stateOf(cli)).toMatchObject({ model: null, isStreaming: false });
    expect(await cli.ask({ type: "get_available_models" })).toMatchObject({ success: true, data: { models: [] } });
    expect(await cli.ask({ type: "prompt", message: "hi" })).toMatchObject({
      success: false,
      code: "no_model",
      error: expect.stringMatching(/^No model selected\. /),
    });
    expect(await cli.ask({ type: "set_model", provider: "demo", modelId: "demo" })).toMatchObject({ success: true });
    expect(await cli.ask({ type: "prompt", message: "hi" })).toMatchObject({ data: { disposition: "started" } });
    await cli.records.next({ type: "agent_settled", aborted: false });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
  });

  test("an unknown id of a known provider is taken as given, with a warning", async () => {
    const cli = startCli({
      place: workspace(),
      args: ["--mode", "rpc", "--model", "anthropic/claude-next"],
      env: { ANTHROPIC_API_KEY: "key" },
    });
    expect(await stateOf(cli)).toMatchObject({ model: { provider: "anthropic", id: "claude-next" } });
    expect(cli.stderr).toContain('"claude-next"');
    expect(await cli.ask({ type: "set_model", provider: "anthropic", modelId: "claude-other" })).toMatchObject({
      success: false,
      error: "Model not found: anthropic/claude-other",
      code: "not_found",
    });
  });
});

describe("broken files", () => {
  test.each([
    ["models.json", '{\n  "providers": {\n    "mine": {\n', /models\.json:4:1: /],
    ["settings.json", '{\n  "steeringMode": "all",,\n}\n', /settings\.json:2:25: /],
    ["auth.json", "[1, 2", /auth\.json:1:6: /],
  ])("%s: the place is named, the file stays as it is, the rest works", async (name, text, place_) => {
    const place = workspace({ [`agent/${name}`]: text });
    const cli = startCli({ place, args: rpc });
    const { data } = await cli.ask({ type: "get_diagnostics" });
    const [diagnostic] = (data as { diagnostics: Record<string, unknown>[] }).diagnostics;
    expect(diagnostic).toMatchObject({
      severity: "error",
      path: join(place.agentDir, name),
      message: expect.any(String),
    });
    expect(`${diagnostic?.path}:${diagnostic?.line}:${diagnostic?.column}: `).toMatch(place_);
    expect(cli.stderr).toMatch(place_);
    cli.send({ type: "prompt", message: "hello" });
    await cli.records.next({ type: "agent_settled", aborted: false });
    await cli.ask({ type: "set_steering_mode", mode: "all" });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expect(place.read(`agent/${name}`)).toBe(text);
  });

  test("one wrong value of the settings leaves the others in force", async () => {
    const place = workspace({ "agent/settings.json": { steeringMode: "sideways", followUpMode: "all" } });
    const cli = startCli({ place, args: rpc });
    expect(await stateOf(cli)).toMatchObject({ steeringMode: "one-at-a-time", followUpMode: "all" });
    expect(cli.stderr).toMatch(/settings\.json:2:\d+: .*steeringMode/);
  });
});

describe("a models.json that is the reason a model is missing", () => {
  test.each<[string, object, RegExp]>([
    ["a number for an address", { baseUrl: 5 }, /models\.json:\d+:\d+: .*baseUrl/],
    ["no web address", { baseUrl: "file:///x" }, /models\.json:\d+:\d+: .*http or https address/],
  ])("%s is told before the start fails", async (_, provider, told) => {
    const models = {
      providers: { loc: { api: "openai-completions", apiKey: "k", models: [{ id: "m" }], ...provider } },
    };
    const place = workspace({ "agent/models.json": models });
    const { code, stderr } = await runText(place, ["-p", "--model", "loc/m", "hi"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(told);
    expect(stderr).toMatch(/No model matches "loc\/m"\n$/);
  });

  test("an API nobody knows is told of", async () => {
    const provider = { api: "zzz", baseUrl: "http://127.0.0.1:1/{X}", apiKey: "k", models: [{ id: "m" }] };
    const place = workspace({ "agent/models.json": { providers: { loc: provider } } });
    const cli = startCli({ place, args: rpc });
    expect(await cli.ask({ type: "get_diagnostics" })).toMatchObject({
      data: {
        diagnostics: [{ severity: "warning", message: expect.stringContaining('no API of this program: "zzz"') }],
      },
    });
  });
});

describe("the examples of the documents", () => {
  test("docs/models.md: the files are read without a complaint, and do what they say", async () => {
    const document = readFileSync(new URL("../../docs/models.md", import.meta.url), "utf8");
    const [auth, servers, models] = [...document.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text);
    const local = startCli({ place: workspace({ "agent/models.json": servers }), args: rpc });
    expect(await local.ask({ type: "get_diagnostics" })).toMatchObject({ data: { diagnostics: [] } });
    const place = workspace({ "agent/auth.json": auth, "agent/models.json": models });
    const cli = startCli({ place, args: ["--mode", "rpc", "--model", "local/qwen3-coder"] });
    expect(await cli.ask({ type: "get_diagnostics" })).toMatchObject({ data: { diagnostics: [] } });
    expect(await stateOf(cli)).toMatchObject({ model: { baseUrl: "http://127.0.0.1:8080/v1", contextWindow: 65_536 } });
    const { data } = await cli.ask({ type: "get_available_models" });
    const list = (data as { models: { provider: string; id: string; contextWindow: number }[] }).models;
    expect(list.find(({ id, provider }) => provider === "anthropic" && id === "claude-sonnet-5")?.contextWindow).toBe(
      200_000,
    );
    expect(list.some(({ provider }) => provider === "openai")).toBe(true);
    expect(list.some(({ provider }) => provider === "azure")).toBe(false);
  });
});

describe("sessions", () => {
  test("a session is written to the directory of its working directory", async () => {
    const place = workspace();
    const { file, id } = await savedSession(place);
    const folder = `--${place.cwd.slice(1).replaceAll("/", "-")}--`;
    expect(file).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f-]{36}\.jsonl$/);
    expect(file.startsWith(join(place.agentDir, "sessions", folder))).toBe(true);
    expect(readSession(file)[0]).toMatchObject({ type: "session", version: 3, id, cwd: place.cwd });
  });

  test("--session opens by path and by the beginning of an id", async () => {
    const place = workspace();
    const { file, id } = await savedSession(place);
    for (const session of [file, id.slice(0, 13)]) {
      const cli = startCli({ place, args: [...rpc, "--session", session] });
      expect(await stateOf(cli)).toMatchObject({ sessionId: id, sessionFile: file, messageCount: 2 });
    }
  });

  test("--session creates a file that is not there, and refuses one that is no session", async () => {
    const place = workspace({ "project/notes.txt": "hello", "project/notes.jsonl": "hello\n" });
    const cli = startCli({ place, args: [...rpc, "--session", "./mine.jsonl"] });
    expect(await stateOf(cli)).toMatchObject({ sessionFile: join(place.cwd, "mine.jsonl"), messageCount: 0 });
    for (const name of ["./notes.txt", "notes.jsonl"]) {
      const before = readFileSync(join(place.cwd, name), "utf8");
      const { code, stdout, stderr } = await runText(place, [...rpc, "--session", name]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^pi: Cannot open session ".*notes\..*": /);
      expect(readFileSync(join(place.cwd, name), "utf8")).toBe(before);
    }
  });

  test("--session-id starts a session with that id and finds it again", async () => {
    const place = workspace();
    const { file } = await savedSession(place, ["--session-id", "my-chat.1"]);
    const cli = startCli({ place, args: [...rpc, "--session-id", "my-chat.1"] });
    expect(await stateOf(cli)).toMatchObject({ sessionId: "my-chat.1", sessionFile: file, messageCount: 2 });
    const { code, stderr } = await runText(place, [...rpc, "--session-id", "../evil"]);
    expect(code).toBe(1);
    expect(stderr).toContain("../evil");
  });

  test("--continue opens the latest of this directory, or a new one", async () => {
    const place = workspace();
    const fresh = startCli({ place, args: [...rpc, "--continue"] });
    expect(await stateOf(fresh)).toMatchObject({ messageCount: 0 });
    await savedSession(place);
    const { id } = await savedSession(place);
    const cli = startCli({ place, args: [...rpc, "-c"] });
    expect(await stateOf(cli)).toMatchObject({ sessionId: id, messageCount: 2 });
    const elsewhere = startCli({ place, args: [...rpc, "-c"], cwd: place.home });
    expect(await stateOf(elsewhere)).toMatchObject({ messageCount: 0 });
  });

  test("--name names the session", async () => {
    const place = workspace();
    const { file } = await savedSession(place, ["--name", "  My chat "]);
    expect(readSession(file)).toContainEqual(expect.objectContaining({ type: "session_info", name: "My chat" }));
    const cli = startCli({ place, args: [...rpc, "--session", file] });
    expect(await stateOf(cli)).toMatchObject({ sessionName: "My chat" });
  });

  test("sessions lie where the option, else the variable, else the setting says", async () => {
    const place = workspace({ "agent/settings.json": { sessionDir: "by-setting" } });
    const environment = { PI_CODING_AGENT_SESSION_DIR: "by-variable" };
    const folderOf = async (args: readonly string[], env?: Record<string, string>) => {
      const { file } = await savedSession(place, args, env);
      return file.slice(place.cwd.length + 1, file.lastIndexOf("/"));
    };
    expect(await folderOf([])).toBe("by-setting");
    expect(await folderOf([], environment)).toBe("by-variable");
    expect(await folderOf(["--session-dir", "by-option"], environment)).toBe("by-option");
  });

  test("--no-session writes nothing", async () => {
    const place = workspace();
    const cli = startCli({ place, args: [...rpc, "--no-session"] });
    cli.send({ type: "prompt", message: "hello" });
    await cli.records.next({ type: "agent_settled" });
    expect(await stateOf(cli)).not.toHaveProperty("sessionFile");
    expect(place.sessionFiles()).toEqual([]);
  });

  test("a session whose working directory is gone is refused", async () => {
    const place = workspace({ "elsewhere/a.txt": "" });
    const elsewhere = join(place.root, "elsewhere");
    const cli = startCli({ place, args: rpc, cwd: elsewhere });
    cli.send({ type: "prompt", message: "hello" });
    await cli.records.next({ type: "agent_settled" });
    const { sessionFile } = (await stateOf(cli)) as { sessionFile: string };
    cli.closeStdin();
    await cli.ended;
    rmSync(elsewhere, { recursive: true });
    const { code, stderr } = await runText(place, [...rpc, "--session", sessionFile]);
    expect(code).toBe(1);
    expect(stderr).toBe(`pi: Cannot open session "${sessionFile}": its working directory "${elsewhere}" is gone\n`);
  });

  test("a session runs in its own directory", async () => {
    const place = workspace({ "elsewhere/only-here.txt": "" });
    const { file } = await savedSession(place);
    const header = readSession(file);
    (header[0] as { cwd: string }).cwd = join(place.root, "elsewhere");
    writeFileSync(file, header.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const cli = startCli({ place, args: [...rpc, "--session", file] });
    expect(await cli.ask({ type: "bash", command: "ls" })).toMatchObject({ data: { output: "only-here.txt\n" } });
  });
});

describe("second writer", () => {
  test("is refused as session_locked while the first one lives, and told so in get_state", {
    timeout: 30_000,
  }, async () => {
    const place = workspace();
    const { file } = await savedSession(place);
    const first = startCli({ place, args: [...rpc, "--session", file] });
    first.send({ type: "prompt", message: "mine" });
    await first.records.next({ type: "agent_settled" });
    const second = startCli({ place, args: [...rpc, "--session", file] });
    expect(await second.ask({ type: "prompt", message: "not yours" })).toMatchObject({
      success: false,
      code: "session_locked",
    });
    expect(await stateOf(second)).toMatchObject({ readOnly: true });
    first.signal("SIGKILL" as never);
    await first.ended;
    expect(await second.ask({ type: "prompt", message: "now mine" })).toMatchObject({ success: true });
    await second.records.next({ type: "agent_settled" });
    const texts = readSession(file).flatMap(({ message }) =>
      (message as { role?: string })?.role === "user"
        ? [JSON.stringify((message as { content: unknown }).content)]
        : [],
    );
    expect(texts.join()).toContain("now mine");
    expect(texts.join()).not.toContain("not yours");
  });
});

describe("environment of commands", () => {
  test("children know whom they work for, and keys can be hidden", async () => {
    const files = { "agent/settings.json": { shell: { hideCredentials: true } } };
    const { cli } = await startCliRpc({ env: { OPENAI_API_KEY: "secret-key", OTHER: "kept" }, files });
    const { data } = await cli.ask({ type: "bash", command: "env" });
    const { output } = data as { output: string };
    expect(output).toContain("AI_AGENT=pi\n");
    expect(output).toContain("PI_CODING_AGENT=true\n");
    expect(output).toContain("OTHER=kept\n");
    expect(output).not.toContain("secret-key");
    const open = await startCliRpc({ env: { OPENAI_API_KEY: "secret-key" } });
    expect(await open.cli.ask({ type: "bash", command: "echo $OPENAI_API_KEY" })).toMatchObject({
      data: { output: "secret-key\n" },
    });
  });
});
