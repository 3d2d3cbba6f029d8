// The model usage of a session, added up as entries come, so that nobody walks the session for it.

import type { Usage } from "@earendil-works/pi-ai";
import type { SessionEntry } from "./entries.js";

/** Tokens by kind, and US dollars: of assistant messages, of tools, of summaries and of other model work. */
export interface UsageSum {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cost: number;
}

export class UsageTotals {
  readonly #sum: UsageSum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

  get sum(): Readonly<UsageSum> {
    return { ...this.#sum };
  }

  /** Other programs' entries may lack any of it. */
  add(entry: SessionEntry): void {
    const usage = usageOf(entry);
    if (!usage) return;
    const sum = this.#sum;
    sum.input += usage.input ?? 0;
    sum.output += usage.output ?? 0;
    sum.cacheRead += usage.cacheRead ?? 0;
    sum.cacheWrite += usage.cacheWrite ?? 0;
    sum.cost += usage.cost?.total ?? 0;
  }
}

function usageOf(entry: SessionEntry): Partial<Usage> | undefined {
  if (entry.type === "compaction" || entry.type === "branch_summary" || entry.type === "usage") return entry.usage;
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  return message?.role === "assistant" || message?.role === "toolResult" ? message.usage : undefined;
}
