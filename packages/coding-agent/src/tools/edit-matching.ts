// Finds the text a model wants replaced, first exactly, then forgiving what models get wrong, and replaces it alone.

import { normalizeLineEndings, normalizeTypography, type TextView } from "./text-view.js";

export interface Edit {
  oldText: string;
  newText: string;
}

/** The file after all edits; `firstChangedLine` counts from 1. */
export interface EditedText {
  text: string;
  firstChangedLine: number;
}

/**
 * Applies edits that were all made for the same `text`; their order does not matter. Everything outside them stays as it is,
 * and lines that old and new text have in common stay as the file has them. `exactOnly` leaves typography alone, for text
 * that is really bytes. Throws, naming the edit, when one is not found, not unique, empty, without effect or overlaps.
 */
export function applyEdits(text: string, edits: readonly Edit[], options: { exactOnly?: boolean } = {}): EditedText {
  const views = new Views(text, options.exactOnly ?? false);
  const changes = edits.map((edit, index) => toChange(views, edit, edits.length > 1 ? `edits[${index}]` : "the edit"));
  changes.sort((a, b) => a.start - b.start || a.end - b.end);
  let result = "";
  let end = 0;
  for (const [index, change] of changes.entries()) {
    const before = changes[index - 1];
    if (before && change.matchStart < before.matchEnd)
      throw new Error(`${before.name} and ${change.name} overlap; make them one edit`);
    result += text.slice(end, change.start) + change.replacement;
    end = change.end;
  }
  result += text.slice(end);
  if (result === text) throw new Error("the edits change nothing");
  return { text: result, firstChangedLine: lineOf(text, changes[0]!.start) };
}

/** One replacement in the original text; the match may be wider than what really changes. */
interface Change {
  name: string;
  matchStart: number;
  matchEnd: number;
  start: number;
  end: number;
  replacement: string;
}

class Views {
  readonly text: string;
  readonly #exactOnly: boolean;
  #lineEndings: TextView | undefined;
  #typography: TextView | undefined;

  constructor(text: string, exactOnly: boolean) {
    this.text = text;
    this.#exactOnly = exactOnly;
  }

