// Tells when the program waits for the user: dialogs that overlap are one span, from the first that opens to the last that ends.

import type { ExtensionEventMap } from "./events.js";
import type { ExtensionUI } from "./ui.js";

type Span = ExtensionEventMap["ui_prompt_start"]["event"];

export class WaitingSpan {
  readonly #tell: (name: "ui_prompt_start" | "ui_prompt_end", span: Span) => void;
  #shown: { ui: ExtensionUI; wrapped: ExtensionUI } | undefined;
  #open = 0;
  #span: Span = { reason: "ui_prompt", kind: "select" };

  /** `tell` is waited for by nobody. */
  constructor(tell: (name: "ui_prompt_start" | "ui_prompt_end", span: Span) => void) {
    this.#tell = tell;
  }

  /** The same UI, its dialogs told of; the same object for the same UI. */
  around(ui: ExtensionUI): ExtensionUI {
    if (this.#shown?.ui !== ui) this.#shown = { ui, wrapped: this.#wrap(ui) };
    return this.#shown.wrapped;
  }

  #wrap(ui: ExtensionUI): ExtensionUI {
    const dialogs: Pick<ExtensionUI, "select" | "confirm" | "input" | "editor"> = {
      select: (title, options, how) => this.#during("select", title, ui.select(title, options, how)),
      confirm: (title, message, how) => this.#during("confirm", title, ui.confirm(title, message, how)),
      input: (title, placeholder, how) => this.#during("input", title, ui.input(title, placeholder, how)),
      editor: (title, prefill, how) => this.#during("editor", title, ui.editor(title, prefill, how)),
    };
    // Computed members, such as the theme, stay computed.
    const members = { ...Object.getOwnPropertyDescriptors(ui), ...Object.getOwnPropertyDescriptors(dialogs) };
    return Object.defineProperties({}, members) as ExtensionUI;
  }

  #during<T>(kind: string, title: string, dialog: Promise<T>): Promise<T> {
    this.#open += 1;
    if (this.#open === 1) {
      this.#span = { reason: "ui_prompt", kind, ...(typeof title === "string" && { title }) };
      this.#tell("ui_prompt_start", { ...this.#span });
    }
    return dialog.finally(() => {
      this.#open -= 1;
      if (this.#open === 0) this.#tell("ui_prompt_end", { ...this.#span });
    });
  }
}
