// Whether, when and how often a failed answer is asked for again, and giving up the wait.

import { type AssistantMessage, isRetryable } from "@earendil-works/pi-ai";
import { backoffDelay } from "../lib/backoff.js";
import type { Emit } from "./event-line.js";
import type { Recovery } from "./run.js";

export interface RetriesOptions {
  emit: Emit;
  enabled: boolean;
  /** Milliseconds; `maxRetries` 0 = not at all. */
  policy: () => { maxRetries: number; baseMs: number; capMs: number };
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Takes a failed answer out of the conversation before it is asked for again. */
  forget: (failed: AssistantMessage) => void;
}

/** Decides by the failure's kind. The count begins anew after every answer that went well. */
export class Retries {
  enabled: boolean;
  readonly #options: RetriesOptions;
  #attempt = 0;
  #waiting: AbortController | undefined;

  constructor(options: RetriesOptions) {
    this.#options = options;
    this.enabled = options.enabled;
  }

  /** Nothing when the failure is none that this service has anything to say about. */
  decide(failed: AssistantMessage, signal: AbortSignal): Recovery | undefined {
    const { maxRetries } = this.#options.policy();
    const kind = failed.error?.kind ?? "other";
    if (this.enabled && isRetryable(kind) && this.#attempt < maxRetries)
      return { willRetry: true, proceed: () => this.#retry(failed, maxRetries, signal) };
    if (this.#attempt === 0) return undefined;
    return { willRetry: false, proceed: () => this.#giveUp(failed) };
  }

  /** An answer went well: a series of retries, if there was one, has succeeded. */
  async succeeded(): Promise<void> {
    const attempt = this.#attempt;
    if (attempt === 0) return;
    this.#attempt = 0;
    await this.#options.emit({ type: "auto_retry_end", success: true, attempt });
  }

  /** The run ended in another way (aborted in mid-attempt): the series ends unsuccessfully. */
  async cancelled(): Promise<void> {
    if (this.#attempt > 0) await this.#end("Retry cancelled");
  }

  /** Gives up the wait for the next attempt; returns how many waits there were. */
  abort(): number {
    if (!this.#waiting) return 0;
    this.#waiting.abort();
    return 1;
  }

  async #retry(failed: AssistantMessage, maxAttempts: number, runSignal: AbortSignal): Promise<boolean> {
    const { emit, policy, sleep, forget } = this.#options;
    this.#attempt += 1;
    const { baseMs, capMs } = policy();
    const { error, errorMessage = "The model failed" } = failed;
    const delayMs = backoffDelay(this.#attempt - 1, { baseMs, capMs, retryAfterMs: error?.retryAfterMs });
    const waiting = new AbortController();
    this.#waiting = waiting;
    const start = { attempt: this.#attempt, maxAttempts, delayMs, errorMessage, ...(error && { error }) };
    await emit({ type: "auto_retry_start", ...start });
    try {
      await sleep(delayMs, AbortSignal.any([waiting.signal, runSignal]));
    } catch {
      await this.#end("Retry cancelled");
      return false;
    } finally {
      this.#waiting = undefined;
    }
    forget(failed);
    return true;
  }

  async #giveUp({ errorMessage = "The model failed", error }: AssistantMessage): Promise<boolean> {
    await this.#end(errorMessage, error);
    return false;
  }

  async #end(finalError: string, error?: AssistantMessage["error"]): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = 0;
    await this.#options.emit({ type: "auto_retry_end", success: false, attempt, finalError, ...(error && { error }) });
  }
}
