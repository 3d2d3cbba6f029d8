// Measuring and shortening a conversation, for extensions that compact in their own way.

import { setTimeout as wait } from "node:timers/promises";
import { complete, type Model, type Usage } from "@earendil-works/pi-ai";
import { summarizePlan } from "../../core/compaction/summarize-plan.js";
import type { AgentMessage } from "../../core/messages.js";
import { collectFiles, fileListsIn, fileListsText } from "../../core/summarize/file-lists.js";
import { Summarizer } from "../../core/summarize/summarize.js";
import { estimateTokens } from "../../core/token-estimate.js";
import { defaultSettings } from "../../resources/settings.js";
import { contextMessage } from "../../sessions/context-message.js";
import type { SessionEntry } from "../../sessions/entries.js";

export { estimateTokens } from "../../core/token-estimate.js";

export interface CompactionSettings {
  enabled: boolean;
  reserveTokens: number;
  keepRecentTokens: number;
}

export const DEFAULT_COMPACTION_SETTINGS: CompactionSettings = compactionDefaults();

/** The size of a context in tokens as an answer reported it. */
export function calculateContextTokens(usage: Usage): number {
  return usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}

/** Whether so many tokens of a window are so many that it should be compacted. */
export function shouldCompact(tokens: number, contextWindow: number, settings: CompactionSettings): boolean {
  return settings.enabled && tokens > contextWindow - settings.reserveTokens;
}

/** What the last answer that did not fail reported; undefined without one. */
export function getLastAssistantUsage(entries: readonly SessionEntry[]): Usage | undefined {
  for (const entry of entries.toReversed()) {
    const message = entry.type === "message" ? entry.message : undefined;
    if (message?.role !== "assistant") continue;
    if (message.stopReason !== "error" && message.stopReason !== "aborted" && message.usage) return message.usage;
  }
  return undefined;
}

/** Where to cut; `turnStartIndex` is -1 unless the cut falls inside a turn. */
export interface CutPoint {
  firstKeptEntryIndex: number;
  turnStartIndex: number;
  isSplitTurn: boolean;
}

/**
 * The cut between `start` and `end` (exclusive) that keeps about so many tokens at the end. It never falls on a tool's
 * result, which would part it from its call; without a better place everything is kept.
 */
export function findCutPoint(
  entries: readonly SessionEntry[],
  start: number,
  end: number,
  keepRecentTokens: number,
): CutPoint {
  let at = start;
  let kept = 0;
  for (let index = end - 1; index >= start; index -= 1) {
    const message = messageOf(entries[index]);
    if (!message) continue;
    kept += estimateTokens(message);
    if (kept < keepRecentTokens) continue;
    at = cutFrom(entries, index, end) ?? start;
    break;
  }
  const role = messageOf(entries[at])?.role;
  const turnStart = role === "assistant" ? findTurnStartIndex(entries, at, start) : -1;
  return { firstKeptEntryIndex: at, turnStartIndex: turnStart, isSplitTurn: turnStart >= 0 && turnStart < at };
}

/** The user's message that began the turn an entry belongs to, not before `start`; -1 when there is none. */
export function findTurnStartIndex(entries: readonly SessionEntry[], index: number, start: number): number {
  for (let at = index; at >= start; at -= 1) {
    const role = messageOf(entries[at])?.role;
    if (role === "user" || role === "bashExecution" || role === "custom" || role === "branchSummary") return at;
  }
  return -1;
}

function cutFrom(entries: readonly SessionEntry[], from: number, end: number): number | undefined {
  for (let at = from; at < end; at += 1) {
    const role = messageOf(entries[at])?.role;
    if (role && role !== "toolResult" && role !== "compactionSummary") return at;
  }
  return undefined;
}

function messageOf(entry: SessionEntry | undefined): AgentMessage | undefined {
  return entry && contextMessage(entry);
}

/** What is to be compacted, as the event before a compaction says it. */
export interface CompactionPreparation {
  firstKeptEntryId: string;
  messagesToSummarize: AgentMessage[];
  turnPrefixMessages?: AgentMessage[];
  tokensBefore: number;
  previousSummary?: string;
}

/**
 * Summarises with a model call of its own and gives what a compaction stores. Rejects when there is no summary. A text
 * in place of `headers` stands for `instructions`, and the signal for what follows, as older extensions call it.
 */
export async function compact(
  preparation: CompactionPreparation,
  model: Model,
  apiKey: string | undefined,
  headers?: Record<string, string> | string,
  instructions?: string | AbortSignal,
  signal?: AbortSignal,
) {
  const access = { apiKey, headers: typeof headers === "string" ? undefined : headers };
  const asked = typeof headers === "string" ? headers : typeof instructions === "string" ? instructions : undefined;
  const stop =
    signal ?? (instructions instanceof AbortSignal ? instructions : undefined) ?? new AbortController().signal;
  const { messagesToSummarize: history, turnPrefixMessages: prefix = [], previousSummary } = preparation;
  const summarizer = summarizerFor(access);
  const { text, usage } = await summarizePlan(
    { history, prefix, previousSummary },
    { model, instructions: asked, signal: stop },
    (job) => summarizer.summarize(job),
  );
  const details = collectFiles([...history, ...prefix], fileListsIn(previousSummary ?? ""));
  return {
    summary: text + fileListsText(details),
    firstKeptEntryId: preparation.firstKeptEntryId,
    tokensBefore: preparation.tokensBefore,
    details,
    ...(usage && { usage }),
  };
}

function compactionDefaults(): CompactionSettings {
  const { enabled, reserveTokens, keepRecentTokens } = defaultSettings().compaction;
  return { enabled, reserveTokens, keepRecentTokens };
}

function summarizerFor(access: {
  apiKey: string | undefined;
  headers: Record<string, string> | undefined;
}): Summarizer {
  return new Summarizer({
    emit: async () => {},
    policy: () => ({ maxRetries: 0, baseMs: 0, capMs: 0 }),
    sleep: (ms, signal) => wait(ms, undefined, { signal }),
    complete: (model, { systemPrompt, text }, options) =>
      complete(
        model,
        { systemPrompt, messages: [{ role: "user", content: [{ type: "text", text }], timestamp: Date.now() }] },
        {
          ...options,
          ...(access.apiKey && { apiKey: access.apiKey }),
          ...(access.headers && { headers: access.headers }),
        },
      ),
  });
}
