// Says that something is going on, and lets the user stop it. Nothing turns here: there is nobody who would draw it.

import { getKeybindings } from "./keybindings.js";
import { Text } from "./text.js";

type Style = (text: string) => string;

export interface LoaderIndicator {
  frames?: readonly string[];
  intervalMs?: number;
}

/** A message behind a sign of work, after an empty line. No timer is started. */
export class Loader extends Text {
  protected readonly ui: unknown;
  #frame: string;
  readonly #spinnerStyle: Style;
  readonly #messageStyle: Style;
  #message: string;

  constructor(
    ui?: unknown,
    spinnerStyle: Style = (text) => text,
    messageStyle: Style = (text) => text,
    message = "Loading...",
    indicator: LoaderIndicator = {},
  ) {
    super("", 1, 0);
    this.ui = ui;
    this.#spinnerStyle = spinnerStyle;
    this.#messageStyle = messageStyle;
    this.#message = message;
    this.#frame = indicator.frames?.[0] ?? "⠋";
    this.#update();
  }

  start(): void {}

  stop(): void {}

  setMessage(message: string): void {
    this.#message = message;
    this.#update();
  }

  setIndicator(indicator?: LoaderIndicator): void {
    this.#frame = indicator?.frames ? (indicator.frames[0] ?? "") : "⠋";
    this.#update();
  }

  override render(width: number): string[] {
    return ["", ...super.render(width)];
  }

  #update(): void {
    const sign = this.#frame === "" ? "" : `${this.#spinnerStyle(this.#frame)} `;
    this.setText(`${sign}${this.#messageStyle(this.#message)}`);
  }
}

/** A loader that Escape ends: `signal` aborts then, and `onAbort` is called. */
export class CancellableLoader extends Loader {
  onAbort?: () => void;
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  handleInput(data: string): void {
    if (!getKeybindings().matches(data, "tui.select.cancel")) return;
    this.#controller.abort();
    this.onAbort?.();
  }

  dispose(): void {
    this.stop();
  }
}
