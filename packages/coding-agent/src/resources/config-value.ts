// Values of configuration that stand for something else: `$NAME`, `${NAME}`, `!command`, or just themselves.

import type { ChildProcess } from "node:child_process";
import { isHeaderValue } from "@earendil-works/pi-ai";

export type Environment = Record<string, string | undefined>;

/** A key command that takes longer than this is given up. */
const commandTimeoutMs = 10_000;
const maxOutputBytes = 64 * 1024;

/** A value that does not resolve. The text never holds output of a command, which may be a secret. */
export class ConfigValueError extends Error {
  override readonly name = "ConfigValueError";
}

/**
 * The variables a value needs that are not set; a value without variables and commands needs none. Tells whether a
 * value will resolve without running anything.
 */
export function missingVariables(value: string, env: Environment): string[] {
  if (value.startsWith("!")) return [];
  return [...value.matchAll(pattern)].flatMap(([, braced, plain]) => {
    const name = braced ?? plain;
    return name && !env[name] ? [name] : [];
  });
}

/**
 * The text a value stands for. `$NAME` and `${NAME}` are variables, `$$` a dollar sign, a leading `!` runs the rest in the
 * shell and takes its output without the line end, a leading `$!` is an exclamation mark. A command is given up after
 * `limitMs` and when it gives more than 64 KB. Rejects with `ConfigValueError`.
 */
export async function resolveConfigValue(
  value: string,
  env: Environment,
  limitMs: number = commandTimeoutMs,
): Promise<string> {
  if (value.startsWith("!")) return runCommand(value.slice(1), env, limitMs);
  const [missing] = missingVariables(value, env);
  if (missing) throw new ConfigValueError(`the variable ${missing} is not set`);
  return value.replace(pattern, (_, braced?: string, plain?: string, sign?: string) => {
    const name = braced ?? plain;
    return name ? (env[name] ?? "") : (sign ?? "");
  });
}

/** Why a value can stand for nothing that goes into an HTTP header: `has characters …`. A command is known when it has run. */
export function unsendableValue(value: string): string | undefined {
  return value.startsWith("!") || isHeaderValue(value) ? undefined : notForHeaders;
}

/** What is wrong with a text that no HTTP header can carry; the text itself may be a secret. */
export const notForHeaders = "has characters that no HTTP header can carry";

/** The value that stands for this very text. */
export function literalValue(text: string): string {
  return text.replaceAll("$", "$$$$").replace(/^!/, "$!");
}

const pattern = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)|([$!]))/g;

async function runCommand(command: string, env: Environment, limitMs: number): Promise<string> {
  // Loaded when a command has to be run: child processes are not needed to start.
  const { graceMs, killGroup, resolveShell, spawnGroup } = await import("../lib/shell.js");
  const child = attempt(() =>
    spawnGroup(resolveShell(), ["-c", command], { env, stdio: ["ignore", "pipe", "ignore"] }),
  );
  const kill = () => child.pid !== undefined && killGroup(child.pid);
  const { output, code, cut } = await outcomeOf(child, { limitMs, graceMs, kill });
  if (cut) throw new ConfigValueError(cut);
  if (code !== 0)
    throw new ConfigValueError(code === null ? "its command was ended" : `its command failed with exit code ${code}`);
  const text = output.replace(/\r?\n$/, "");
  if (text.trim() === "") throw new ConfigValueError("its command gave no output");
  return text;
}

function attempt<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    throw cannotStart(error as Error);
  }
}

function cannotStart({ message }: Error): ConfigValueError {
  return new ConfigValueError(`its command cannot be started: ${message}`);
}

interface Outcome {
  output: string;
  /** null when a signal ended the command. */
  code: number | null;
  /** Why we ended the command. Its output is then half a secret, even when it went by itself before our signal came. */
  cut?: string;
}

function outcomeOf(
  child: ChildProcess,
  { limitMs, graceMs, kill }: { limitMs: number; graceMs: number; kill: () => void },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let cut: string | undefined;
    const end = (reason: string) => {
      cut ??= reason;
      kill();
      // Somebody who left the group may hold it open for ever.
      child.stdout?.destroy();
    };
    let timer = setTimeout(() => end(`its command took longer than ${limitMs / 1000} s`), limitMs);
    child.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) end(`its command gave more than ${maxOutputBytes} bytes`);
      else chunks.push(chunk);
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(cannotStart(error));
    });
    child.once("exit", () => {
      // All of it is there: what still comes is not the shell's.
      clearTimeout(timer);
      timer = setTimeout(() => child.stdout?.destroy(), graceMs);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ output: Buffer.concat(chunks).toString("utf8"), code, ...(cut && { cut }) });
    });
  });
}
