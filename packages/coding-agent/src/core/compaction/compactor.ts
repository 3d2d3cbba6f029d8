// When the older part of the conversation is replaced by a summary, and the entry that does it.

import type { AssistantMessage, ErrorInfo, Model } from "@earendil-works/pi-ai";
import { textOf } from "../../lib/error-text.js";
import { CommandError } from "../errors.js";
import type { Emit } from "../event-line.js";
import type { CompactionReason, CompactionResult } from "../events.js";
import { collectFiles, type FileLists, fileListsText } from "../summarize/file-lists.js";
import { type Summary, SummaryError, type SummaryJob } from "../summarize/summarize.js";
import { contextTokens, estimateTokens, type MeasuredContext } from "../token-estimate.js";
import { type CompactionPlan, type ContextItem, planCompaction } from "./plan.js";
import { summarizePlan } from "./summarize-plan.js";

/** Token numbers of `compaction.*` for one model. */
export interface CompactionLimits {
  reserveTokens: number;
  keepRecentTokens: number;
}

/** What is known before a summary is asked for; extensions may cancel, or bring a summary of their own. */
export interface CompactionPreparation extends CompactionPlan {
  reason: CompactionReason;
  tokensBefore: number;
  instructions?: string | undefined;
  willRetry: boolean;
}

export type PreparedCompaction =
  | { cancel: true }
  | { summary: string; firstKeptEntryId?: string; tokensBefore?: number; details?: unknown; usage?: Summary["usage"] };

export interface CompactorOptions {
  emit: Emit;
  enabled: boolean;
  limits: (model: Model) => CompactionLimits;
  model: () => Model | null;
  items: () => readonly ContextItem[];
  context: () => MeasuredContext;
  /** Nothing was said since the last compaction. */
  isCompacted: () => boolean;
  /** Takes an answer that did not fit out of the conversation, once there is a summary. */
  forget: (answer: AssistantMessage) => void;
  /** File lists of the last compaction's entry, when it was ours. */
  earlierFiles: () => Partial<FileLists> | undefined;
  summarize: (job: SummaryJob) => Promise<Summary>;
  /** Writes the entry and makes the context anew from it. */
  record: (entry: Omit<CompactionResult, "estimatedTokensAfter"> & { fromHook: boolean }) => void;
  /** Hooks of extensions; absent without them. */
  prepare?: (preparation: CompactionPreparation, signal: AbortSignal) => Promise<PreparedCompaction | undefined>;
  /** Told of the end, before it is announced. */
  ended?: (end: CompactionEnd) => Promise<void>;
}

/** How a compaction ended; `result` is absent when it failed or was aborted. */
export interface CompactionEnd {
  reason: CompactionReason;
  willRetry: boolean;
  fromHook: boolean;
  aborted: boolean;
  errorMessage?: string;
}

interface Attempt {
  instructions?: string | undefined;
  willRetry: boolean;
  signal: AbortSignal;
  /** Takes the session for writing first; a refusal comes before anything is announced. */
  acquire?: (() => Promise<void>) | undefined;
  /** An answer that did not fit; it is summarised by nobody and leaves the conversation. */
  abandoned?: AssistantMessage;
}

/** At most one compaction at a time. An unsuccessful one leaves the conversation as it was. */
export class Compactor {
  enabled: boolean;
  readonly #options: CompactorOptions;
  #running: { abort: AbortController; done: Promise<unknown> } | undefined;
  /** The context was still too large after the last automatic compaction, so another one would not help either. */
  #isHopeless = false;
  /** An overflow of this user turn has been recovered from already. */
  #hasRecovered = false;
  /** The summary of the one that is running comes from an extension. */
  #fromHook = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.enabled = options.enabled;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** A new text of the user: what was tried for the last one does not count any more. */
  beginUserTurn(): void {
    this.#hasRecovered = false;
    this.#isHopeless = false;
  }

  /** Resolves when none is running. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running.done.catch(() => {});
  }

  /** Stops the one that is running; resolves after its end. Returns how many there were. */
  async abort(): Promise<number> {
    const running = this.#running;
    if (!running) return 0;
    running.abort.abort();
    await running.done.catch(() => {}); // whoever asked for it is told
    return 1;
  }

