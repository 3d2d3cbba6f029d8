// Lists to choose from: values, and settings with their values.

import type { Component } from "./component.js";
import { fuzzyFilter } from "./fuzzy.js";
import { getKeybindings } from "./keybindings.js";
import { padToWidth, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./width.js";

export interface SelectItem {
  value: string;
  label?: string;
  description?: string;
}

type Style = (text: string) => string;

export interface SelectListTheme {
  selectedPrefix: Style;
  selectedText: Style;
  description: Style;
  scrollInfo: Style;
  noMatch: Style;
}

/** Columns of the labels, beside which descriptions stand. */
const labelColumns = 32;

/** Values to choose one from. `onSelect`, `onCancel` and `onSelectionChange` are set by the owner. */
export class SelectList implements Component {
  items: readonly SelectItem[];
  onSelect?: (item: SelectItem) => void;
  onCancel?: () => void;
  onSelectionChange?: (item: SelectItem) => void;
  #shown: readonly SelectItem[];
  #selected = 0;
  readonly #maxVisible: number;
  readonly #theme: SelectListTheme;

  constructor(items: readonly SelectItem[], maxVisible: number, theme: SelectListTheme, _layout?: unknown) {
    this.items = items;
    this.#shown = items;
    this.#maxVisible = maxVisible;
    this.#theme = theme;
  }

  /** Shows the items whose value begins with the text. */
  setFilter(filter: string): void {
    this.#shown = this.items.filter(({ value }) => value.toLowerCase().startsWith(filter.toLowerCase()));
    this.#selected = 0;
  }

  setSelectedIndex(index: number): void {
    this.#selected = Math.max(0, Math.min(index, this.#shown.length - 1));
  }

  /** Null when nothing is shown. */
  getSelectedItem(): SelectItem | null {
    return this.#shown[this.#selected] ?? null;
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const keys = getKeybindings();
    const item = this.getSelectedItem();
    if (keys.matches(data, "tui.select.up")) this.#move(-1);
    else if (keys.matches(data, "tui.select.down")) this.#move(1);
    else if (keys.matches(data, "tui.select.pageUp")) this.#page(-this.#maxVisible);
    else if (keys.matches(data, "tui.select.pageDown")) this.#page(this.#maxVisible);
    else if (keys.matches(data, "tui.select.confirm") && item) this.onSelect?.(item);
    else if (keys.matches(data, "tui.select.cancel")) this.onCancel?.();
  }

  render(width: number): string[] {
    const theme = this.#theme;
    if (this.#shown.length === 0) return [truncateToWidth(theme.noMatch("  No matching items"), width)];
    const { start, end } = visibleRange(this.#selected, this.#shown.length, this.#maxVisible);
    const lines = this.#shown
      .slice(start, end)
      .map((item, row) => this.#line(item, start + row === this.#selected, width));
    if (end - start < this.#shown.length)
      lines.push(theme.scrollInfo(truncateToWidth(`  (${this.#selected + 1}/${this.#shown.length})`, width)));
    return lines;
  }

  #line(item: SelectItem, selected: boolean, width: number): string {
    const theme = this.#theme;
    const label = oneLine(item.label || item.value);
    const description = item.description ? oneLine(item.description) : "";
    const room = width - labelColumns - 2;
    const beside = description !== "" && room > 10;
    const shown = truncateToWidth(label, Math.max(1, beside ? labelColumns - 2 : width - 2), "");
    const text = beside ? padToWidth(shown, labelColumns) : shown;
    const about = beside ? truncateToWidth(description, room, "") : "";
    const line = selected
      ? theme.selectedPrefix("→ ") + theme.selectedText(text + about)
      : `  ${text}${about && theme.description(about)}`;
    return truncateToWidth(line, width, "");
  }

  #move(by: number): void {
    const count = this.#shown.length;
    if (count > 0) this.#change((this.#selected + by + count) % count);
  }

  #page(by: number): void {
    if (this.#shown.length > 0) this.#change(Math.max(0, Math.min(this.#selected + by, this.#shown.length - 1)));
  }

  #change(index: number): void {
    this.#selected = index;
    const item = this.getSelectedItem();
    if (item) this.onSelectionChange?.(item);
  }
}

/** One setting; `values` are gone through, `submenu` makes a component to choose in. */
export interface SettingItem {
  id: string;
  label: string;
  description?: string;
  currentValue: string;
  values?: readonly string[];
  submenu?: (currentValue: string, done: (value?: string) => void) => Component;
}

export interface SettingsListTheme {
  label: (text: string, selected: boolean) => string;
  value: (text: string, selected: boolean) => string;
  description: Style;
  cursor: string;
  hint: Style;
}

/** Settings whose values can be changed. */
export class SettingsList implements Component {
  #items: SettingItem[];
  #shown: SettingItem[];
  #selected = 0;
  #search = "";
  #submenu: Component | undefined;
  readonly #maxVisible: number;
  readonly #theme: SettingsListTheme;
  readonly #onChange: (id: string, value: string) => void;
  readonly #onCancel: () => void;
  readonly #hasSearch: boolean;

  constructor(
    items: readonly SettingItem[],
    maxVisible: number,
    theme: SettingsListTheme,
    onChange: (id: string, value: string) => void = () => {},
    onCancel: () => void = () => {},
    options: { enableSearch?: boolean } = {},
  ) {
    this.#items = items.map((item) => ({ ...item }));
    this.#shown = this.#items;
    this.#maxVisible = maxVisible;
    this.#theme = theme;
    this.#onChange = onChange;
    this.#onCancel = onCancel;
    this.#hasSearch = options.enableSearch ?? false;
  }

  /** Shows another value without calling back. */
  updateValue(id: string, value: string): void {
    const item = this.#items.find((candidate) => candidate.id === id);
    if (item) item.currentValue = value;
  }

  invalidate(): void {
    this.#submenu?.invalidate?.();
  }

  handleInput(data: string): void {
    if (this.#submenu) {
      this.#submenu.handleInput?.(data);
      return;
    }
    const keys = getKeybindings();
    const count = this.#shown.length;
    if (keys.matches(data, "tui.select.up") && count > 0) this.#selected = (this.#selected - 1 + count) % count;
    else if (keys.matches(data, "tui.select.down") && count > 0) this.#selected = (this.#selected + 1) % count;
    else if (keys.matches(data, "tui.select.cancel")) this.#onCancel();
    else if (keys.matches(data, "tui.select.confirm") || data === " ") this.#activate();
    else if (this.#hasSearch) this.#type(data);
  }

  render(width: number): string[] {
    if (this.#submenu) return this.#submenu.render(width);
    const theme = this.#theme;
    const lines = this.#hasSearch ? [truncateToWidth(`> ${this.#search}`, width), ""] : [];
    const labels = Math.min(30, Math.max(0, ...this.#items.map(({ label }) => visibleWidth(label))));
    const { start, end } = visibleRange(this.#selected, this.#shown.length, this.#maxVisible);
    for (const [row, item] of this.#shown.slice(start, end).entries()) {
      const selected = start + row === this.#selected;
      const prefix = selected ? theme.cursor : "  ";
      const label = theme.label(padToWidth(truncateToWidth(item.label, labels, ""), labels), selected);
      lines.push(truncateToWidth(`${prefix}${label}  ${theme.value(item.currentValue, selected)}`, width));
    }
    if (this.#shown.length === 0) lines.push(truncateToWidth(theme.hint("  No matching settings"), width));
    const about = this.#shown[this.#selected]?.description;
    if (about)
      lines.push("", ...wrapTextWithAnsi(about, Math.max(1, width - 4)).map((line) => theme.description(`  ${line}`)));
    lines.push("", truncateToWidth(theme.hint("  Enter or Space changes, Escape cancels"), width));
    return lines.map((line) => truncateToWidth(line, width, ""));
  }

  #activate(): void {
    const item = this.#shown[this.#selected];
    if (!item) return;
    if (item.submenu) {
      this.#submenu = item.submenu(item.currentValue, (value) => {
        this.#submenu = undefined;
        if (value !== undefined) this.#set(item, value);
      });
    } else if (item.values && item.values.length > 0) {
      const next = (item.values.indexOf(item.currentValue) + 1) % item.values.length;
      this.#set(item, item.values[next] as string);
    }
  }

  #set(item: SettingItem, value: string): void {
    item.currentValue = value;
    this.#onChange(item.id, value);
  }

  #type(data: string): void {
    if (getKeybindings().matches(data, "tui.editor.deleteCharBackward")) this.#search = this.#search.slice(0, -1);
    else if (/^[^\u0000-\u001f\u007f]+$/.test(data)) this.#search += data;
    this.#shown = fuzzyFilter(this.#items, this.#search, ({ label }) => label);
    this.#selected = 0;
  }
}

/** Which of `count` items to show so that the selected one is among them, in the middle where possible. */
function visibleRange(selected: number, count: number, maxVisible: number): { start: number; end: number } {
  const start = Math.max(0, Math.min(selected - Math.floor(maxVisible / 2), count - maxVisible));
  return { start, end: Math.min(start + maxVisible, count) };
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}
