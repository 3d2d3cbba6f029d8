// Keeps what extensions do behind our back, in timers and forgotten promises, from ending the process.

import type { ExtensionRunner } from "./extensions/runner.js";

let isContaining = false;

/**
 * From here on an exception nobody catches, and a rejection nobody handles, is told as a fault of the extension its stack
 * leads to. One that leads to none may be a bug of ours: it is logged whole as well, with `<runtime>` for its extension.
 * Asked for again, it does nothing.
 */
export function containFaults(runner: () => ExtensionRunner | undefined, log: (text: string) => void): void {
  if (isContaining) return;
  isContaining = true;
  const contain = (event: string) => (error: unknown) => {
    const current = runner();
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const extension = current?.extensionOf(stack);
    if (!current || !extension) log(`pi: ${event}: ${stack}`);
    current?.runtime.fault(extension?.path ?? "<runtime>", event, error);
  };
  process.on("uncaughtException", contain("uncaught_exception"));
  process.on("unhandledRejection", contain("unhandled_rejection"));
}
