// What print and JSON mode share: run the prompts one after another, end in order on signals, and judge the result.

import type { ImageContent } from "@earendil-works/pi-ai";
import { CommandError } from "../core/errors.js";
import type { AgentSessionEvent } from "../core/events.js";
import type { SessionRuntime } from "../core/session-runtime.js";
import { createUi } from "../extensions/ui.js";
import { processGroups } from "../lib/shell.js";
import type { EndSignal, ModeIo } from "./io.js";
import { endOnSignal, handlersAfterSignalMs, signalExitCodes, signalLimitOf } from "./shutdown.js";

/** A prompt of the command line. */
export interface Prompt {
  text: string;
  images?: ImageContent[];
}

/** Runs until the last prompt is settled; the exit code is not zero when it failed or was refused. */
export async function runPrompts(
  runtime: SessionRuntime,
  io: ModeIo,
  { prompts, theme, mode }: { prompts: readonly Prompt[]; theme: () => unknown; mode: "print" | "json" },
  judge: () => number,
): Promise<number> {
  // Nobody can be asked; the program ends by itself.
  runtime.bind({ mode, ui: createUi(undefined, { theme }), shutdown: () => {} });
  const ended = new Promise<EndSignal | "closed">((resolve) => {
    io.onSignal(resolve);
    io.onClosed(() => resolve("closed"));
  });
  const run = async () => {
    await runtime.start();
    for (const { text, images } of prompts) {
      await runtime.session.prompt(text, { ...(images && { images }) });
      await runtime.quiet();
      if (runtime.session.outcome?.aborted) break;
    }
    return judge();
  };
  const result = await Promise.race([settled(run()), ended]);
  if (result === "closed") {
    io.relax();
    await runtime.dispose();
    return 1;
  }
  if (typeof result === "string") {
    io.relax();
    const end = async () => {
      await runtime.dispose({ handlersMs: handlersAfterSignalMs });
      await io.drained();
    };
    return endOnSignal(io, result, end, signalLimitOf(runtime));
  }
  await runtime.dispose();
  processGroups.endAll();
  if (result.error instanceof CommandError) io.log(`pi: ${result.error.message}`);
  else if (result.error !== undefined) throw result.error;
  // The reader may take as long as it likes; a signal, or its end, cuts the wait short.
  const cut = await Promise.race([io.drained(), ended]);
  if (cut === undefined || cut === "closed") return io.failed ? 1 : result.code;
  return signalExitCodes[cut];
}

async function settled(run: Promise<number>): Promise<{ code: number; error?: unknown }> {
  try {
    return { code: await run };
  } catch (error) {
    return { code: 1, error };
  }
}

/** Tells people, on stderr, what scripts that read our output would not see. */
export function logFault(io: ModeIo, event: AgentSessionEvent): void {
  if (event.type === "session_write_error") io.log(`pi: Cannot write "${event.path}": ${event.error}`);
  if (event.type === "extension_error") io.log(`pi: ${event.extensionPath} (${event.event}): ${event.error}`);
}

/** What is wrong with the last run, or nothing. */
export function failureOf(runtime: SessionRuntime): string | undefined {
  const { outcome } = runtime.session;
  if (!outcome) return undefined;
  if (outcome.aborted || outcome.last?.stopReason === "aborted") return "The run was aborted";
  if (outcome.last?.stopReason === "error") return outcome.last.errorMessage ?? "The model failed without saying why";
  return undefined;
}
