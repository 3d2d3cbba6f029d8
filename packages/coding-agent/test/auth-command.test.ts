import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { authCommand } from "../src/auth-command.js";
import { loadResources } from "../src/resources/load.js";
import { cliPath, runCli } from "./helpers/running-cli.js";
import { type Workspace, workspace } from "./helpers/workspace.js";

const secret = "sk-canary-1";

/** Runs the command in this process; `typed` is what somebody types at a terminal. */
async function auth(
  place: Workspace,
  words: string[],
  { piped = "", typed, env = {} }: { piped?: string; typed?: string; env?: Record<string, string> } = {},
) {
  let stdout = "";
  const log: string[] = [];
  const stdin = Object.assign(Readable.from(typed === undefined ? [Buffer.from(piped)] : []), { setRawMode() {} });
  const io = {
    writeText: (text: string) => {
      stdout += text;
      return undefined;
    },
    drained: async () => {},
    failed: false,
    log: (text: string) => {
      log.push(text);
      if (typed !== undefined) stdin.emit("data", Buffer.from(typed));
    },
    isTerminal: { stdin: typed !== undefined, stdout: true },
  };
  const environment = place.environment(env);
  const resources = loadResources({
    cwd: place.cwd,
    env: environment,
    agentDir: place.agentDir,
    isTrusted: () => false,
  });
  const code = await authCommand(words, { io, stdin: stdin as never, resources });
  return { code, stdout, stderr: log.join("\n") };
}

const storedIn = (place: Workspace) => JSON.parse(place.read("agent/auth.json"));
const local = { local: { baseUrl: "http://127.0.0.1:9", api: "openai-completions", models: [{ id: "m" }] } };

