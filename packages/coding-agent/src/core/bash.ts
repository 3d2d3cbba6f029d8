// The user's own shell commands: run at once, streamed, and recorded for the next prompt.

import { untilAborted } from "@earendil-works/pi-agent-core";
import { textOf } from "../lib/error-text.js";
import type { BashResult } from "../modes/rpc/rpc-types.js";
import { runDelegatedCommand } from "../tools/delegated-command.js";
import type { BashOperations } from "../tools/operations.js";
import { runCommand } from "../tools/run-command.js";
import { CommandError } from "./errors.js";
import type { Emit } from "./event-line.js";
import type { BashExecutionMessage } from "./messages.js";

export interface UserShellOptions {
  /** Takes the session for writing; a command waits for it, and may be stopped meanwhile. */
  acquire: () => Promise<void>;
  emit: Emit;
  cwd: string;
  shellPath?: string | undefined;
  commandPrefix?: string | undefined;
  environment: () => Record<string, string | undefined>;
  /** Puts a finished command into the conversation, now or when the run under way is over. */
  record: (message: BashExecutionMessage) => void;
  /** Who runs a command in our place, or what it gave; absent without extensions. */
  intercept?: ((command: string, excludeFromContext: boolean) => Promise<Interception>) | undefined;
}

/** Who runs a command instead of our shell, or what it gave. */
export interface Interception {
  operations?: BashOperations;
  result?: Partial<BashResult>;
}

export interface BashRequest {
  command: string;
  /** Echoed in every `bash_execution_update`; absent when the command had none. */
  id?: unknown;
  excludeFromContext?: boolean | undefined;
}

/** Several commands may run at once; each keeps its id and its end. */
export class UserShell {
  readonly #options: UserShellOptions;
  readonly #running = new Set<{ abort: AbortController; done: Promise<unknown> }>();

  constructor(options: UserShellOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  /** A failing command is a result; a shell that cannot be started (`io_error`) and a session that is not ours throw. */
  async execute(request: BashRequest): Promise<BashResult> {
    const abort = new AbortController();
    const done = this.#run(request, abort.signal);
    const entry = { abort, done };
    this.#running.add(entry);
    try {
      return await done;
    } finally {
      this.#running.delete(entry);
    }
  }

  /** Stops every running command; returns how many there were. Each is answered as cancelled. */
  abort(): number {
    const count = this.#running.size;
    for (const { abort } of this.#running) abort.abort();
    return count;
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running].map(({ done }) => done));
  }

  async #run({ command, id, excludeFromContext }: BashRequest, signal: AbortSignal): Promise<BashResult> {
    const { acquire, emit, record } = this.#options;
    await acquire();
    const onOutput = (delta: string) => emit({ type: "bash_execution_update", ...(id !== undefined && { id }), delta });
    const bash = await this.#result(command, excludeFromContext === true, signal, onOutput).catch((error) => {
      throw new CommandError("io_error", textOf(error));
    });
    record({
      role: "bashExecution",
      command,
      ...bash,
      ...(excludeFromContext && { excludeFromContext: true }),
      timestamp: Date.now(),
    });
    return bash;
  }

  async #result(
    command: string,
    excludeFromContext: boolean,
    signal: AbortSignal,
    onOutput: (delta: string) => undefined | Promise<void>,
  ): Promise<BashResult> {
    const { cwd, shellPath, commandPrefix, environment, intercept } = this.#options;
    const asking = intercept?.(command, excludeFromContext);
    const aborted = () => new Error("Cancelled");
    const instead = asking && (await untilAborted(asking, signal, aborted).catch((error) => refused(error, signal)));
    if (instead?.result) return givenResult(instead.result, signal.aborted);
    const options = { cwd, env: environment(), signal, onOutput };
    if (instead?.operations) return bashResult(await runDelegatedCommand(instead.operations, command, options));
    const whole = commandPrefix ? `${commandPrefix}\n${command}` : command;
    return bashResult(await runCommand(whole, { ...options, shellPath }));
  }
}

/** A command that was stopped while somebody was asked about it is cancelled; what else fails keeps it from running. */
function refused(error: unknown, { aborted }: AbortSignal): Interception {
  if (!aborted) throw error;
  return { result: { output: "", cancelled: true } };
}

/** What an extension says a command gave. */
function givenResult(
  { output = "", exitCode, cancelled, truncated, fullOutputPath }: Partial<BashResult>,
  aborted: boolean,
): BashResult {
  return bashResult({
    output,
    exitCode,
    cancelled: cancelled ?? aborted,
    truncated: truncated ?? false,
    ...(fullOutputPath && { fullOutputPath }),
  });
}

function bashResult({ output, exitCode, cancelled, truncated, fullOutputPath }: Outcome): BashResult {
  return {
    output,
    ...(exitCode !== undefined && !cancelled && { exitCode }),
    cancelled,
    truncated,
    ...(fullOutputPath && { fullOutputPath }),
  };
}

type Outcome = Pick<BashResult, "output" | "cancelled" | "truncated" | "fullOutputPath"> & {
  exitCode: number | undefined;
};
