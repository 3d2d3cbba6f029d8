// Runs one shell command by means of somebody else, with the same limits on its output and the same result.

import { untilAborted } from "@earendil-works/pi-agent-core";
import { OutputCleaner } from "../lib/clean-output.js";
import { textOf } from "../lib/error-text.js";
import type { BashOperations } from "./operations.js";
import { OutputCapture } from "./output-capture.js";
import { type CommandOptions, type CommandResult, checkTimeout, toResult } from "./run-command.js";

/**
 * Rejects with the reason when `exec` fails for another one than an abort or a timeout, and with the error of `onOutput`. One
 * that ignores its abort is not waited for, and not heard any more.
 */
export async function runDelegatedCommand(
  operations: BashOperations,
  command: string,
  options: CommandOptions,
): Promise<CommandResult> {
  checkTimeout(options.timeoutSeconds);
  const capture = new OutputCapture(options.tempDirectory);
  const cleaner = new OutputCleaner();
  const soFar = () => ({ truncation: capture.snapshot(), fullOutputPath: capture.logPath });
  let readerFailure: { error: unknown } | undefined;
  let isOver = false;
  const take = (text: string) => {
    if (text === "" || isOver) return;
    void capture.add(text);
    Promise.resolve(options.onOutput?.(text, soFar)).catch((error: unknown) => {
      readerFailure ??= { error };
    });
  };
  const stopped = { cancelled: false, timedOut: false };
  let exitCode: number | undefined;
  try {
    const { signal } = options;
    const running = operations.exec(command, options.cwd, {
      onData: (data) => take(cleaner.write(typeof data === "string" ? Buffer.from(data) : data)),
      signal,
      timeout: options.timeoutSeconds,
      env: options.env,
    });
    const end = await (signal ? untilAborted(running, signal, () => new Error("aborted")) : running);
    exitCode = end.exitCode ?? undefined;
    stopped.cancelled = exitCode === undefined;
  } catch (error) {
    const reason = textOf(error);
    stopped.cancelled = options.signal?.aborted === true || reason === "aborted";
    stopped.timedOut = !stopped.cancelled && reason.startsWith("timeout");
    if (!stopped.cancelled && !stopped.timedOut) throw error;
  }
  take(cleaner.end());
  isOver = true;
  await capture.end();
  if (readerFailure) throw readerFailure.error;
  return toResult(capture, { ...stopped, exitCode: stopped.cancelled || stopped.timedOut ? undefined : exitCode });
}
