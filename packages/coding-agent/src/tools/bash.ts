// The bash tool: runs a command in the working directory and shows the end of what it prints.

import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import * as Type from "typebox";
import { runDelegatedCommand } from "./delegated-command.js";
import type { BashOperations, BashSpawnHook } from "./operations.js";
import {
  type CommandOptions,
  describeTruncation,
  maxTimeoutSeconds,
  type OutputSoFar,
  runCommand,
} from "./run-command.js";
import { type BuiltInTool, checkAborted, systemClock, type ToolOptions } from "./tool.js";
import type { TruncationDetails } from "./truncate.js";

export const bashParameters = Type.Object({
  command: Type.String({ description: "The command, as it would be typed into the shell" }),
  timeout: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: maxTimeoutSeconds,
      description: "Seconds after which the command is stopped; no limit when absent",
    }),
  ),
});

/** `truncation` and `fullOutputPath` are there when the output was cut. */
export interface BashDetails {
  truncation?: TruncationDetails;
  fullOutputPath?: string;
}

/** Milliseconds between two partial results of a running command. */
const updateIntervalMs = 100;

/** `operations` runs commands in place of this machine; `spawnHook` may change each of them before it runs. */
export interface BashToolOptions extends ToolOptions {
  operations?: BashOperations;
  spawnHook?: BashSpawnHook;
}

export function createBashTool(options: BashToolOptions): BuiltInTool<typeof bashParameters, BashDetails> {
  const clock = options.clock ?? systemClock;
  return {
    name: "bash",
    label: "bash",
    description:
      "Run a shell command in the working directory and get its output, stdout and stderr together. The last 2000 lines " +
      "or 50KB are returned, whichever is less; a longer output is saved whole in a file that the result names. A " +
      "command that fails is an error with its exit code. Nothing can be typed into it. Redirect the output of " +
      "background processes to a file: their pipe is closed when the command ends.",
    promptSnippet: "Run shell commands",
    parameters: bashParameters,
    async execute(_id, { command, timeout }, signal, onUpdate) {
      checkAborted(signal);
      const updates = new Updates(clock, (soFar) => onUpdate(toToolResult(soFar.truncation.content, soFar)));
      const asked = {
        command: options.commandPrefix ? `${options.commandPrefix}\n${command}` : command,
        cwd: options.cwd,
        env: options.environment?.() ?? process.env,
      };
      const spawn = options.spawnHook?.({ ...asked, env: { ...asked.env } }) ?? asked;
      const { operations } = options;
      const run = (settings: CommandOptions) =>
        operations ? runDelegatedCommand(operations, spawn.command, settings) : runCommand(spawn.command, settings);
      const result = await run({
        cwd: spawn.cwd,
        shellPath: options.shellPath,
        env: spawn.env,
        signal,
        timeoutSeconds: timeout,
        tempDirectory: options.tempDirectory,
        onOutput: (_text, soFar) => updates.add(soFar),
      }).finally(() => updates.stop());
      const last = updates.flush();
      if (!result.cancelled) await last;
      const notice = describeTruncation(result);
      const parts = [result.output, notice];
      if (result.cancelled) throw new Error(joinParts(...parts, "Command aborted"));
      if (result.timedOut) throw new Error(joinParts(...parts, `Command timed out after ${timeout} seconds`));
      if (result.exitCode !== 0) throw new Error(joinParts(...parts, `Command exited with code ${result.exitCode}`));
      return toToolResult(joinParts(...parts) || "(no output)", result);
    },
  };
}

/** Passes on the newest output at most every 100 ms, and always the last. */
class Updates {
  readonly #clock: NonNullable<ToolOptions["clock"]>;
  readonly #send: (soFar: OutputSoFar) => undefined | Promise<void>;
  #waiting: (() => OutputSoFar) | undefined;
  #callOff: (() => void) | undefined;
  #nextAt = 0;

  constructor(clock: NonNullable<ToolOptions["clock"]>, send: (soFar: OutputSoFar) => undefined | Promise<void>) {
    this.#clock = clock;
    this.#send = send;
  }

  /** The promise of the reader goes back to the command, which waits for it. */
  add(soFar: () => OutputSoFar): undefined | Promise<void> {
    this.#waiting = soFar;
    const left = this.#nextAt - this.#clock.now();
    if (left <= 0) return this.flush();
    // Nobody waits for this one; a reader that is gone is noticed at the next.
    this.#callOff ??= this.#clock.after(left, () => void this.flush()?.catch(() => undefined));
    return undefined;
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  flush(): undefined | Promise<void> {
    this.stop();
    const soFar = this.#waiting;
    if (!soFar) return undefined;
    this.#waiting = undefined;
    this.#nextAt = this.#clock.now() + updateIntervalMs;
    return this.#send(soFar());
  }
}

function toToolResult(text: string, soFar: OutputSoFar): AgentToolResult<BashDetails> {
  const { content: _, ...truncation } = soFar.truncation;
  const details = truncation.truncated ? { truncation, fullOutputPath: soFar.fullOutputPath } : undefined;
  return { content: [{ type: "text", text }], details };
}

function joinParts(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part).join("\n\n");
}
