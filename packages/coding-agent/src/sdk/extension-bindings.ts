// Who the extensions of a session talk to: the mode, the user, and who hears of their errors.

import type { SessionRuntime } from "../core/session-runtime.js";
import { defaultTheme } from "../extension-modules/theme.js";
import type { ExtensionMode } from "../extensions/host.js";
import type { ExtensionFault } from "../extensions/runtime.js";
import { createUi, type ExtensionUI } from "../extensions/ui.js";

/** Everything is optional: without a UI dialogs are unanswered. */
export interface ExtensionBindings {
  uiContext?: ExtensionUI;
  /** Default: `print`; with a UI `rpc`. */
  mode?: ExtensionMode;
  /** Called when an extension asks for the end of the program. */
  shutdownHandler?: () => void;
  /** Told of what extensions throw. */
  onError?: ((error: ExtensionFault) => void) | undefined;
}

export function bindOutside(runtime: SessionRuntime, bindings: ExtensionBindings): void {
  const { uiContext, mode = uiContext ? "rpc" : "print", shutdownHandler } = bindings;
  runtime.bind({
    mode,
    ui: uiContext ?? createUi(undefined, { theme: defaultTheme }),
    shutdown: shutdownHandler ?? (() => {}),
  });
}
