// A field for one line of text.

import { type Component, CURSOR_MARKER, type Focusable, renderFakeCursor } from "./component.js";
import { getKeybindings } from "./keybindings.js";
import { EditedText } from "./line-edit.js";
import { padToWidth, sliceByColumn, truncateToWidth, visibleWidth } from "./width.js";

export interface InputOptions {
  prompt?: string;
  placeholder?: string;
}

/** One line of text. `onSubmit` and `onEscape` are set by the owner. */
export class Input implements Component, Focusable {
  focused = false;
  onSubmit?: (value: string) => void;
  onEscape?: () => void;
  readonly #edited = new EditedText();
  readonly #prompt: string;
  readonly #placeholder: string;

  constructor(options: InputOptions = {}) {
    this.#prompt = options.prompt ?? "> ";
    this.#placeholder = options.placeholder ?? "";
  }

  getValue(): string {
    return this.#edited.text;
  }

  /** Puts the cursor at the end. */
  setValue(value: string): void {
    this.#edited.set(value);
  }

  invalidate(): void {}

  handleMouse(_event?: unknown): boolean {
    return false;
  }

  handleInput(data: string): void {
    const keys = getKeybindings();
    if (keys.matches(data, "tui.select.cancel")) this.onEscape?.();
    else if (keys.matches(data, "tui.input.submit")) this.onSubmit?.(this.getValue());
    else this.#edited.handle(data, false);
  }

  render(width: number): string[] {
    const prompt = truncateToWidth(this.#prompt, Math.max(0, width - 2), "");
    const room = Math.max(1, width - visibleWidth(prompt));
    const { text, cursor, next } = this.#edited;
    const before = text.slice(0, cursor);
    const cell = text.slice(cursor, next) || " ";
    const after = text.slice(next) || (text === "" ? this.#placeholder.slice(1) : "");
    // The cursor's cell stays in sight, with as much before it as there is room for.
    const taken = Math.min(visibleWidth(before), Math.max(0, room - visibleWidth(cell)));
    const shown = sliceByColumn(before, visibleWidth(before) - taken, taken, true);
    const rest = truncateToWidth(after, room - visibleWidth(shown) - visibleWidth(cell), "");
    const marker = this.focused ? CURSOR_MARKER : "";
    return [padToWidth(`${prompt}${shown}${marker}${renderFakeCursor(cell)}${rest}`, width)];
  }
}
