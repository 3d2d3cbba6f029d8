// The width of text in terminal columns, and cutting and wrapping by it: ANSI codes count nothing, wide characters two.

import { sliceAnsi, stringWidth, wrapAnsi } from "../lazy-libraries.js";
import { StylesInForce } from "./styles-in-force.js";

/** Columns that a tab takes here. */
const tabWidth = 3;

/** Escape sequences: strings with an end (links, titles, markers), control sequences, and short ones. */
const sequences = /\u001b(?:[\]_PX^][^\u0007\u001b]*(?:\u0007|\u001b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-Z\\-~])/g;
/** Strings with an end that are no links; they have no place in a part of a line. */
const markers = /\u001b(?:[_PX^]|\](?!8;))[^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
const plain = /^[ -~]*$/;
const reset = "\u001b[0m";

/** Columns of a text. Line feeds and other control characters count nothing, a tab counts three. */
export function visibleWidth(text: string): number {
  if (plain.test(text)) return text.length;
  const visible = withoutTabs(stripTerminalSequences(text));
  return plain.test(visible) ? visible.length : stringWidth()(visible, { countAnsiEscapeCodes: true });
}

/** The text without any escape sequence. */
export function stripTerminalSequences(text: string): string {
  return text.includes("\u001b") ? text.replace(sequences, "") : text;
}

/** The text with a space for every control character but tab and line feed. */
export function replaceControlCharacters(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, " ");
}

/**
 * The text, or its beginning with `ellipsis` when it is wider than `width` columns. Styles and links end with what is
 * kept. `pad` fills up with spaces to the width.
 */
export function truncateToWidth(text: string, width: number, ellipsis = "...", pad = false): string {
  if (width <= 0) return "";
  if (visibleWidth(text) <= width) return pad ? padToWidth(text, width) : text;
  const mark = beginning(ellipsis, width);
  const kept = beginning(text, width - visibleWidth(mark));
  const cut = `${kept}${reset}${mark === "" ? "" : `${mark}${reset}`}`;
  return pad ? padToWidth(cut, width) : cut;
}

/** The text with spaces behind it up to `width` columns. */
export function padToWidth(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - visibleWidth(text)));
}

/**
 * `length` columns of a line from column `start` on (the first is 0), with the styles in force there. A wide character
 * that begins in the last column belongs to them, unless `strict` forbids to be wider.
 */
export function sliceByColumn(line: string, start: number, length: number, strict = false): string {
  if (length <= 0) return "";
  const text = sliceable(line);
  const from = Math.max(0, start);
  if (plain.test(text)) return text.slice(from, from + length);
  const slice = sliceAnsi()(text, from, from + length);
  return strict && visibleWidth(slice) > length ? beginning(slice, length) : slice;
}

/**
 * The text as lines of at most `width` columns, broken at spaces where possible. Styles and links go on from line to
 * line. A character wider than the width gets a line of its own.
 */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  if (text === "") return [""];
  const columns = Math.max(1, Math.floor(width));
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const styles = new StylesInForce();
  return lines.flatMap((line) => {
    const wrapped = wrapLine(styles.start + line, columns);
    styles.pass(line);
    return wrapped;
  });
}

function wrapLine(line: string, columns: number): string[] {
  if (visibleWidth(line) <= columns) return [line];
  return wrapAnsi()(sliceable(line), columns, { hard: true }).split("\n");
}

/** The longest beginning that is not wider than `width` columns. */
function beginning(text: string, width: number): string {
  if (width <= 0) return "";
  if (visibleWidth(text) <= width) return text;
  const whole = sliceable(text);
  if (plain.test(whole)) return whole.slice(0, width);
  for (let end = width; end > 0; end -= 1) {
    const kept = sliceAnsi()(whole, 0, end);
    if (visibleWidth(kept) <= width) return kept;
  }
  return "";
}

/** As the library that slices counts: it gives a tab one column, and takes markers for text. */
function sliceable(text: string): string {
  return withoutTabs(text.includes("\u001b") ? text.replace(markers, "") : text);
}

function withoutTabs(text: string): string {
  return text.includes("\t") ? text.replaceAll("\t", " ".repeat(tabWidth)) : text;
}
