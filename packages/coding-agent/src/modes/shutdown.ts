// The end of output: how long a mode waits for its reader, and the exit codes of signals.

import type { SessionRuntime } from "../core/session-runtime.js";
import type { EndSignal, ModeIo } from "./io.js";

/** 128 + the signal's number, as shells report it. */
export const signalExitCodes: Record<EndSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** What a signal leaves for an orderly end: 1 second. */
const signalLimitMs = 1000;
/** What it leaves for the handlers of extensions beside that: 5 seconds. */
export const handlersAfterSignalMs = 5000;

/** Milliseconds for an orderly end after a signal, handlers that wait for it included. */
export function signalLimitOf({ session }: Pick<SessionRuntime, "session">): number {
  return signalLimitMs + (session.runner?.has("session_shutdown") ? handlersAfterSignalMs : 0);
}

/** Ends in order as far as the limit allows; another signal ends at once. Resolves with the exit code. */
export async function endOnSignal(
  io: Pick<ModeIo, "onSignal" | "exit">,
  signal: EndSignal,
  end: () => Promise<void>,
  limitMs: number = signalLimitMs,
): Promise<number> {
  const code = signalExitCodes[signal];
  io.onSignal(() => io.exit(code));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([end(), late]);
  clearTimeout(timer);
  return code;
}

/** A reader that took nothing for this long is given up: 1 second, and 10 in all. */
const patienceMs = 1000;
const limitMs = 10_000;

/** Waits until all is sent, as long as the reader takes something each second, 10 seconds at most. */
export async function endOutput(io: Pick<ModeIo, "drained" | "sent" | "unsent">): Promise<void> {
  const done = io.drained().then(() => true);
  const started = performance.now();
  for (let before = io.sent; performance.now() - started < limitMs; before = io.sent) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, patienceMs, false);
    });
    const finished = await Promise.race([done, late]);
    clearTimeout(timer);
    if (finished || io.sent === before) return;
  }
}
