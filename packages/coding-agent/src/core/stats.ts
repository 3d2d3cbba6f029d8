// Messages, tokens, cost and context use of the session.

import type { Model, Usage } from "@earendil-works/pi-ai";
import type { SessionStats } from "../modes/rpc/rpc-types.js";
import type { SessionEntry } from "../sessions/entries.js";
import type { AgentMessage } from "./messages.js";

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
  context: readonly AgentMessage[],
  model: Model | null,
): SessionStats {
  const totals: Totals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
  for (const entry of entries) addEntry(totals, entry);
  const counts = { userMessages: 0, assistantMessages: 0, toolCalls: 0, toolResults: 0 };
  for (const message of context) {
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
    totalMessages: context.length,
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

/**
 * The context's size in tokens: what the last answer reported, plus an estimate of what came after it. Unknown (null)
 * right after a compaction, until an answer reports again. Nothing without a model.
 */
export function contextUse(context: readonly AgentMessage[], model: Model | null): SessionStats["contextUsage"] {
  if (!model?.contextWindow) return undefined;
  const { contextWindow } = model;
  let tokens = 0;
  for (let at = context.length - 1; at >= 0; at -= 1) {
    const message = context[at] as AgentMessage;
    if (message.role === "compactionSummary") return { tokens: null, contextWindow, percent: null };
    if (message.role === "assistant" && isReported(message.usage) && message.stopReason !== "aborted") {
      tokens += message.usage.totalTokens;
      return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
    }
    tokens += estimateTokens(message);
  }
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

const isReported = (usage: Usage | undefined): usage is Usage => (usage?.totalTokens ?? 0) > 0;

/** Characters / 4, an image as 1,200 tokens (its usual order of size with the large providers). */
export function estimateTokens(message: AgentMessage): number {
  return Math.ceil(characters(message) / 4);
}

const imageCharacters = 4800;

function characters(message: AgentMessage): number {
  switch (message.role) {
    case "bashExecution":
      return message.command.length + message.output.length;
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length;
    default:
      return contentCharacters((message as { content?: unknown }).content);
  }
}

function contentCharacters(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let sum = 0;
  for (const block of content) {
    if (block.type === "text") sum += block.text.length;
    else if (block.type === "thinking") sum += block.thinking.length;
    else if (block.type === "image") sum += imageCharacters;
    else if (block.type === "toolCall") sum += block.name.length + JSON.stringify(block.arguments).length;
  }
  return sum;
}
