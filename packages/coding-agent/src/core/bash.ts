// The user's own shell commands: run at once, streamed, and recorded for the next prompt.

import type { BashResult } from "../modes/rpc/rpc-types.js";
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
    const { acquire, emit, cwd, shellPath, commandPrefix, environment, record } = this.#options;
    await acquire();
    const hasId = id !== undefined;
    const result = await runCommand(commandPrefix ? `${commandPrefix}\n${command}` : command, {
      cwd,
      shellPath,
      env: environment(),
      signal,
      onOutput: (delta) => emit({ type: "bash_execution_update", ...(hasId && { id }), delta }),
    }).catch((error) => {
      throw new CommandError("io_error", error instanceof Error ? error.message : String(error));
    });
    const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
    const bash: BashResult = {
      output,
      ...(exitCode !== undefined && !cancelled && { exitCode }),
      cancelled,
      truncated,
      ...(fullOutputPath && { fullOutputPath }),
    };
    record({
      role: "bashExecution",
      command,
      ...bash,
      ...(excludeFromContext && { excludeFromContext: true }),
      timestamp: Date.now(),
    });
    return bash;
  }
}
