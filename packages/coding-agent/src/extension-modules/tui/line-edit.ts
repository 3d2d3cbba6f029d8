// A text with a cursor, and what keys do to it.

import { getKeybindings } from "./keybindings.js";
import { decodeKittyPrintable, isKeyRelease } from "./keys.js";

/** Starts and ends text that was pasted. */
const pasteMarks = /\u001b\[20[01]~/g;

/** One text being edited. Places are UTF-16 units, never inside a character. */
export class EditedText {
  text = "";
  cursor = 0;
  #deleted = "";
  readonly #before: { text: string; cursor: number }[] = [];

  set(text: string): void {
    this.text = text;
    this.cursor = text.length;
  }

  insert(text: string): void {
    if (text !== "") this.#replace(this.cursor, this.cursor, text);
  }

  /** Does what a key of an editor does; false when the data is none and types nothing. `multiline` keeps line feeds. */
  handle(data: string, multiline: boolean): boolean {
    if (isKeyRelease(data)) return true;
    const keys = getKeybindings();
    const action = actions.find(([name]) => keys.matches(data, `tui.editor.${name}`));
    if (action) {
      action[1](this);
      return true;
    }
    const typed = decodeKittyPrintable(data) ?? typedText(data, multiline);
    if (typed === undefined) return false;
    this.insert(typed);
    return true;
  }

  moveTo(place: number): void {
    this.cursor = Math.max(0, Math.min(place, this.text.length));
  }

  /** Deletes between the cursor and another place. `keep` lets it be put back by yanking. */
  deleteTo(place: number, keep: boolean): void {
    const [from, to] = place < this.cursor ? [place, this.cursor] : [this.cursor, place];
    if (from === to) return;
    if (keep) this.#deleted = this.text.slice(from, to);
    this.#replace(from, to, "");
  }

  yank(): void {
    this.insert(this.#deleted);
  }

  undo(): void {
    const before = this.#before.pop();
    if (before) Object.assign(this, before);
  }

  get previous(): number {
    const characters = [...new Intl.Segmenter().segment(this.text.slice(0, this.cursor))];
    return characters.at(-1)?.index ?? 0;
  }

  get next(): number {
    const [first] = new Intl.Segmenter().segment(this.text.slice(this.cursor));
    return this.cursor + (first?.segment.length ?? 0);
  }

  get wordStart(): number {
    return this.text.slice(0, this.cursor).replace(/[^\s]*\s*$/, "").length;
  }

  get wordEnd(): number {
    const [word = ""] = /^\s*[^\s]*/.exec(this.text.slice(this.cursor)) ?? [];
    return this.cursor + word.length;
  }

  get lineStart(): number {
    return this.cursor === 0 ? 0 : this.text.lastIndexOf("\n", this.cursor - 1) + 1;
  }

  get lineEnd(): number {
    const end = this.text.indexOf("\n", this.cursor);
    return end < 0 ? this.text.length : end;
  }

  /** Moves by lines, keeping the place in the line where it is long enough. */
  moveLines(by: -1 | 1): void {
    const column = this.cursor - this.lineStart;
    const edge = by < 0 ? this.lineStart - 1 : this.lineEnd + 1;
    this.moveTo(edge);
    if (edge >= 0 && edge <= this.text.length) this.moveTo(Math.min(this.lineStart + column, this.lineEnd));
  }

  #replace(from: number, to: number, text: string): void {
    this.#before.push({ text: this.text, cursor: this.cursor });
    this.text = this.text.slice(0, from) + text + this.text.slice(to);
    this.cursor = from + text.length;
  }
}

const actions: readonly (readonly [string, (edited: EditedText) => void])[] = [
  ["cursorUp", (edited) => edited.moveLines(-1)],
  ["cursorDown", (edited) => edited.moveLines(1)],
  ["cursorLeft", (edited) => edited.moveTo(edited.previous)],
  ["cursorRight", (edited) => edited.moveTo(edited.next)],
  ["cursorWordLeft", (edited) => edited.moveTo(edited.wordStart)],
  ["cursorWordRight", (edited) => edited.moveTo(edited.wordEnd)],
  ["cursorLineStart", (edited) => edited.moveTo(edited.lineStart)],
  ["cursorLineEnd", (edited) => edited.moveTo(edited.lineEnd)],
  ["deleteCharBackward", (edited) => edited.deleteTo(edited.previous, false)],
  ["deleteCharForward", (edited) => edited.deleteTo(edited.next, false)],
  ["deleteWordBackward", (edited) => edited.deleteTo(edited.wordStart, true)],
  ["deleteWordForward", (edited) => edited.deleteTo(edited.wordEnd, true)],
  ["deleteToLineStart", (edited) => edited.deleteTo(edited.lineStart, true)],
  ["deleteToLineEnd", (edited) => edited.deleteTo(edited.lineEnd, true)],
  ["yank", (edited) => edited.yank()],
  ["undo", (edited) => edited.undo()],
];

/** Text that was typed or pasted; undefined for anything else a terminal sends. */
function typedText(data: string, multiline: boolean): string | undefined {
  const pasted = data.replace(pasteMarks, "").replace(/\r\n?/g, "\n");
  const text = multiline ? pasted : pasted.replaceAll("\n", "");
  return text === "" || /[\u0000-\u0008\u000b-\u001f\u007f]/.test(text) ? undefined : text;
}
