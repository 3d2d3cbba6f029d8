// Messages, tokens, cost and context use of the session.

import type { Model, Usage } from "@earendil-works/pi-ai";
import type { SessionStats } from "../modes/rpc/rpc-types.js";
import type { SessionEntry } from "../sessions/entries.js";
import { contextUse, type MeasuredContext } from "./token-estimate.js";

interface Totals {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cost: number;
}

/**
 * Totals over the whole session: assistant messages, usage that tools reported, and summaries, of every branch.
 * `total` tokens is the sum of the four kinds.
 */
export function sessionStats(
  session: { sessionFile: string | undefined; sessionId: string },
  entries: readonly SessionEntry[],
  context: MeasuredContext,
  model: Model | null,
): SessionStats {
  const totals: Totals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
  for (const entry of entries) addEntry(totals, entry);
  const counts = { userMessages: 0, assistantMessages: 0, toolCalls: 0, toolResults: 0 };
  for (const message of context.messages) {
    if (message.role === "user") counts.userMessages += 1;
    else if (message.role === "toolResult") counts.toolResults += 1;
    else if (message.role === "assistant") {
      counts.assistantMessages += 1;
      counts.toolCalls += message.content.filter(({ type }) => type === "toolCall").length;
    }
  }
  const { cost, ...tokens } = totals;
  const contextUsage = contextUse(context, model);
  return {
    ...(session.sessionFile && { sessionFile: session.sessionFile }),
    sessionId: session.sessionId,
    ...counts,
    totalMessages: context.messages.length,
    tokens: { ...tokens, total: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite },
    cost,
    ...(contextUsage && { contextUsage }),
  };
}

function addEntry(totals: Totals, entry: SessionEntry): void {
  if (entry.type === "message") {
    const { message } = entry;
    if (message?.role === "assistant" || message?.role === "toolResult") addUsage(totals, message.usage);
  } else if (entry.type === "compaction" || entry.type === "branch_summary" || entry.type === "usage") {
    addUsage(totals, entry.usage);
  }
}

function addUsage(totals: Totals, usage: Usage | undefined): void {
  if (!usage) return;
  totals.input += usage.input ?? 0;
  totals.output += usage.output ?? 0;
  totals.cacheRead += usage.cacheRead ?? 0;
  totals.cacheWrite += usage.cacheWrite ?? 0;
  totals.cost += usage.cost?.total ?? 0;
}
