import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BashDetails } from "../../src/tools/bash.js";
import { createBashTool } from "../../src/tools/bash.js";
import type { Clock } from "../../src/tools/index.js";
import { runTool, textOf } from "./run-tool.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();

const bash = (options: Partial<Parameters<typeof createBashTool>[0]> = {}) =>
  createBashTool({ cwd: folder.path, tempDirectory: folder.path, ...options });

describe("bash", () => {
  test("gives the output as it is", async () => {
    expect(await runTool(bash(), { command: "echo hello" })).toEqual({
      content: [{ type: "text", text: "hello\n" }],
      details: undefined,
    });
    expect(await textOf(bash(), { command: "true" })).toBe("(no output)");
  });

  test("a failing command is an error with output and exit code", async () => {
    await expect(textOf(bash(), { command: "echo out; exit 2" })).rejects.toThrow(
      /^out\n\n\nCommand exited with code 2$/,
    );
    await expect(textOf(bash(), { command: "exit 2" })).rejects.toThrow(/^Command exited with code 2$/);
  });

  test("a truncated output is its end, with the log named", async () => {
    const result = await runTool(bash(), { command: "seq 1 3000" });
    const details = result.details as BashDetails;
    const block = result.content[0] as { text: string };
    expect(block.text).toMatch(/^1001\n[\d\n]*\n3000\n\n\n\[Showing lines 1001-3000 of 3000\. Full output: .*\]$/);
    expect(block.text).toContain(details.fullOutputPath);
    expect(details.truncation).toEqual({
      truncated: true,
      truncatedBy: "lines",
      totalLines: 3000,
      totalBytes: 13_893,
      outputLines: 2000,
      outputBytes: 10_000,
      lastLinePartial: false,
      firstLineExceedsLimit: false,
      maxLines: 2000,
      maxBytes: 51_200,
    });
    expect(readFileSync(details.fullOutputPath!, "utf8")).toHaveLength(13_893);
  });

  test("an aborted command ends with the word of it", async () => {
    const abort = new AbortController();
    const call = bash().execute("call_1", { command: "echo begun; sleep 300" }, abort.signal, () => {
      abort.abort();
      return undefined;
    });
    await expect(call).rejects.toThrow(/^begun\n\n\nCommand aborted$/);
  });

  test("a command that takes too long ends with the word of it", async () => {
    await expect(textOf(bash(), { command: "echo begun; sleep 300", timeout: 1.5 })).rejects.toThrow(
      /^begun\n\n\nCommand timed out after 1\.5 seconds$/,
    );
  });

  test("runs the prefix first, in the environment it is given", async () => {
    const tool = bash({ commandPrefix: "greet() { echo hi $1 $NAME; }", environment: () => ({ NAME: "you" }) });
    expect(await textOf(tool, { command: "greet and" })).toBe("hi and you\n");
    expect(await textOf(tool, { command: "echo $AI_AGENT $PI_CODING_AGENT" })).toBe("pi true\n");
  });

  test("reports what there is so far, not more often than every 100 ms, and at the end", async () => {
    execFileSync("mkfifo", ["go1", "go2"], { cwd: folder.path });
    const clock = new ManualClock();
    const updates: string[] = [];
    let sawOne!: () => void;
    const one = new Promise<void>((resolve) => {
      sawOne = resolve;
    });
    const call = bash({ clock }).execute(
      "call_1",
      { command: "echo one; cat go1; echo two; cat go2; echo three" },
      undefined,
      (partial) => {
        updates.push((partial.content[0] as { text: string }).text);
        sawOne();
        return undefined;
      },
    );
    // Both lines in one piece would be one update.
    await one;
    await writeFile(join(folder.path, "go1"), "");
    const [delay, send] = await clock.nextTimer();
    expect([updates, delay]).toEqual([["one\n"], 100]);
    clock.time = 100;
    send();
    expect(updates).toEqual(["one\n", "one\ntwo\n"]);
    await writeFile(join(folder.path, "go2"), "");
    const { content } = await call;
    expect(updates).toEqual(["one\n", "one\ntwo\n", "one\ntwo\nthree\n"]);
    expect(content).toEqual([{ type: "text", text: "one\ntwo\nthree\n" }]);
  });

  test("waits for a reader of partial results that is behind", async () => {
    let caughtUp!: () => void;
    const behind = new Promise<void>((resolve) => {
      caughtUp = resolve;
    });
    let isDone = false;
    const call = bash()
      .execute("call_1", { command: "echo one" }, undefined, () => behind)
      .then(() => {
        isDone = true;
      });
    await runTool(bash(), { command: "true" });
    expect(isDone).toBe(false);
    caughtUp();
    await call;
  });
});

/** Stands still until the test moves it. */
class ManualClock implements Clock {
  time = 0;
  readonly #started: [number, () => void][] = [];
  #wanted: ((timer: [number, () => void]) => void) | undefined;

  now(): number {
    return this.time;
  }

  after(milliseconds: number, action: () => void): () => void {
    this.#started.push([milliseconds, action]);
    this.#hand();
    return () => undefined;
  }

  /** Delay and action of the first timer not asked for yet, started or to come. */
  nextTimer(): Promise<[number, () => void]> {
    return new Promise((resolve) => {
      this.#wanted = resolve;
      this.#hand();
    });
  }

  #hand(): void {
    const timer = this.#wanted && this.#started.shift();
    if (timer) this.#wanted?.(timer);
    if (timer) this.#wanted = undefined;
  }
}
