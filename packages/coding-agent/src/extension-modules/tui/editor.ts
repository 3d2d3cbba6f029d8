// The editor for prompts: several lines of text between two borders.

import { type Component, CURSOR_MARKER, type Focusable, renderFakeCursor } from "./component.js";
import { getKeybindings } from "./keybindings.js";
import { EditedText } from "./line-edit.js";
import type { SelectListTheme } from "./selection.js";
import { padToWidth, truncateToWidth, wrapTextWithAnsi } from "./width.js";

export interface EditorTheme {
  borderColor?: (text: string) => string;
  selectList?: SelectListTheme;
}

export interface EditorOptions {
  paddingX?: number;
}

/** Marks the cursor's place while lines are wrapped: a character of no width that nobody types. */
const place = "\u2060";

/** Several lines of text. `onSubmit` and `onChange` are set by the owner. */
export class Editor implements Component, Focusable {
  focused = false;
  disableSubmit = false;
  borderColor: (text: string) => string;
  onSubmit?: (text: string) => void;
  onChange?: (text: string) => void;
  protected readonly tui: unknown;
  readonly #edited = new EditedText();
  readonly #history: string[] = [];
  #paddingX: number;
  #autocompleteProvider: unknown;
  #autocompleteMaxVisible = 5;

  constructor(tui?: unknown, theme: EditorTheme = {}, options: EditorOptions = {}) {
    this.tui = tui;
    this.borderColor = theme.borderColor ?? ((text) => text);
    this.#paddingX = options.paddingX ?? 0;
  }

  getText(): string {
    return this.#edited.text;
  }

  /** The text with everything that was pasted; pastes are never shortened here. */
  getExpandedText(): string {
    return this.#edited.text;
  }

  setText(text: string): void {
    this.#edited.set(text);
    this.onChange?.(text);
  }

  insertTextAtCursor(text: string): void {
    this.#edited.insert(text);
    this.onChange?.(this.getText());
  }

  getLines(): string[] {
    return this.getText().split("\n");
  }

  /** `line` counts from 0, `col` is in UTF-16 units. */
  getCursor(): { line: number; col: number } {
    const { text, cursor, lineStart } = this.#edited;
    return { line: text.slice(0, cursor).split("\n").length - 1, col: cursor - lineStart };
  }

  addToHistory(text: string): void {
    if (text.trim() && this.#history[0] !== text) this.#history.unshift(text);
  }

  getPaddingX(): number {
    return this.#paddingX;
  }

  setPaddingX(columns: number): void {
    this.#paddingX = columns;
  }

  /** Kept, and never asked: completions are drawn, and nothing is drawn here. */
  setAutocompleteProvider(provider: unknown): void {
    this.#autocompleteProvider = provider;
  }

  get autocompleteProvider(): unknown {
    return this.#autocompleteProvider;
  }

  setAutocompleteMaxVisible(count: number): void {
    this.#autocompleteMaxVisible = count;
  }

  getAutocompleteMaxVisible(): number {
    return this.#autocompleteMaxVisible;
  }

  isShowingAutocomplete(): boolean {
    return false;
  }

  invalidate(): void {}

  handleMouse(_event?: unknown): boolean {
    return false;
  }

  handleInput(data: string): void {
    const keys = getKeybindings();
    if (keys.matches(data, "tui.input.newLine")) this.insertTextAtCursor("\n");
    else if (keys.matches(data, "tui.input.submit")) this.#submit();
    else {
      const before = this.getText();
      this.#edited.handle(data, true);
      if (this.getText() !== before) this.onChange?.(this.getText());
    }
  }

  render(width: number): string[] {
    const margin = " ".repeat(Math.min(this.#paddingX, Math.max(0, Math.floor((width - 2) / 2))));
    const room = Math.max(1, width - 2 * margin.length - 1); // a cell for the cursor behind a full line
    const { text, cursor, next } = this.#edited;
    const marked = text.slice(0, cursor) + place + text.slice(cursor);
    const atCursor = text.slice(cursor, next);
    const cell = atCursor === "" || atCursor === "\n" ? " " : atCursor;
    const lines = wrapTextWithAnsi(marked, room).map((line) => {
      const at = line.indexOf(place);
      if (at < 0) return padToWidth(margin + line, width);
      const rest = line.slice(at + place.length);
      const after = rest.startsWith(cell) ? rest.slice(cell.length) : rest;
      const shown = rest === "" ? " " : cell;
      return padToWidth(
        `${margin}${line.slice(0, at)}${this.focused ? CURSOR_MARKER : ""}${renderFakeCursor(shown)}${after}`,
        width,
      );
    });
    const border = this.borderColor("─".repeat(Math.max(0, width)));
    return [border, ...lines.map((line) => truncateToWidth(line, width, "")), border];
  }

  #submit(): void {
    if (this.disableSubmit) return;
    const text = this.getText().trim();
    this.#edited.set("");
    this.onChange?.("");
    this.onSubmit?.(text);
  }
}
