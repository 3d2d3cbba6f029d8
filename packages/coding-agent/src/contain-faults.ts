// Keeps what extensions do behind our back, in timers and forgotten promises, from ending the process unseen.

import type { ExtensionRunner } from "./extensions/runner.js";
import { stackOf } from "./lib/error-text.js";

let isContaining = false;
let isGuarded = false;
let isInOrder = false;

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
    const stack = stackOf(error);
    const extension = current?.extensionOf(stack);
    if (!current || !extension) log(`pi: ${event}: ${stack}`);
    current?.runtime.fault(extension?.path ?? "<runtime>", event, error);
  };
  process.on("uncaughtException", contain("uncaught_exception"));
  process.on("unhandledRejection", contain("unhandled_rejection"));
}

/**
 * From here on an end that is not ours is told, and is no success: an extension that ends the process, or one that
 * keeps the program waiting for nothing while it is loaded; `loading` names it.
 */
export function guardEnd(loading: () => string | undefined, log: (text: string) => void, exit: (code: number) => void) {
  if (isGuarded) return;
  isGuarded = true;
  process.on("beforeExit", () => {
    const path = loading();
    if (isInOrder || path === undefined) return;
    log(`pi: Cannot load extension "${path}": it never returned`);
    isInOrder = true;
    exit(1);
  });
  process.on("exit", (code) => {
    // Above 128 a signal ended it.
    if (isInOrder || code > 128) return;
    log(`pi: The program was ended from inside, with exit code ${code}`);
    if (code === 0) process.exitCode = 1;
  });
}

/** The end from here on is ours. */
export function endsInOrder(): void {
  isInOrder = true;
}
