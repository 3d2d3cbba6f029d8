// Asks the model for a summary, in as many requests as its window needs, and again after transient failures.

import {
  type AssistantMessage,
  addUsage,
  type ErrorInfo,
  isRetryable,
  type Model,
  type StreamOptions,
  type Usage,
  wholeCharacters,
} from "@earendil-works/pi-ai";
import { backoffDelay } from "../../lib/backoff.js";
import type { Emit } from "../event-line.js";
import type { CompactionReason } from "../events.js";
import type { AgentMessage } from "../messages.js";
import { conversationParagraphs } from "./conversation-text.js";
import { type SummaryKind, summaryRequest, summarySystemPrompt } from "./prompts.js";

/** How often and how long to wait; `maxRetries` 0 = not at all. Milliseconds. */
export interface RetryPolicy {
  maxRetries: number;
  baseMs: number;
  capMs: number;
}

export interface SummarizerOptions {
  emit: Emit;
  /** Makes one model call and gives its final message; rejects when the call cannot be made. */
  complete: (model: Model, request: SummaryCall, options: StreamOptions) => Promise<AssistantMessage>;
  policy: () => RetryPolicy;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface SummaryCall {
  systemPrompt: string;
  text: string;
}

export interface SummaryJob {
  kind: SummaryKind;
  model: Model;
  messages: readonly AgentMessage[];
  previous?: string | undefined;
  instructions?: string | undefined;
  /** The instructions are the whole request. */
  replaceInstructions?: boolean | undefined;
  signal: AbortSignal;
  source: "compaction" | "branchSummary";
  reason?: CompactionReason;
}

export interface Summary {
  text: string;
  /** Of all requests together; absent when none was made. */
  usage?: Usage;
}

/** There is no summary, and nothing was changed. `info.kind` is `aborted` when it was asked for. */
export class SummaryError extends Error {
  override readonly name = "SummaryError";
  readonly info: ErrorInfo;

  constructor(message: string, info: ErrorInfo) {
    super(message);
    this.info = info;
  }
}

/** Tokens kept free for the instructions around the conversation; they have about 500. */
const requestOverhead = 1000;
/** A summary longer than this is not one. */
const longestSummaryTokens = 8192;

export class Summarizer {
  readonly #options: SummarizerOptions;

  constructor(options: SummarizerOptions) {
    this.#options = options;
  }

  /**
   * A conversation larger than the model's window is summarised piece by piece, each piece into the summary so far.
   * Throws `SummaryError` when the answer is empty, cut off, refused or failed for good, and when the signal aborts.
   */
  async summarize(job: SummaryJob): Promise<Summary> {
    const paragraphs = conversationParagraphs(job.messages);
    if (paragraphs.length === 0) return { text: job.previous ?? "" };
    let previous = job.previous;
    let usage: Usage | undefined;
    for (const piece of pieces(paragraphs, pieceCharacters(job.model, previous))) {
      const { instructions, replaceInstructions } = job;
      const text = summaryRequest(job.kind, piece, { previous, instructions, replaceInstructions });
      const answer = await this.#ask(job, text);
      usage = usage ? addUsage(usage, answer.usage) : answer.usage;
      previous = textOf(answer);
    }
    return { text: previous ?? "", ...(usage && { usage }) };
  }

  async #ask(job: SummaryJob, text: string): Promise<AssistantMessage> {
    const { emit, policy, sleep, complete } = this.#options;
    const { model, signal, source, reason } = job;
    const options: StreamOptions = {
      signal,
      maxTokens: summaryTokens(model),
      cacheRetention: "none", // a prompt that is not asked again
      thinkingLevel: "off",
    };
    const { maxRetries, baseMs, capMs } = policy();
    let attempt = 0;
    try {
      for (;;) {
        const answer = await complete(model, { systemPrompt: summarySystemPrompt, text }, options);
        if (signal.aborted) throw cancelled();
        const problem = problemOf(answer);
        if (!problem) return answer;
        const { message: errorMessage, info: error } = problem;
        if (!isRetryable(error.kind) || attempt >= maxRetries) throw problem;
        attempt += 1;
        const delayMs = backoffDelay(attempt - 1, { baseMs, capMs, retryAfterMs: error.retryAfterMs });
        const scheduled = { attempt, maxAttempts: maxRetries, delayMs, errorMessage, error };
        await emit({ type: "summarization_retry_scheduled", ...scheduled });
        await sleep(delayMs, signal).catch(() => Promise.reject(cancelled()));
        await emit({ type: "summarization_retry_attempt_start", source, ...(reason && { reason }) });
      }
    } finally {
      if (attempt > 0) await emit({ type: "summarization_retry_finished" });
    }
  }
}

function cancelled(): SummaryError {
  return new SummaryError("Cancelled", { kind: "aborted" });
}

function problemOf(answer: AssistantMessage): SummaryError | undefined {
  if (answer.stopReason === "error" || answer.stopReason === "aborted")
    return new SummaryError(answer.errorMessage ?? "The model failed", answer.error ?? { kind: "other" });
  if (answer.stopReason === "length") return new SummaryError("The summary was cut off", { kind: "other" });
  if (!textOf(answer)) return new SummaryError("The summary is empty", { kind: "other" });
  return undefined;
}

function textOf(answer: AssistantMessage): string {
  return answer.content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("")
    .trim();
}

/** Servers add it to the prompt before they compare with the window, so it is a part of a small one. */
function summaryTokens(model: Model): number {
  return Math.min(model.maxTokens, longestSummaryTokens, Math.floor(windowOf(model) / 4));
}

/** Characters of conversation that fit into one request beside the answer and the summary so far. */
function pieceCharacters(model: Model, previous: string | undefined): number {
  const room = windowOf(model) - 2 * summaryTokens(model) - requestOverhead;
  return Math.max(4 * room - (previous?.length ?? 0), windowOf(model), 1000);
}

/** Tokens; of a model whose window nobody knows, what models have at least these days. */
function windowOf({ contextWindow }: Model): number {
  return contextWindow || 128_000;
}

function pieces(paragraphs: readonly string[], limit: number): string[][] {
  const result: string[][] = [];
  let piece: string[] = [];
  let length = 0;
  for (const paragraph of paragraphs.flatMap((text) => parts(text, limit))) {
    if (length + paragraph.length > limit && piece.length > 0) {
      result.push(piece);
      piece = [];
      length = 0;
    }
    piece.push(paragraph);
    length += paragraph.length;
  }
  result.push(piece);
  return result;
}

/** A single message can be larger than a window. */
function parts(text: string, limit: number): string[] {
  if (text.length <= limit) return [text];
  const result: string[] = [];
  for (let rest = text; rest !== ""; rest = rest.slice(result.at(-1)?.length))
    result.push(wholeCharacters(rest.slice(0, limit)));
  return result;
}
