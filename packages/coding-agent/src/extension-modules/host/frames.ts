// Components that frame others, and the editor that extensions replace the usual one with.

import { keyHint } from "../component-themes.js";
import { defaultTheme, type Theme } from "../theme.js";
import { type Component, Container, Spacer } from "../tui/component.js";
import { Editor, type EditorOptions, type EditorTheme } from "../tui/editor.js";
import { KeybindingsManager } from "../tui/keybindings.js";
import { CancellableLoader, Loader } from "../tui/loader.js";
import { Text } from "../tui/text.js";

type Style = (text: string) => string;

/** A line across the whole width. */
export class DynamicBorder implements Component {
  readonly #style: Style;

  constructor(style: Style = (text) => defaultTheme().fg("border", text)) {
    this.#style = style;
  }

  invalidate(): void {}

  render(width: number): string[] {
    return [this.#style("─".repeat(Math.max(1, width)))];
  }
}

/** A loader between two lines, with a hint of how to end it. */
export class BorderedLoader extends Container {
  readonly #loader: Loader;
  readonly #signal = new AbortController();

  constructor(
    tui?: unknown,
    theme: Pick<Theme, "fg"> = defaultTheme(),
    message = "Loading...",
    options: { cancellable?: boolean } = {},
  ) {
    super();
    const cancellable = options.cancellable ?? true;
    const border = () => new DynamicBorder((text) => theme.fg("border", text));
    const [spinner, words]: Style[] = [(text) => theme.fg("accent", text), (text) => theme.fg("muted", text)];
    this.#loader = cancellable
      ? new CancellableLoader(tui, spinner, words, message)
      : new Loader(tui, spinner, words, message);
    this.addChild(border());
    this.addChild(this.#loader);
    if (cancellable) {
      this.addChild(new Spacer());
      this.addChild(new Text(keyHint("tui.select.cancel", "cancel"), 1, 0));
    }
    this.addChild(new Spacer());
    this.addChild(border());
  }

  /** Aborts when the user cancels; never for a loader that cannot be cancelled. */
  get signal(): AbortSignal {
    return this.#loader instanceof CancellableLoader ? this.#loader.signal : this.#signal.signal;
  }

  set onAbort(action: (() => void) | undefined) {
    if (this.#loader instanceof CancellableLoader && action) this.#loader.onAbort = action;
  }

  handleInput(data: string): void {
    if (this.#loader instanceof CancellableLoader) this.#loader.handleInput(data);
  }

  dispose(): void {
    this.#loader.stop();
  }
}

/** The editor with actions of the application: those set here go before what keys do to the text. */
export class CustomEditor extends Editor {
  readonly actionHandlers = new Map<string, () => void>();
  onEscape?: () => void;
  onCtrlD?: () => void;
  onPasteImage?: () => void;
  onExtensionShortcut?: (data: string) => boolean | undefined;
  protected readonly keybindings: Pick<KeybindingsManager, "matches">;

  constructor(
    tui?: unknown,
    theme?: EditorTheme,
    keybindings: Pick<KeybindingsManager, "matches"> = new KeybindingsManager(),
    options?: EditorOptions,
  ) {
    super(tui, theme, options);
    this.keybindings = keybindings;
  }

  /** Sets what an action of the application does. */
  onAction(action: string, handler: () => void): void {
    this.actionHandlers.set(action, handler);
  }

  setWorkingStatusIndicator(_indicator?: unknown): void {}

  override handleInput(data: string): void {
    if (this.onExtensionShortcut?.(data)) return;
    if (this.onEscape && this.keybindings.matches(data, "app.interrupt")) return void this.onEscape();
    const action = [...this.actionHandlers].find(([name]) => this.keybindings.matches(data, name));
    if (action) action[1]();
    else super.handleInput(data);
  }
}