  /**
   * The `compact` command; it counts as running while `acquire` is waited for. Throws CommandError `no_model`, `busy`,
   * `nothing_to_do`, `cancelled`, `provider_error`, and what `acquire` rejects with.
   */
  async compact(instructions: string | undefined, acquire?: () => Promise<void>): Promise<CompactionResult> {
    if (this.#running) throw new CommandError("busy", "A compaction is running");
    const outcome = await this.#run("manual", { instructions, willRetry: false, acquire });
    if ("result" in outcome) return outcome.result;
    throw outcome.error;
  }

  /** Makes room when the context is nearly full. Does nothing otherwise; a failure is told by its events alone. */
  async compactIfNearlyFull(signal: AbortSignal): Promise<void> {
    const { model, limits, context } = this.#options;
    const current = model();
    if (!this.enabled || !current?.contextWindow || signal.aborted) return;
    const isFull = contextTokens(context()) > current.contextWindow - limits(current).reserveTokens;
    if (!isFull) this.#isHopeless = false;
    if (!isFull || this.#isHopeless || !this.#plan(current)) return;
    this.#isHopeless = true; // until the context has been seen below the limit again
    await this.#run("threshold", { willRetry: false, signal });
  }

  /** Whether a failed or cut-off answer comes from a context that was too large, and may be recovered from. */
  canRecover(answer: AssistantMessage): boolean {
    return this.enabled && this.#isOverflow(answer) && (!this.#hasRecovered || answer.stopReason === "error");
  }

  /** Whether `recover` can try: not for the second time, and there is something to summarise. */
  willRecover(answer: AssistantMessage): boolean {
    const model = this.#options.model();
    return !this.#hasRecovered && model !== null && this.#plan(model, answer) !== undefined;
  }

  /** Makes room after an overflow; says whether the prompt can be tried again. At most once for each text of the user. */
  async recover(answer: AssistantMessage, signal: AbortSignal): Promise<boolean> {
    if (this.#hasRecovered) {
      const errorMessage = `The context is still too large after compaction: ${answer.errorMessage ?? "cut off"}`;
      await this.#options.emit({
        type: "compaction_end",
        reason: "overflow",
        aborted: false,
        willRetry: false,
        errorMessage,
        error: answer.error ?? { kind: "overflow" },
      });
      return false;
    }
    this.#hasRecovered = true;
    const outcome = await this.#run("overflow", { willRetry: true, signal, abandoned: answer });
    return "result" in outcome;
  }

