// `pi.exec`: a program run without a shell, its output collected, ended on abort, timeout and too much output.

import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { killGroup, spawnGroup } from "../lib/shell.js";

/** Times in milliseconds. `maxBuffer` is for stdout and stderr together. */
export interface ExecOptions {
  signal?: AbortSignal;
  timeout?: number;
  cwd?: string;
  maxBuffer?: number;
}

/** `killed` says that we ended the program; a program ended by a signal has 128 + its number as `code`. */
export interface ExecResult {
  stdout: string;
  stderr: string;
  code: number;
  killed: boolean;
  truncated: boolean;
}

/** 256 MiB, as documented for extensions. */
const defaultMaxBuffer = 256 * 1024 * 1024;
/** A program that ignores SIGTERM is ended with SIGKILL after this: 5 s, as documented. */
const killDelayMs = 5000;

/** Never rejects for what the program does: one that cannot be started has `code` 1 and the reason on `stderr`. */
export function exec(
  command: string,
  args: readonly string[],
  { signal, timeout, cwd, maxBuffer = defaultMaxBuffer }: ExecOptions,
  env: Record<string, string | undefined>,
): Promise<ExecResult> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ stdout: "", stderr: "", code: 143, killed: true, truncated: false });
    let child: ChildProcess;
    try {
      child = spawnGroup(command, args, {
        cwd,
        env: { ...env, AI_AGENT: "pi", PI_CODING_AGENT: "true" },
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      return resolve({ stdout: "", stderr: (error as Error).message, code: 1, killed: false, truncated: false });
    }
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let size = 0;
    let killed = false;
    let failure: Error | undefined;
    const timers: NodeJS.Timeout[] = [];
    const stop = () => {
      const { pid } = child;
      if (killed || pid === undefined) return;
      killed = true;
      killGroup(pid, "SIGTERM");
      timers.push(setTimeout(() => killGroup(pid, "SIGKILL"), killDelayMs));
    };
    const take = (name: "stdout" | "stderr") => (chunk: Buffer) => {
      const room = maxBuffer - size;
      if (room > 0) output[name].push(chunk.subarray(0, room));
      size += chunk.length;
      if (size > maxBuffer) stop();
    };
    child.stdout?.on("data", take("stdout"));
    child.stderr?.on("data", take("stderr"));
    if (timeout !== undefined && timeout > 0) timers.push(setTimeout(stop, timeout));
    signal?.addEventListener("abort", stop, { once: true });
    child.on("error", (error) => {
      failure = error;
    });
    child.on("close", (code, endedBy) => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      const text = (name: "stdout" | "stderr") => Buffer.concat(output[name]).toString("utf8");
      const status = endedBy ? 128 + constants.signals[endedBy] : (code ?? 1);
      resolve({
        stdout: text("stdout"),
        stderr: failure ? `${text("stderr")}${failure.message}` : text("stderr"),
        // One that we ended has not done what it was asked, whatever it says itself.
        code: failure || (killed && status === 0) ? 1 : status,
        killed,
        truncated: size > maxBuffer,
      });
    });
  });
}
