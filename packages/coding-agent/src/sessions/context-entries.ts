// Which entries of a branch are behind what the model sees.

import type { SessionEntry } from "./entries.js";

/**
 * Of a branch from root to leaf: the latest compaction, what it keeps of the entries before it, and all after it; the
 * whole branch when there is no compaction. Entries that show the model nothing are kept where they are.
 */
export function contextEntries(branch: readonly SessionEntry[]): SessionEntry[] {
  const at = branch.findLastIndex(({ type }) => type === "compaction");
  const compaction = branch[at];
  if (compaction?.type !== "compaction") return [...branch];
  const before = branch.slice(0, at);
  const first = before.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  // The latest summary stands for what earlier ones stood for.
  const kept = first < 0 ? [] : before.slice(first).filter(({ type }) => type !== "compaction");
  return [compaction, ...kept, ...branch.slice(at + 1)];
}
