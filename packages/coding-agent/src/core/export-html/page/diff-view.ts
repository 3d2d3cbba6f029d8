// A unified diff, or the two texts of an edit, as coloured lines.

import { el } from "./dom.js";

/** A line's sign and its class; anything else is context. */
const kinds: Record<string, string> = { "+": "added", "-": "removed", "@": "hunk" };

export function diffView(diff: string): HTMLPreElement {
  const lines = diff
    .replace(/\n$/, "")
    .split("\n")
    .filter((line, at) => !isHeader(line, at));
  return view(lines);
}

/** Of an edit that has no diff. */
export function editView(edits: readonly { oldText: string; newText: string }[]): HTMLPreElement {
  return view(
    edits.flatMap(({ oldText, newText }, at) => [
      ...(at > 0 ? ["@@"] : []),
      ...oldText.split("\n").map((line) => `-${line}`),
      ...newText.split("\n").map((line) => `+${line}`),
    ]),
  );
}

/** Lines added and removed, as "+3 −1". */
export function diffCounts(diff: string): { added: number; removed: number } {
  const lines = diff.split("\n").filter((line, at) => !isHeader(line, at));
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count("+"), removed: count("-") };
}

/** The two lines with the file's names come first; further down such a line is content. */
function isHeader(line: string, at: number): boolean {
  return at < 4 && (/^(---|\+\+\+) /.test(line) || /^={3,}$/.test(line) || line.startsWith("Index: "));
}

function view(lines: readonly string[]): HTMLPreElement {
  const pre = el("pre", { class: "diff", tabindex: 0 });
  for (const line of lines) {
    const kind = kinds[line[0] ?? ""] ?? "same";
    pre.append(el("span", { class: kind }, `${line}\n`));
  }
  return pre;
}
