// Runs a command where somebody else says (another machine, a container); its output is cleaned and cut like our shell's.

import { untilAborted } from "@earendil-works/pi-agent-core";
import { OutputCleaner } from "../lib/clean-output.js";
import { OutputCapture } from "./output-capture.js";
import { type CommandOptions, type CommandResult, toResult } from "./run-command.js";

/** The place a command is run at; `exitCode` is null when it was ended. */
export interface CommandPlace {
  exec(
    command: string,
    cwd: string,
    options: {
      onData: (data: Buffer | string) => void;
      signal?: AbortSignal;
      /** Seconds. */
      timeout?: number;
      env?: Record<string, string | undefined>;
    },
  ): Promise<{ exitCode: number | null }>;
}

/** Rejects with what the place rejects with, unless the command was aborted: then the place is not waited for. */
export async function runElsewhere(
  place: CommandPlace,
  command: string,
  options: Pick<CommandOptions, "cwd" | "env" | "signal" | "timeoutSeconds" | "onOutput" | "tempDirectory">,
): Promise<CommandResult> {
  const { cwd, env, signal, timeoutSeconds, onOutput, tempDirectory } = options;
  const capture = new OutputCapture(tempDirectory);
  const cleaner = new OutputCleaner();
  const soFar = () => ({
    truncation: capture.snapshot(),
    ...(capture.logPath !== undefined && { fullOutputPath: capture.logPath }),
  });
  let isOver = false;
  const take = (text: string) => {
    if (text === "" || isOver) return;
    void capture.add(text);
    void onOutput?.(text, soFar);
  };
  const running = place.exec(command, cwd, {
    env,
    ...(signal && { signal }),
    ...(timeoutSeconds !== undefined && { timeout: timeoutSeconds }),
    onData: (data) => take(cleaner.write(typeof data === "string" ? Buffer.from(data) : data)),
  });
  try {
    const { exitCode } = await (signal ? untilAborted(running, signal, () => new Error("Aborted")) : running);
    take(cleaner.end());
    return await ended({ exitCode: exitCode ?? undefined, cancelled: signal?.aborted ?? false, timedOut: false });
  } catch (error) {
    if (signal?.aborted) return ended({ exitCode: undefined, cancelled: true, timedOut: false });
    // The words tools outside use for a limit of their own.
    if (error instanceof Error && /^timeout(?::|$)/.test(error.message))
      return ended({ exitCode: undefined, cancelled: false, timedOut: true });
    throw error;
  }

  async function ended(end: Pick<CommandResult, "exitCode" | "cancelled" | "timedOut">): Promise<CommandResult> {
    isOver = true;
    await capture.end();
    return toResult(capture, end);
  }
}
