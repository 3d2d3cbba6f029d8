import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { processGroups } from "../../src/lib/shell.js";
import { type CommandOptions, describeTruncation, runCommand } from "../../src/tools/run-command.js";
import { bundledProgram } from "../lib/bundled-program.js";
import { isWellFormed } from "../lib/well-formed.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();
afterEach(() => {
  processGroups.endAll();
});

const run = (command: string, options: Partial<CommandOptions> = {}) =>
  runCommand(command, { cwd: folder.path, env: process.env, tempDirectory: folder.path, ...options });

describe("runCommand", () => {
  test("gives output, exit code and counts", async () => {
    const result = await run("echo hello; exit 3");
    expect(result).toEqual({
      output: "hello\n",
      exitCode: 3,
      cancelled: false,
      timedOut: false,
      truncated: false,
      totalLines: 1,
      totalBytes: 6,
      truncation: expect.objectContaining({ content: "hello\n", truncated: false }),
    });
    expect(describeTruncation(result)).toBeUndefined();
  });

  test("keeps stdout and stderr in order", async () => {
    const { output } = await run("for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done");
    expect(output).toBe([1, 2, 3, 4, 5].map((i) => `out${i}\nerr${i}\n`).join(""));
  });

  test("runs in the directory, with the environment and its marks, and nothing on stdin", async () => {
    const { output } = await run('pwd; cat; echo "$AI_AGENT $PI_CODING_AGENT $MINE [$HOME]"', {
      env: { PATH: process.env.PATH, MINE: "yes" },
    });
    expect(output).toBe(`${folder.path}\npi true yes []\n`);
  });

  test("takes the command as one text: quotes, several lines, here documents", async () => {
    const { output } = await run(`cat <<'END'\n$HOME "quoted" 'single'\nEND\necho "a  b" # comment`);
    expect(output).toBe(`$HOME "quoted" 'single'\na  b\n`);
  });

  test("reports a fault of syntax on its own line", async () => {
    const { output, exitCode } = await run("echo one\nif");
    expect(output).toMatch(/^one\n.*line 3: syntax error/);
    expect(exitCode).toBe(2);
  });

  test("counts a signal as shells do", async () => {
    expect((await run("kill -9 $$")).exitCode).toBe(137);
  });

  test("cleans output over the edges of writes", async () => {
    const { output } = await run(`printf 'a\\033[3'; printf '1mred\\033[0m\\r\\nb\\000c\\377d\\n'`);
    expect(output).toBe("ared\nbc\ufffdd\n");
  });

  test("delivers all output in order and shows the end, with the whole in a log", async () => {
    let delivered = "";
    const result = await run("seq 1 3000", {
      onOutput: (text) => {
        delivered += text;
      },
    });
    const whole = Array.from({ length: 3000 }, (_, i) => `${i + 1}\n`).join("");
    expect(delivered).toBe(whole);
    expect(result.output).toBe(whole.slice(whole.indexOf("1001\n")));
    expect(result.truncated).toBe(true);
    expect(result.fullOutputPath).toMatch(/\/pi-bash-[0-9a-f]+\.log$/);
    expect(readFileSync(result.fullOutputPath!, "utf8")).toBe(whole);
    expect(statSync(result.fullOutputPath!).mode & 0o777).toBe(0o600);
    expect(describeTruncation(result)).toBe(`[Showing lines 1001-3000 of 3000. Full output: ${result.fullOutputPath}]`);
  });

  test("shows the end of one very long line", async () => {
    const result = await run("printf %200000d 7");
    expect(result.output).toBe(`${" ".repeat(51_199)}7`);
    expect([result.truncated, result.totalLines, result.totalBytes]).toEqual([true, 1, 200_000]);
    expect(readFileSync(result.fullOutputPath!, "utf8")).toHaveLength(200_000);
    expect(describeTruncation(result)).toMatch(/^\[Showing the last 50\.0KB of line 1\. Full output: /);
  });

  test("makes no log for output within the limits", async () => {
    await run("seq 1 2000");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("takes binary output", async () => {
    const { output } = await run("head -c 300000 /dev/urandom");
    expect(isWellFormed(output)).toBe(true);
    expect(output).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });

  test("pauses the command while the reader is busy", async () => {
    const pieces: string[] = [];
    let read!: () => void;
    const command = run("seq 1 200000; echo > done", {
      onOutput: (text) => {
        pieces.push(text);
        return pieces.length > 1 ? undefined : new Promise<void>((resolve) => (read = resolve));
      },
    });
    await expect.poll(() => pieces.length, { interval: 5, timeout: 20_000 }).toBe(1);
    // More than a pipe holds is still to come, so the command cannot have ended.
    expect((await run("seq 1 3")).output).toBe("1\n2\n3\n");
    expect(pieces).toHaveLength(1);
    expect(existsSync(join(folder.path, "done"))).toBe(false);
    read();
    const { totalLines } = await command;
    expect(totalLines).toBe(200_000);
    expect(pieces.join("")).toHaveLength(1_288_895);
  });

  test("loses nothing that was written before the shell's end when the reader is slow", async () => {
    let length = 0;
    const { totalBytes } = await run("seq 1 30000", {
      graceMs: 0,
      onOutput: async (text) => {
        length += text.length;
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    expect([length, totalBytes]).toEqual([168_894, 168_894]);
  });

  test("does not wait for a background child that holds the pipe", async () => {
    const { output, exitCode } = await run("cat /dev/zero | sleep 300 & echo started", { graceMs: 20 });
    expect([output, exitCode]).toEqual(["started\n", 0]);
    expect(processGroups.list()).toHaveLength(1);
  });

  test("does not wait for a background child that never stops writing, and feeds nothing later", async () => {
    let delivered = 0;
    const { totalBytes } = await run("yes & echo started", {
      graceMs: 20,
      onOutput: (text) => {
        delivered += text.length;
      },
    });
    expect(delivered).toBe(totalBytes);
    await run("true");
    expect(delivered).toBe(totalBytes);
  });

  test("stops the whole group on abort and keeps what was printed", async () => {
    const abort = new AbortController();
    const result = await run("echo begun; sleep 300 | sleep 301", {
      signal: abort.signal,
      onOutput: () => abort.abort(),
    });
    expect(result).toMatchObject({ output: "begun\n", exitCode: undefined, cancelled: true, timedOut: false });
  });

  test("stops what ignores the polite signal", async () => {
    const abort = new AbortController();
    const result = await run(`trap '' TERM; (trap '' TERM; sleep 300) & echo begun; wait; sleep 300`, {
      signal: abort.signal,
      onOutput: () => abort.abort(),
    });
    expect(result).toMatchObject({ output: "begun\n", cancelled: true });
  });

  test("does not start what was aborted before", async () => {
    const result = await run("touch made", { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ output: "", exitCode: undefined, cancelled: true });
    expect(existsSync(join(folder.path, "made"))).toBe(false);
  });

  test("stops at the timeout", async () => {
    const result = await run("echo begun; sleep 300", { timeoutSeconds: 1.5 });
    expect(result).toMatchObject({ output: "begun\n", exitCode: undefined, cancelled: false, timedOut: true });
  });

  test.each([0, -1, 1e12, Number.NaN])("refuses a timeout of %d", async (timeoutSeconds) => {
    await expect(run("true", { timeoutSeconds })).rejects.toThrow(
      `Cannot run command: timeout must be above 0 and at most 86400 seconds, not ${timeoutSeconds}`,
    );
  });

  test("says which shell cannot be started and which directory is gone", async () => {
    await expect(run("true", { shellPath: "/no/shell" })).rejects.toThrow(
      'Cannot start shell "/no/shell": no such file',
    );
    await expect(run("true", { cwd: join(folder.path, "gone") })).rejects.toThrow(
      `Cannot run command: working directory "${folder.path}/gone" does not exist`,
    );
    await expect(run("true", { shellPath: "/no\0shell" })).rejects.toThrow("no such file");
  });

  test("refuses what the system would not take as one text", async () => {
    await expect(run(`: ${"x".repeat(3_000_000)}`)).rejects.toThrow(
      "Cannot run command: the command is too long for the system (128.0KB); write it to a file and run that",
    );
    await expect(run("true", { env: { ...process.env, LONG: "x".repeat(3_000_000) } })).rejects.toThrow(
      "Cannot run command: the command and its environment are too long for the system",
    );
    await expect(run("echo a\0b")).rejects.toThrow(
      'Cannot run command "echo a\\0b": a command cannot hold a NUL character',
    );
    await expect(run("true", { cwd: `${folder.path}\0` })).rejects.toThrow("a path cannot hold a NUL character");
  });

  test("fails alone when this process has no file descriptor left", async () => {
    const program = await bundledProgram(folder.path, import.meta.url, withoutDescriptors);
    const child = spawn("sh", ["-c", 'ulimit -n 60; exec "$0" "$@"', process.execPath, program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    expect(await text(child.stdout)).toMatch(
      /^Cannot start shell "[^"]+": EMFILE: too many open files\nCannot start ripgrep: EMFILE: too many open files\nafterwards 0\n$/,
    );
    expect((await ended)[0]).toBe(0);
  });

  test("ends the command and throws what its reader throws", async () => {
    const fault = () => run("echo a; sleep 300", { onOutput: () => Promise.reject(new Error("reader gone")) });
    await expect(fault()).rejects.toThrow("reader gone");
    const atOnce = () =>
      run("echo a; sleep 300", {
        onOutput: () => {
          throw new Error("reader gone at once");
        },
      });
    await expect(atOnce()).rejects.toThrow("reader gone at once");
  });

  test.runIf(existsSync("/proc/self/fd"))("leaves no file descriptor open", async () => {
    // In a process of its own: here the threads of other tests come and go.
    const program = await bundledProgram(folder.path, import.meta.url, manyCommands);
    const child = spawn(process.execPath, [program, folder.path], { stdio: ["ignore", "pipe", "inherit"] });
    expect(await text(child.stdout)).toBe("all closed\n");
  });
});

/** Runs many commands and waits, within reason, until as many descriptors are open as before. */
const manyCommands = `
import { readdirSync } from "node:fs";
import { processGroups } from "../../src/lib/shell.ts";
import { runCommand } from "../../src/tools/run-command.ts";

const tempDirectory = process.argv[2];
const run = (command, graceMs) => runCommand(command, { cwd: "/", env: process.env, tempDirectory, graceMs });
const open = () => readdirSync("/proc/self/fd").length;
await run("seq 1 3000");
const before = open();
for (let count = 0; count < 20; count++) await run("seq 1 3000");
await Promise.all(Array.from({ length: 10 }, () => run("sleep 300 & seq 1 3000", 1)));
processGroups.endAll();
for (let look = 0; look < 50_000 && open() > before; look++) await new Promise((resolve) => setImmediate(resolve));
process.stdout.write(open() > before ? open() - before + " still open\\n" : "all closed\\n");
`;

/** Opens files until none can be opened, and says how commands fail then; afterwards they run again. */
const withoutDescriptors = `
import { closeSync, openSync } from "node:fs";
import { runCommand } from "../../src/tools/run-command.ts";
import { runRipgrep } from "../../src/tools/search.ts";

const run = () => runCommand("true", { cwd: "/", env: process.env });
const search = () => runRipgrep(["--version"], { cwd: "/", signal: undefined, onLine: () => true });
await search();
const open = [];
try {
  for (;;) open.push(openSync("/dev/null"));
} catch {}
for (const start of [run, search]) await start().catch((error) => process.stdout.write(error.message + "\\n"));
for (const descriptor of open) closeSync(descriptor);
process.stdout.write("afterwards " + (await run()).exitCode + "\\n");
`;
