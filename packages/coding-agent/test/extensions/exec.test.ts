import { describe, expect, test } from "vitest";
import { type ExecOptions, exec } from "../../src/extensions/exec.js";

const node = (script: string, options: ExecOptions = {}) =>
  exec(process.execPath, ["-e", script], options, process.env);

describe("exec", () => {
  test("gives output, code and fate; a failure is no rejection", async () => {
    expect(await node("console.log('out'); console.error('err'); process.exitCode = 7")).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      code: 7,
      killed: false,
      truncated: false,
    });
  });

  test("no shell reads the arguments", async () => {
    const { stdout } = await exec(
      process.execPath,
      ["-e", "console.log(process.argv[1])", "$HOME; *"],
      {},
      process.env,
    );
    expect(stdout).toBe("$HOME; *\n");
  });

  test("the environment is the one given, and says who asks", async () => {
    const script =
      "console.log([process.env.MINE, process.env.AI_AGENT, process.env.PI_CODING_AGENT, process.env.HOME].join())";
    const { stdout } = await exec(process.execPath, ["-e", script], {}, { MINE: "1", HOME: undefined });
    expect(stdout).toBe("1,pi,true,\n");
  });

  test("a timeout ends the program and what it started: 128 + SIGTERM", async () => {
    const script = `
      const { spawn } = require("node:child_process");
      spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      setInterval(() => {}, 1000);`;
    // The grandchild holds the pipe: this resolves only when it is gone too.
    expect(await node(script, { timeout: 150 })).toMatchObject({ code: 143, killed: true });
  });

  test("an abort while it runs, and one that came before", async () => {
    const abort = new AbortController();
    const running = node("process.stdout.write('up'); setInterval(() => {}, 1000)", { signal: abort.signal });
    abort.abort();
    expect(await running).toMatchObject({ code: 143, killed: true });
    expect(await node("", { signal: AbortSignal.abort() })).toEqual({
      stdout: "",
      stderr: "",
      code: 143,
      killed: true,
      truncated: false,
    });
  });

  test("too much output ends the program; what fits is kept", async () => {
    const script = "setInterval(() => process.stdout.write('x'.repeat(1000)), 1)";
    const result = await node(script, { maxBuffer: 1500 });
    expect(result).toMatchObject({ killed: true, truncated: true });
    expect(result.stdout).toBe("x".repeat(1500));
    expect(result.code).not.toBe(0);
  });

  test("a program that is not there", async () => {
    expect(await exec("/no/such/program", [], {}, process.env)).toMatchObject({
      code: 1,
      killed: false,
      stderr: expect.stringContaining("ENOENT"),
    });
  });

  test("a text that is cut by chunks is decoded whole", async () => {
    const { stdout } = await node(
      "const b = Buffer.from('ä€'); process.stdout.write(b.subarray(0, 1), () => process.stdout.write(b.subarray(1)))",
    );
    expect(stdout).toBe("ä€");
  });
});
