// The session's tree as lines: a branch is indented only where the session divides, and can be closed there.

import type { PageEntry } from "../page-data.js";
import type { Session } from "./session.js";

export type Detail = "prompts" | "messages" | "everything";

export interface OutlineRow {
  place: number;
  depth: number;
  /** The first line of a branch; those below it belong to the branch until a line of its depth. */
  isHead: boolean;
}

/** Which lines there are at a level of detail. */
export function outlineRows(session: Session, detail: Detail): OutlineRow[] {
  const shown = (place: number) => isShown(session.entry(place), detail);
  /** For each entry, the nearest one above it that has a line; -1 for none. */
  const above: number[] = [];
  const branches = new Map<number, number>();
  for (const place of session.order) {
    const { parent } = session.entry(place);
    above[place] = parent < 0 ? -1 : shown(parent) ? parent : (above[parent] as number);
    if (shown(place)) branches.set(above[place] as number, (branches.get(above[place] as number) ?? 0) + 1);
  }
  const depths = new Map<number, number>([[-1, (branches.get(-1) ?? 0) > 1 ? -1 : 0]]);
  const rows: OutlineRow[] = [];
  for (const place of session.order) {
    if (!shown(place)) continue;
    const parent = above[place] as number;
    const isHead = (branches.get(parent) ?? 0) > 1;
    const depth = (depths.get(parent) as number) + (isHead ? 1 : 0);
    depths.set(place, depth);
    rows.push({ place, depth, isHead });
  }
  return rows;
}

/** The lines that are left when some branches are closed, each with the number of lines it hides. */
export function withoutClosed(
  rows: readonly OutlineRow[],
  closed: ReadonlySet<number>,
): (OutlineRow & { hidden: number })[] {
  const left: (OutlineRow & { hidden: number })[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] as OutlineRow;
    const end = row.isHead && closed.has(row.place) ? branchEnd(rows, at) : at + 1;
    left.push({ ...row, hidden: end - at - 1 });
    at = end - 1;
  }
  return left;
}

function branchEnd(rows: readonly OutlineRow[], head: number): number {
  const { depth } = rows[head] as OutlineRow;
  let end = head + 1;
  for (; end < rows.length; end += 1) {
    const row = rows[end] as OutlineRow;
    if (row.depth < depth || (row.depth === depth && row.isHead)) break;
  }
  return end;
}

function isShown({ kind, says, label, quiet, failed }: PageEntry, detail: Detail): boolean {
  if (label !== undefined) return true;
  if (quiet) return false;
  if (detail === "everything" || kind === "user" || kind === "compaction" || kind === "branchSummary") return true;
  if (detail === "prompts") return false;
  return kind === "bash" || kind === "custom" || (kind === "assistant" && (says === true || failed === true));
}
