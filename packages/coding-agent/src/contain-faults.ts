// Keeps what extensions do behind our back, in timers and forgotten promises, from ending the process.

import type { ExtensionRunner } from "./extensions/runner.js";

let isContaining = false;

/**
 * From here on an exception nobody catches, and a rejection nobody handles, is told as a fault of the extension its stack
 * leads to; of `<runtime>` when it leads to none. Asked for again, it does nothing.
 */
export function containFaults(runner: () => ExtensionRunner | undefined): void {
  if (isContaining) return;
  isContaining = true;
  const contain = (event: string) => (error: unknown) => {
    const current = runner();
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const path = current?.extensionOf(stack)?.path ?? "<runtime>";
    current?.runtime.fault(path, event, error);
  };
  process.on("uncaughtException", contain("uncaught_exception"));
  process.on("unhandledRejection", contain("unhandled_rejection"));
}
