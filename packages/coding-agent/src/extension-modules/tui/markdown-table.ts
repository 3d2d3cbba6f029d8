// A Markdown table drawn with lines.

import type { Token } from "markdown-it";
import { padToWidth, visibleWidth, wrapTextWithAnsi } from "./width.js";

/** Lines of at most `width` columns; columns are made narrower, and their texts wrapped, until they fit. */
export function tableLines(tokens: readonly Token[], width: number, textOf: (cell: Token) => string): string[] {
  const rows = rowsOf(tokens, textOf);
  const count = Math.max(0, ...rows.map((row) => row.length));
  const room = width - (3 * count + 1);
  // Too narrow for a table: its texts, one below the other.
  if (room < count) return rows.flatMap((row) => row.flatMap((cell) => wrapTextWithAnsi(cell, width)));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => visibleWidth(row[column] ?? ""))),
  );
  while (sum(widths) > room) widths[widths.indexOf(Math.max(...widths))]! -= 1;
  const rule = (left: string, middle: string, right: string) =>
    left + widths.map((columns) => "─".repeat(columns + 2)).join(middle) + right;
  const lines = rows.flatMap((row, index) => [...(index > 0 ? [rule("├", "┼", "┤")] : []), ...rowLines(row, widths)]);
  return [rule("┌", "┬", "┐"), ...lines, rule("└", "┴", "┘")];
}

function rowsOf(tokens: readonly Token[], textOf: (cell: Token) => string): string[][] {
  const rows: string[][] = [];
  for (const token of tokens)
    if (token.type === "tr_open") rows.push([]);
    else if (token.type === "inline") rows.at(-1)?.push(textOf(token));
  return rows;
}

function rowLines(row: readonly string[], widths: readonly number[]): string[] {
  const cells = widths.map((columns, index) => wrapTextWithAnsi(row[index] ?? "", columns));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = cells.map((lines, index) => padToWidth(lines[line] ?? "", widths[index] as number));
    return `│ ${parts.join(" │ ")} │`;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
