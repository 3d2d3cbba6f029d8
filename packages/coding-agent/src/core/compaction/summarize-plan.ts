// The summary of a compaction: one text of the older history and of the beginning of the work that is kept.

import { addUsage } from "@earendil-works/pi-ai";
import { withoutFileLists } from "../summarize/file-lists.js";
import type { Summary, SummaryJob } from "../summarize/summarize.js";
import type { CompactionPlan } from "./plan.js";

/**
 * Two summaries when a user span is cut: of what came before it, and of its beginning. No request is made for a part that is
 * empty. The text is without file lists. Rejects like `summarize`.
 */
export async function summarizePlan(
  { history, prefix, previousSummary = "" }: Pick<CompactionPlan, "history" | "prefix" | "previousSummary">,
  common: Pick<SummaryJob, "model" | "instructions" | "signal" | "reason">,
  summarize: (job: SummaryJob) => Promise<Summary>,
): Promise<Summary> {
  const job = { ...common, source: "compaction" as const };
  const previous = withoutFileLists(previousSummary); // the new summary gets lists of its own
  const older: Summary =
    history.length > 0
      ? await summarize({ ...job, kind: "history", messages: history, ...(previous && { previous }) })
      : { text: previous };
  if (prefix.length === 0) return older;
  const newer = await summarize({ ...job, kind: "prefix", messages: prefix });
  const text = [older.text, newer.text].filter(Boolean).join("\n\n# The work under way, from its beginning\n\n");
  const usage = older.usage && newer.usage ? addUsage(older.usage, newer.usage) : (older.usage ?? newer.usage);
  return { text, ...(usage && { usage }) };
}
