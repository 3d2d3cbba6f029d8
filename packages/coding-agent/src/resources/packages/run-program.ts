// Runs npm and git: nothing can be asked, nothing runs for ever, and what went wrong is told without credentials.

import { killGroup, spawnGroup } from "../../lib/shell.js";
import { hideCredentials } from "./source.js";

export interface ProgramOptions {
  cwd: string;
  env?: Record<string, string | undefined>;
  /** Milliseconds. */
  timeoutMs?: number;
}

/** Five minutes: an install over a slow line takes one or two. */
const defaultTimeoutMs = 300_000;
const keptCharacters = 16_384;

/** What the program wrote to stdout. Throws with the end of what it wrote to stderr when it fails. */
export async function runProgram(command: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { cwd, env = process.env, timeoutMs = defaultTimeoutMs } = options;
  const child = spawnGroup(command, args, {
    cwd,
    env: {
      ...env,
      GIT_TERMINAL_PROMPT: "0",
      GIT_SSH_COMMAND: env.GIT_SSH_COMMAND ?? "ssh -o BatchMode=yes",
      npm_config_yes: "true",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] = (output[name] + text).slice(-keptCharacters);
    });
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) killGroup(child.pid);
      // Somebody who left the group may hold them open for ever.
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, timeoutMs);
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error(`"${command} ${shownAction(args)}" failed: ${reason}`));
    };
    child.once("error", (error: NodeJS.ErrnoException) =>
      fail(error.code === "ENOENT" ? `"${command}" was not found` : error.message),
    );
    child.once("close", (code, signal) => {
      if (isLate) return fail(`it took longer than ${timeoutMs / 1000} s`);
      if (code !== 0) return fail(lastLines(output.stderr || output.stdout) || `exit ${code ?? signal}`);
      clearTimeout(timer);
      resolve(output.stdout);
    });
  });
}

/** The first word that is no option. */
function shownAction(args: readonly string[]): string {
  return (
    args.find((arg, index) => !arg.startsWith("-") && !["-C", "-c", "--prefix"].includes(args[index - 1] ?? "")) ?? ""
  );
}

function lastLines(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return hideCredentials(lines.filter(Boolean).slice(-6).join("; "));
}
