// What print and JSON mode share: run the prompts one after another, end in order on signals, and judge the result.

import type { ImageContent } from "@earendil-works/pi-ai";
import { CommandError } from "../core/errors.js";
import type { SessionRuntime } from "../core/session-runtime.js";
import { processGroups } from "../lib/shell.js";
import type { ModeIo } from "./io.js";
import { signalExitCodes } from "./shutdown.js";

/** A prompt of the command line. */
export interface Prompt {
  text: string;
  images?: ImageContent[];
}

/** Runs until the last prompt is settled; the exit code is not zero when it failed or was refused. */
export async function runPrompts(
  runtime: SessionRuntime,
  io: ModeIo,
  prompts: readonly Prompt[],
  judge: () => number,
): Promise<number> {
  let ending: number | undefined;
  const stopped = new Promise<number>((resolve) => {
    const stop = (code: number) => {
      ending ??= code;
      void runtime.session.abort().then(() => resolve(code));
    };
    io.onSignal((signal) => stop(signalExitCodes[signal]));
    io.onClosed(() => stop(1));
  });
  const run = async () => {
    for (const { text, images } of prompts) {
      await runtime.session.prompt(text, { ...(images && { images }) });
      await runtime.session.waitForIdle();
      if (ending !== undefined) return ending;
    }
    return judge();
  };
  let code: number;
  try {
    code = await Promise.race([run(), stopped]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    io.log(`pi: ${error.message}`);
    code = 1;
  }
  await runtime.dispose();
  processGroups.endAll();
  // The reader may take as long as it likes, unless a signal asked for an end.
  if (ending === undefined) await io.drained();
  return code;
}

/** What is wrong with the last run, or nothing. */
export function failureOf(runtime: SessionRuntime): string | undefined {
  const { outcome } = runtime.session;
  if (!outcome) return undefined;
  if (outcome.aborted || outcome.last?.stopReason === "aborted") return "The run was aborted";
  if (outcome.last?.stopReason === "error") return outcome.last.errorMessage ?? "The model failed without saying why";
  return undefined;
}