  #isOverflow(answer: AssistantMessage): boolean {
    if (answer.stopReason === "error") return answer.error?.kind === "overflow";
    const model = this.#options.model();
    if (answer.stopReason !== "length" || !model?.contextWindow) return false;
    // Cut off long before the output limit: the window was full.
    const { reserveTokens } = this.#options.limits(model);
    const isEarly = answer.usage.output < model.maxTokens * 0.9;
    return isEarly && answer.usage.totalTokens > model.contextWindow - reserveTokens;
  }

  #plan(model: Model, abandoned?: AssistantMessage): CompactionPlan | undefined {
    const items = this.#options.items().filter(({ message }) => message !== abandoned);
    return planCompaction(items, this.#options.limits(model).keepRecentTokens);
  }

  #run(
    reason: CompactionReason,
    how: Omit<Attempt, "signal"> & { signal?: AbortSignal },
  ): Promise<{ result: CompactionResult } | { error: CommandError }> {
    const abort = new AbortController();
    const signal = how.signal ? AbortSignal.any([abort.signal, how.signal]) : abort.signal;
    const done = this.#attempt(reason, { ...how, signal }).finally(() => {
      if (this.#running?.done === done) this.#running = undefined; // the next one may have begun
    });
    this.#running = { abort, done };
    return done;
  }

  async #attempt(
    reason: CompactionReason,
    attempt: Attempt,
  ): Promise<{ result: CompactionResult } | { error: CommandError }> {
    const { emit } = this.#options;
    const { signal, willRetry, acquire } = attempt;
    await acquire?.();
    await emit({ type: "compaction_start", reason });
    let result: CompactionResult;
    this.#fromHook = false;
    const ended = async (end: Pick<CompactionEnd, "aborted" | "errorMessage">) =>
      this.#options.ended?.({ reason, willRetry, fromHook: this.#fromHook, ...end });
    try {
      result = await this.#make(reason, attempt);
    } catch (error) {
      const { aborted, command, info } = failureOf(error, signal);
      await ended({ aborted, ...(!aborted && { errorMessage: command.message }) });
      this.#running = undefined;
      await emit({
        type: "compaction_end",
        reason,
        aborted,
        willRetry: false,
        ...(!aborted && { errorMessage: command.message }),
        ...(!aborted && info && { error: info }),
      });
      return { error: command };
    }
    await ended({ aborted: false });
    this.#running = undefined; // whoever hears of the end may send the next prompt
    await emit({ type: "compaction_end", reason, result, aborted: false, willRetry });
    return { result };
  }

  async #make(
    reason: CompactionReason,
    { instructions, willRetry, signal, abandoned }: Attempt,
  ): Promise<CompactionResult> {
    const { model, context, isCompacted, prepare, earlierFiles } = this.#options;
    if (this.#options.items().length === 0) throw nothing("Nothing to compact (session too small)");
    if (isCompacted()) throw nothing("Already compacted");
    const current = model();
    if (!current) throw new CommandError("no_model", "No model selected. A summary needs one");
    const plan = this.#plan(current, abandoned);
    if (!plan) throw nothing("Nothing to compact (session too small)");
    const tokensBefore = contextTokens(context());
    const preparation = { ...plan, reason, tokensBefore, instructions, willRetry };
    const given = await prepare?.(preparation, signal);
    if (signal.aborted || (given && "cancel" in given)) throw new SummaryError("Cancelled", { kind: "aborted" });
    if (given && "summary" in given) {
      this.#fromHook = true;
      const { firstKeptEntryId = plan.firstKeptEntryId, details, usage, summary } = given;
      const entry = { summary, firstKeptEntryId, tokensBefore: given.tokensBefore ?? tokensBefore };
      const whole = { ...entry, ...(details !== undefined && { details }), ...(usage && { usage }) };
      return this.#record(whole, true, abandoned);
    }
    const { text, usage } = await summarizePlan(
      plan,
      { model: current, instructions, signal, reason },
      this.#options.summarize,
    );
    if (!text) throw nothing("Nothing to compact (session too small)"); // a model was shown none of it
    const details = collectFiles([...plan.history, ...plan.prefix], earlierFiles());
    const entry = {
      summary: `${text}${fileListsText(details)}`,
      firstKeptEntryId: plan.firstKeptEntryId,
      tokensBefore,
      ...(usage && { usage }),
      details,
    };
    if (signal.aborted) throw new SummaryError("Cancelled", { kind: "aborted" });
    return this.#record(entry, false, abandoned);
  }

  #record(
    entry: Omit<CompactionResult, "estimatedTokensAfter">,
    fromHook: boolean,
    abandoned: AssistantMessage | undefined,
  ): CompactionResult {
    if (abandoned) this.#options.forget(abandoned);
    this.#options.record({ ...entry, fromHook });
    const { messages } = this.#options.context();
    return { ...entry, estimatedTokensAfter: messages.reduce((sum, message) => sum + estimateTokens(message), 0) };
  }
}

function nothing(text: string): CommandError {
  return new CommandError("nothing_to_do", text);
}

function failureOf(
  error: unknown,
  signal: AbortSignal,
): { aborted: boolean; command: CommandError; info?: ErrorInfo | undefined } {
  if (error instanceof CommandError) return { aborted: false, command: error };
  const info = error instanceof SummaryError ? error.info : undefined;
  if (signal.aborted || info?.kind === "aborted")
    return { aborted: true, command: new CommandError("cancelled", "Compaction cancelled") };
  const message = textOf(error);
  return { aborted: false, command: new CommandError("provider_error", message), info };
}
