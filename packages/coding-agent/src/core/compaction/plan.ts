// Where to cut a conversation: what is summarised, what is kept, and never a call apart from its result.

import type { AgentMessage } from "../messages.js";
import { estimateTokens } from "../token-estimate.js";

/** A message of the context and the entry it comes from. */
export interface ContextItem {
  id: string;
  message: AgentMessage;
}

/** What a compaction will do. `history` and `prefix` together are exactly what leaves the context. */
export interface CompactionPlan {
  /** Entry of the first message that stays. */
  firstKeptEntryId: string;
  /** Whole user spans that are summarised. */
  history: AgentMessage[];
  /** The beginning of a user span too large to keep whole; its end is kept. */
  prefix: AgentMessage[];
  /** The summary that stood for everything before `history`. */
  previousSummary: string | undefined;
}

/**
 * Keeps messages from the end until they are estimated at `keepRecentTokens` or more. Nothing when that is everything.
 * A cut falls on a user's, an assistant's or an extension's message, never between a call and its result.
 */
export function planCompaction(items: readonly ContextItem[], keepRecentTokens: number): CompactionPlan | undefined {
  const first = items[0]?.message;
  const previous = first?.role === "compactionSummary" ? first : undefined;
  const start = previous ? 1 : 0;
  const cut = cutAt(items, start, keepRecentTokens);
  if (cut === undefined) return undefined;
  const leaves = items.slice(start, cut);
  if (leaves.every(({ message }) => estimateTokens(message) === 0)) return undefined; // no room would be made
  const spanStart = beginsSpan(items[cut]?.message) ? cut : spanBefore(items, start, cut);
  return {
    firstKeptEntryId: (items[cut] as ContextItem).id,
    history: messagesOf(items, start, spanStart),
    prefix: messagesOf(items, spanStart, cut),
    previousSummary: previous?.summary,
  };
}

function cutAt(items: readonly ContextItem[], start: number, keep: number): number | undefined {
  let kept = 0;
  let at = items.length - 1;
  for (; at >= start; at -= 1) {
    kept += estimateTokens((items[at] as ContextItem).message);
    if (kept >= keep) break;
  }
  if (at < start) return undefined; // all of it fits into what is kept
  const allowed = (index: number) => mayBeCut(items, index);
  for (let index = at; index < items.length; index += 1) if (allowed(index)) return index > start ? index : undefined;
  for (let index = at - 1; index > start; index -= 1) if (allowed(index)) return index;
  return undefined;
}

/** Whether the message may be the first that is kept. */
function mayBeCut(items: readonly ContextItem[], index: number): boolean {
  const message = items[index]?.message;
  if (!message || message.role === "toolResult" || message.role === "compactionSummary") return false;
  if (message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted"))
    return false;
  return !partsCall(items, index);
}

/** Results follow their calls, but a file of another program may have something in between. */
function partsCall(items: readonly ContextItem[], index: number): boolean {
  for (let at = index; at < items.length; at += 1) {
    const message = items[at]?.message;
    if (message?.role === "assistant") return false; // its results are behind it, those of earlier calls before it
    if (message?.role === "toolResult") return true;
  }
  return false;
}

/** A span is a user's message and all that follows until the next one. */
function beginsSpan(message: AgentMessage | undefined): boolean {
  return message !== undefined && message.role !== "assistant" && message.role !== "toolResult";
}

function spanBefore(items: readonly ContextItem[], start: number, cut: number): number {
  for (let index = cut - 1; index > start; index -= 1) if (items[index]?.message.role === "user") return index;
  return start;
}

function messagesOf(items: readonly ContextItem[], from: number, to: number): AgentMessage[] {
  return items.slice(from, to).map(({ message }) => message);
}
