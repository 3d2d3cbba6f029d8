// The terminal and what draws on it, as objects that can be held and called: nothing is ever drawn.

import { type Component, Container } from "./component.js";

/** A terminal of usual size that shows nothing and sends nothing. */
export class ProcessTerminal {
  readonly columns: number = 80;
  readonly rows: number = 24;
  readonly kittyProtocolActive = false;

  start(..._handlers: unknown[]): void {}
  stop(): void {}
  async drainInput(): Promise<void> {}
  write(_data: string): void {}
  moveBy(_lines: number): void {}
  hideCursor(): void {}
  showCursor(): void {}
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setTitle(_title: string): void {}
  setProgress(_active: boolean): void {}
}

/** What opened an overlay and can hide, show and close it. */
export interface OverlayHandle {
  hide(): void;
  setHidden(hidden: boolean): void;
  isHidden(): boolean;
  focus(): void;
  unfocus(options?: unknown): void;
  isFocused(): boolean;
}

/** The screen: components, a focus and overlays. `requestRender` is taken and does nothing. */
export class TUI extends Container {
  readonly terminal: ProcessTerminal;
  onDebug?: () => void;
  #focused: Component | null = null;
  readonly #overlays = new Set<Component>();
  readonly #listeners = new Set<(data: string) => unknown>();

  constructor(terminal: ProcessTerminal = new ProcessTerminal()) {
    super();
    this.terminal = terminal;
  }

  start(): void {}
  stop(): void {}
  requestRender(_force?: boolean): void {}
  requestImmediateRender(): void {}
  renderNow(): void {}

  setFocus(component: Component | null): void {
    if (this.#focused && "focused" in this.#focused) this.#focused.focused = false;
    this.#focused = component;
    if (component && "focused" in component) component.focused = true;
  }

  getFocusedComponent(): Component | null {
    return this.#focused;
  }

  showOverlay(component: Component, _options?: unknown): OverlayHandle {
    const before = this.#focused;
    let hidden = false;
    this.#overlays.add(component);
    this.setFocus(component);
    return {
      hide: () => {
        this.#overlays.delete(component);
        if (this.#focused === component) this.setFocus(before);
      },
      setHidden: (value) => {
        hidden = value;
      },
      isHidden: () => hidden,
      focus: () => this.setFocus(component),
      unfocus: () => {
        if (this.#focused === component) this.setFocus(before);
      },
      isFocused: () => this.#focused === component,
    };
  }

  /** Closes the overlay that was opened last. */
  hideOverlay(): void {
    const last = [...this.#overlays].at(-1);
    if (last) this.#overlays.delete(last);
  }

  hasOverlay(): boolean {
    return this.#overlays.size > 0;
  }

  /** The listener is never called: nothing is typed here. Returns the function that takes it back. */
  addInputListener(listener: (data: string) => unknown): () => void {
    this.#listeners.add(listener);
    return () => this.removeInputListener(listener);
  }

  removeInputListener(listener: (data: string) => unknown): void {
    this.#listeners.delete(listener);
  }
}