describe("pi auth login", () => {
  test("stores a piped key for its owner only, and says nothing of it", async () => {
    const place = workspace();
    const path = `${place.agentDir}/auth.json`;
    const { code, stdout, stderr } = await auth(place, ["login", "openai", "--api-key"], { piped: `${secret}\n` });
    expect([code, stdout, stderr]).toEqual([0, `Stored a key for "openai" in ${path}\n`, ""]);
    expect(storedIn(place)).toEqual({ openai: { type: "api_key", key: secret } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("asks at a terminal, and gives up when told to", async () => {
    const place = workspace();
    const done = await auth(place, ["login", "groq"], { typed: `${secret}\r` });
    expect([done.code, done.stderr]).toEqual([0, "API key for Groq (it is not shown):"]);
    expect(storedIn(place).groq.key).toBe(secret);
    const given = await auth(place, ["login", "xai"], { typed: "half\x03" });
    expect([given.code, given.stdout]).toEqual([1, ""]);
    expect(given.stderr).toContain("Nothing was stored");
    expect(storedIn(place)).toEqual({ groq: { type: "api_key", key: secret } });
  });

  test("keeps what else is in the file, and replaces what was stored for the provider", async () => {
    const other = { type: "oauth", access: "token" };
    const place = workspace({ "agent/auth.json": { other, openai: { type: "oauth", access: "old" } } });
    await auth(place, ["login", "openai"], { piped: secret });
    expect(storedIn(place)).toEqual({ other, openai: { type: "api_key", key: secret } });
  });

  test("a provider of models.json and a local server can have keys", async () => {
    const place = workspace({ "agent/models.json": { providers: { ...local, ollama: {} } } });
    expect((await auth(place, ["login", "local"], { piped: secret })).code).toBe(0);
    expect((await auth(place, ["login", "ollama"], { piped: secret })).code).toBe(0);
  });

  test.each<[string, string[], string, string]>([
    ["an unknown provider", ["login", "nobody"], secret, 'Unknown provider "nobody"; known are anthropic, openai,'],
    ["one that needs none", ["login", "demo"], secret, 'Provider "demo" needs no key'],
    ["no key", ["login", "openai"], " \n", "Cannot store a key: nothing was given on stdin"],
    ["two lines", ["login", "openai"], "a\nb", "Cannot store a key: it has blanks or control characters in it"],
    [
      "other letters",
      ["login", "openai"],
      "sk-€",
      "Cannot store a key: it has characters that no HTTP header can carry",
    ],
    ["no provider", ["login"], secret, "Usage:"],
    ["two providers", ["login", "openai", "groq"], secret, "Usage:"],
    ["a key as an argument", ["login", "openai", "--api-key=x"], secret, "does not take an argument"],
    ["an unknown action", ["refresh"], secret, "Usage:"],
    ["nothing", [], secret, "Usage:"],
  ])("is refused for %s, and nothing is stored", async (_, words, piped, reason) => {
    const place = workspace({ "agent/auth.json": "{}" });
    const { code, stdout, stderr } = await auth(place, words, { piped });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`pi: ${reason.startsWith("does") ? "Option '--api-key' " : ""}${reason}`);
    expect(place.read("agent/auth.json")).toBe("{}");
  });

  test("leaves a broken file as it is, and names the place", async () => {
    const place = workspace({ "agent/auth.json": '{"openai": ' });
    const { code, stderr } = await auth(place, ["login", "openai"], { piped: secret });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Cannot change "${place.agentDir}/auth.json:1:12"`)]);
    expect(place.read("agent/auth.json")).toBe('{"openai": ');
  });
});

describe("pi auth logout", () => {
  test("removes what is stored, may be repeated, and tells of credentials that stay", async () => {
    const place = workspace({ "agent/auth.json": { groq: { type: "api_key", key: secret }, x: { type: "oauth" } } });
    const path = `${place.agentDir}/auth.json`;
    const env = { GROQ_API_KEY: "k" };
    expect((await auth(place, ["logout", "groq"], { env })).stdout).toBe(
      `Removed the key of "groq" from ${path}; it still has credentials elsewhere\n`,
    );
    expect(await auth(place, ["logout", "groq"])).toEqual({
      code: 0,
      stdout: 'Nothing is stored for "groq"\n',
      stderr: "",
    });
    expect((await auth(place, ["logout", "x"])).code).toBe(0);
    expect(storedIn(place)).toEqual({});
    expect((await auth(place, ["logout", "nobody"])).code).toBe(1);
  });
});

describe("pi auth check", () => {
  const files = {
    "agent/models.json": {
      providers: {
        ...local,
        failing: { ...local.local, apiKey: "!echo leaked; exit 2" },
        ready: { ...local.local, apiKey: secret },
      },
    },
    "agent/auth.json": { openai: { type: "api_key", key: "$UNSET" } },
  };

  test.each<[string[], Record<string, string>, number, object]>([
    [["--provider", "ready"], {}, 0, { status: "ready", provider: "ready" }],
    [["--model", "ready/m:high"], {}, 0, { status: "ready", provider: "ready", model: "m" }],
    [["--provider", "groq"], { GROQ_API_KEY: "k" }, 0, { status: "ready", provider: "groq" }],
    [["--provider", "demo"], {}, 0, { status: "ready", provider: "demo" }],
    [[], {}, 1, { status: "not_ready", provider: "failing", reason: expect.stringContaining("exit code 2") }],
    [
      ["--provider", "groq"],
      {},
      1,
      { status: "not_ready", provider: "groq", reason: expect.stringContaining("GROQ_API_KEY") },
    ],
    [["--provider", "openai"], {}, 1, { status: "not_ready", provider: "openai", reason: expect.any(String) }],
    [["--provider", "local"], {}, 1, { status: "not_ready", provider: "local", reason: expect.any(String) }],
    [
      ["--provider", "nobody"],
      {},
      2,
      { status: "invalid", provider: "nobody", reason: expect.stringMatching(/^Unknown provider "nobody"/) },
    ],
    [["--model", "zzz"], {}, 2, { status: "invalid", reason: 'No model matches "zzz"' }],
    [["--provider"], {}, 2, { status: "invalid", reason: expect.stringContaining("--provider") }],
    [["--nonsense"], {}, 2, { status: "invalid", reason: "Unknown option '--nonsense'" }],
    [["extra"], {}, 2, { status: "invalid", reason: expect.stringContaining("extra") }],
  ])("%j", async (words, env, code, report) => {
    const place = workspace(files);
    const json = await auth(place, ["check", "--json", ...words], { env });
    expect([json.code, JSON.parse(json.stdout), json.stderr]).toEqual([code, report, ""]);
    const { reason, status } = JSON.parse(json.stdout);
    const text = await auth(place, ["check", ...words], { env });
    expect(text).toEqual({ code, stdout: `${status}\n`, stderr: reason ? `pi: ${reason}` : "" });
    expect(json.stdout + text.stderr).not.toMatch(/canary|leaked/);
  });

  test("a file without any credentials", async () => {
    expect(await auth(workspace(), ["check"])).toEqual({
      code: 1,
      stdout: "not_ready\n",
      stderr: "pi: No provider has credentials",
    });
  });
});

/** Plays a terminal: types the key when it is asked for, and prints what the terminal shows. */
const terminal = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
typed = False
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:
        break
    if not read:
        break
    shown += read
    if b"not shown" in shown and not typed:
        typed = True
        os.write(terminal, b"sk-canary-1\\r")
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

describe("the built program", () => {
  test("does not show a key that is typed at a terminal", () => {
    const place = workspace();
    const command = [process.execPath, cliPath, "auth", "login", "groq", "--api-key"];
    const { status, stdout } = spawnSync("python3", ["-c", terminal, ...command], {
      env: place.environment(),
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^API key for Groq .*\r\nStored a key for "groq" in .*\r\n$/),
    ]);
    expect(stdout).not.toContain("canary");
    expect(storedIn(place).groq.key).toBe(secret);
  });

  test("stores a key that is then used, and shows its help", async () => {
    const place = workspace();
    const help = await runCli({ place, args: ["auth", "--help"], isText: true });
    expect([help.code, help.stdout.toString()]).toEqual([0, expect.stringMatching(/^Usage:\n {2}pi auth login /)]);
    const login = await runCli({ place, args: ["auth", "login", "groq", "--api-key"], input: secret, isText: true });
    expect([login.code, login.stderr]).toEqual([0, ""]);
    const check = await runCli({ place, args: ["auth", "check"], isText: true });
    expect([check.code, check.stdout.toString(), check.stderr]).toEqual([0, "ready\n", ""]);
    const bad = await runCli({ place, args: ["auth", "check", "--provider", "nobody"], isText: true });
    expect([bad.code, bad.stdout.toString()]).toEqual([2, "invalid\n"]);
  });
});
