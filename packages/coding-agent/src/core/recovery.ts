// Joins retry and compaction to a session's runs: what is tried again, when room is made, and what abort stops.

import type { AssistantMessage, Model, StreamOptions, stream } from "@earendil-works/pi-ai";
import { Compactor, type CompactorOptions } from "./compaction/compactor.js";
import type { Conversation } from "./conversation.js";
import type { Emit } from "./event-line.js";
import type { CompactionResult } from "./events.js";
import { Retries } from "./retry.js";
import type { Recovery, RunsOptions } from "./run.js";
import { Summarizer, type SummaryCall } from "./summarize/summarize.js";

/** The settings recovery goes by. Token numbers are per model; times are in milliseconds. */
export interface RecoverySettings {
  retry: { enabled: boolean; maxRetries: number; baseMs: number; capMs: number };
  compaction: { enabled: boolean; limits: CompactorOptions["limits"] };
}

export interface RecoveryOptions {
  emit: Emit;
  conversation: Conversation;
  model: () => Model | null;
  /** Key, headers and the like of a request to the model. */
  requestOptions: (model: Model) => Promise<StreamOptions>;
  stream: typeof stream;
  settings: RecoverySettings;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Writes a compaction's entry. */
  appendCompaction: (entry: Omit<CompactionResult, "estimatedTokensAfter"> & { fromHook: boolean }) => void;
  prepare?: CompactorOptions["prepare"];
  /** Told of the end of every compaction. */
  compacted?: CompactorOptions["ended"];
}

/** Retry and compaction of one session. */
export class RunRecovery {
  readonly retries: Retries;
  readonly compactor: Compactor;
  readonly summarizer: Summarizer;

  constructor(options: RecoveryOptions) {
    const { emit, conversation, settings, sleep } = options;
    const policy = () => settings.retry;
    this.retries = new Retries({
      emit,
      sleep,
      policy,
      enabled: settings.retry.enabled,
      forget: (failed) => conversation.forget(failed),
    });
    this.summarizer = new Summarizer({
      emit,
      sleep,
      policy: () => (this.retries.enabled ? policy() : { ...policy(), maxRetries: 0 }),
      complete: (model, request, callOptions) => completeWith(options, model, request, callOptions),
    });
    this.compactor = new Compactor({
      emit,
      enabled: settings.compaction.enabled,
      limits: settings.compaction.limits,
      model: options.model,
      items: () => conversation.items,
      context: () => conversation.measured,
      isCompacted: () => conversation.isCompacted,
      forget: (answer) => conversation.forget(answer),
      earlierFiles: () => {
        const entry = conversation.lastCompaction();
        return entry && !entry.fromHook ? (entry.details as object | undefined) : undefined;
      },
      summarize: (job) => this.summarizer.summarize(job),
      record: (entry) => {
        options.appendCompaction(entry);
        conversation.reload();
      },
      ...(options.prepare && { prepare: options.prepare }),
      ...(options.compacted && { ended: options.compacted }),
    });
  }

  /** The hooks of a run. */
  get hooks(): Required<
    Pick<RunsOptions, "beforeRun" | "betweenTurns" | "afterRun" | "recover" | "answered" | "aborted">
  > {
    const { compactor, retries } = this;
    return {
      beforeRun: (signal) => compactor.compactIfNearlyFull(signal),
      betweenTurns: (signal) => compactor.compactIfNearlyFull(signal),
      afterRun: (signal) => compactor.compactIfNearlyFull(signal),
      recover: (last, signal) => this.#decide(last, signal),
      answered: () => retries.succeeded(),
      aborted: () => retries.cancelled(),
    };
  }

  #decide(last: AssistantMessage, signal: AbortSignal): Recovery | undefined {
    const { compactor, retries } = this;
    if (compactor.canRecover(last))
      return {
        willRetry: compactor.willRecover(last),
        proceed: async () => {
          const recovered = await compactor.recover(last, signal);
          if (!recovered) await retries.decide(last, signal)?.proceed();
          return recovered && !signal.aborted;
        },
      };
    return last.stopReason === "error" ? retries.decide(last, signal) : undefined;
  }
}

async function completeWith(
  { requestOptions, stream }: RecoveryOptions,
  model: Model,
  { systemPrompt, text }: SummaryCall,
  options: StreamOptions,
): Promise<AssistantMessage> {
  const request = await requestOptions(model);
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text }], timestamp: Date.now() }];
  return stream(model, { systemPrompt, messages }, { ...request, ...options }).result();
}