  /** From strict to forgiving, made only when the stricter one found nothing. */
  *tolerant(): Generator<{ view: TextView; normalize: (text: string) => TextView }> {
    this.#lineEndings ??= normalizeLineEndings(this.text);
    yield { view: this.#lineEndings, normalize: normalizeLineEndings };
    if (this.#exactOnly) return;
    this.#typography ??= normalizeTypography(this.text);
    yield { view: this.#typography, normalize: normalizeTypography };
  }
}

function toChange(views: Views, edit: Edit, name: string): Change {
  const { oldText, newText } = edit;
  if (oldText === "") throw new Error(`${name} has an empty oldText`);
  if (oldText === newText) throw new Error(`${name} changes nothing: oldText and newText are the same`);
  const { text } = views;
  const start = onlyPlace(places(text, oldText), name, (at) => lineOf(text, at));
  if (start !== undefined) {
    const end = start + oldText.length;
    const replacement = withLineEndings(newText, text, start, end);
    return { name, matchStart: start, matchEnd: end, start, end, replacement };
  }
  for (const { view, normalize } of views.tolerant()) {
    const wanted = oldText.replaceAll("\r\n", "\n");
    const old = normalize(wanted);
    const found = places(view.text, old.text).filter((at) => endsLikeOldText(view, at, old, wanted));
    const at = onlyPlace(found, name, (place) => lineOf(view.text, place));
    if (at !== undefined) return tolerantChange(views.text, view, at, { old, oldText: wanted, edit, name });
  }
  throw new Error(`${name}: oldText was not found; it must match the file, whitespace and indentation included`);
}

/** Every place, overlapping ones too. */
function places(text: string, wanted: string): number[] {
  const found: number[] = [];
  if (wanted === "") return found;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

function onlyPlace(found: number[], name: string, line: (at: number) => number): number | undefined {
  if (found.length <= 1) return found[0];
  const lines = found.slice(0, 5).map(line).join(", ");
  const more = found.length > 5 ? ", …" : "";
  throw new Error(
    `${name}: oldText occurs ${found.length} times (lines ${lines}${more}); add surrounding text so that it is unique`,
  );
}

// White space that was dropped at the end of the old text must be at a line's end in the file too.
function endsLikeOldText(view: TextView, at: number, old: TextView, oldText: string): boolean {
  if (!/[^\S\n]$/.test(oldText)) return true;
  const end = at + old.text.length;
  return end === view.text.length || view.text[end] === "\n" || old.starts[old.text.length - 1] === oldText.length - 1;
}

function tolerantChange(
  text: string,
  view: TextView,
  at: number,
  wanted: { old: TextView; oldText: string; edit: Edit; name: string },
): Change {
  const { old, oldText, edit, name } = wanted;
  const matchStart = view.starts[at]!;
  const matchEnd = view.starts[at + old.text.length]!;
  const { prefix, suffix, middle } = commonLines(old, oldText, edit);
  const start = view.starts[at + prefix]!;
  const end = view.starts[at + old.text.length - suffix]!;
  const replacement = withLineEndings(middle, text, matchStart, matchEnd);
  return { name, matchStart, matchEnd, start, end, replacement };
}

/** What old and new text share at both ends, in whole lines: lengths in the normalised old text, and the new text between. */
function commonLines(old: TextView, oldText: string, edit: Edit): { prefix: number; suffix: number; middle: string } {
  const ownEndings = edit.newText.includes("\r\n") && !edit.oldText.includes("\r\n");
  if (ownEndings) return { prefix: 0, suffix: 0, middle: edit.newText };
  const newText = edit.newText.replaceAll("\r\n", "\n");
  const shorter = Math.min(oldText.length, newText.length);
  let prefix = 0;
  while (prefix < shorter && oldText[prefix] === newText[prefix]) prefix++;
  prefix = prefix === 0 ? 0 : oldText.lastIndexOf("\n", prefix - 1) + 1;
  let suffix = 0;
  while (suffix < shorter - prefix && oldText.at(-1 - suffix) === newText.at(-1 - suffix)) suffix++;
  while (suffix > 0 && !isLineEdge(oldText, newText, suffix)) suffix--;
  return {
    prefix: normalizedIndex(old, prefix),
    suffix: old.text.length - normalizedIndex(old, oldText.length - suffix),
    middle: newText.slice(prefix, newText.length - suffix),
  };
}

/** Whether a common end of this length starts with a line break, or with a line in both texts. */
function isLineEdge(oldText: string, newText: string, suffix: number): boolean {
  if (oldText.at(-suffix) === "\n") return true;
  const startsLine = (text: string) => text.length === suffix || text.at(-suffix - 1) === "\n";
  return startsLine(oldText) && startsLine(newText);
}

/** The first character of a view that comes from `index` or later. */
function normalizedIndex(view: TextView, index: number): number {
  const found = view.starts.findIndex((start) => start >= index);
  return found < 0 ? view.text.length : found;
}

/** New text with the line endings of its place: those of the replaced lines, else of the nearest ones. */
function withLineEndings(newText: string, text: string, start: number, end: number): string {
  if (!newText.includes("\n") || newText.includes("\r\n")) return newText;
  let lineFeed = text.indexOf("\n", start);
  if (lineFeed < 0 || lineFeed >= end) {
    const before = start > 0 ? text.lastIndexOf("\n", start - 1) : -1;
    if (lineFeed < 0) lineFeed = before;
  }
  return lineFeed > 0 && text[lineFeed - 1] === "\r" ? newText.replaceAll("\n", "\r\n") : newText;
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let next = text.indexOf("\n"); next >= 0 && next < at; next = text.indexOf("\n", next + 1)) line++;
  return line;
}
