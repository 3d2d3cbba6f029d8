// One accepted prompt until it is settled: the run, what is retried, what was queued meanwhile, and the end.

import { type AgentEvent, type AgentLoopOptions, type MessageQueue, runAgentLoop } from "@earendil-works/pi-agent-core";
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Emit } from "./event-line.js";
import type { AgentSessionEvent } from "./events.js";
import type { AgentMessage } from "./messages.js";
import type { Queues } from "./queue.js";

export interface RunsOptions {
  emit: Emit;
  queues: Queues;
  /** Everything the loop needs but what a run itself owns. */
  loop: Omit<AgentLoopOptions, "emit" | "signal" | "steering" | "followUps">;
  /** Runs before the first low-level run of a prompt (automatic compaction). */
  beforeRun?: (signal: AbortSignal) => Promise<void>;
  /** Adds to the messages a run begins with. */
  prepare?: (prompts: readonly AgentMessage[]) => Promise<readonly AgentMessage[]>;
  /** Asked when nothing is left to do: `true` makes one more run with the context as it is. */
  wantsRun?: (last: AssistantMessage | undefined) => Promise<boolean>;
  /** Sees the last answer of a low-level run that was not aborted, before `agent_end` is announced. */
  recover?: (last: AssistantMessage, signal: AbortSignal) => Recovery | undefined;
  /** Runs between a turn and the next request. */
  betweenTurns?: (signal: AbortSignal) => Promise<void>;
  /** Runs after every low-level run that ended well, before queued work goes on (automatic compaction). */
  afterRun?: (signal: AbortSignal) => Promise<void>;
  /** Sees every answer that went well, before its turn ends. */
  answered?: () => Promise<void>;
  /** Runs after the low-level runs of an aborted prompt (open retries end here). */
  aborted?: () => Promise<void>;
  /** Runs when nothing is left to do, right before `agent_settled` (commands that ended meanwhile join here). */
  beforeSettled: () => void;
  /** Told of a bug that broke a run. */
  fault: (error: unknown) => void;
}

/** What follows an answer: `proceed` waits as long as needed, and says whether another attempt is made. */
export interface Recovery {
  /** Another attempt is planned; what `agent_end` says. */
  willRetry: boolean;
  proceed: () => Promise<boolean>;
}

/** How the last run ended; nothing before the first. */
export interface RunOutcome {
  aborted: boolean;
  /** The last assistant message of the run. */
  last: AssistantMessage | undefined;
}

/** At most one run at a time. */
export class Runs {
  readonly #options: RunsOptions;
  #current: { abort: AbortController; settled: Promise<void> } | undefined;
  #outcome: RunOutcome | undefined;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  get outcome(): RunOutcome | undefined {
    return this.#outcome;
  }

  /** Aborts with the run under way. */
  get signal(): AbortSignal | undefined {
    return this.#current?.abort.signal;
  }

  /** Starts a run; `isRunning` is true when this returns. The caller has made sure that none is under way. */
  start(prompts: readonly AgentMessage[] | MessageQueue): void {
    const abort = new AbortController();
    const settled = this.#drive(prompts, abort.signal);
    this.#current = { abort, settled };
  }

  /** Stops the run; resolves after its `agent_settled`. Returns whether there was one. */
  async abort(): Promise<boolean> {
    const current = this.#current;
    if (!current) return false;
    current.abort.abort();
    await current.settled;
    return true;
  }

  /** Resolves when no run is under way. */
  async settled(): Promise<void> {
    while (this.#current) await this.#current.settled;
  }

  async #drive(prompts: readonly AgentMessage[] | MessageQueue, signal: AbortSignal): Promise<void> {
    // Answers travel in microtasks, so the prompt is answered before its run announces anything.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const { emit, queues, fault } = this.#options;
    const outcome: RunOutcome = { aborted: false, last: undefined };
    let hasBegun = true;
    try {
      let next: readonly AgentMessage[] | MessageQueue | undefined = prompts;
      await this.#options.beforeRun?.(signal);
      if (!("take" in next) && this.#options.prepare) next = await this.#options.prepare(next);
      // A queue that was cleared, or is kept by an abort, starts nothing, so there is no end to announce either.
      if ("take" in next && (signal.aborted || next.isEmpty())) next = undefined;
      hasBegun = next !== undefined;
      while (next) {
        await this.#runOne(next, signal, outcome);
        if (signal.aborted) await this.#options.aborted?.();
        if (signal.aborted && queues.length > 0) await queues.announce();
        next = signal.aborted ? undefined : queues.next();
        if (!next && !signal.aborted && (await this.#options.wantsRun?.(outcome.last)))
          next = signal.aborted ? undefined : (queues.next() ?? []);
        // What came while handlers were asked.
        next ??= signal.aborted ? undefined : queues.next();
      }
    } catch (error) {
      // Only a bug gets here; the run still ends visibly, and what is queued waits for the next prompt.
      fault(error);
    }
    // From here on a text starts a run of its own, so nothing is awaited between the last look at the queues and this.
    // An abort that came when the answer was complete and nothing was left to do has cut nothing off.
    const isComplete = outcome.last?.stopReason === "stop" && queues.length === 0;
    const aborted = signal.aborted && !isComplete;
    this.#settle(outcome, aborted);
    try {
      if (hasBegun) await emit({ type: "agent_settled", aborted });
    } catch (error) {
      fault(error);
    }
  }

  #settle(outcome: RunOutcome, aborted: boolean): void {
    try {
      this.#options.beforeSettled();
    } catch (error) {
      this.#options.fault(error);
    }
    this.#current = undefined;
    this.#outcome = { ...outcome, aborted };
  }

  /** One low-level run, with the attempts that recover it. */
  async #runOne(
    prompts: readonly AgentMessage[] | MessageQueue,
    signal: AbortSignal,
    outcome: RunOutcome,
  ): Promise<void> {
    const { queues, afterRun } = this.#options;
    let recovery: Recovery | undefined;
    let next = prompts;
    do {
      recovery = undefined;
      await runAgentLoop(next, {
        ...this.#options.loop,
        signal,
        beforeNextTurn: async () => {
          await this.#options.betweenTurns?.(signal);
          return true;
        },
        steering: queues.source("steering"),
        followUps: queues.source("followUp"),
        emit: (event) => {
          if (event.type === "agent_end")
            return this.#announceEnd(event, outcome.last, signal).then((found) => {
              recovery = found;
            });
          if (event.type === "message_end" && event.message.role === "assistant")
            return this.#announceAnswer(event, event.message, outcome);
          return this.#options.emit(event as AgentSessionEvent);
        },
      });
      next = [];
    } while (await (recovery as Recovery | undefined)?.proceed());
    if (!signal.aborted && outcome.last?.stopReason !== "error") await afterRun?.(signal);
  }

  async #announceAnswer(event: AgentEvent, message: AssistantMessage, outcome: RunOutcome): Promise<void> {
    const end = event as { type: "message_end"; message: AssistantMessage };
    outcome.last = message;
    await this.#options.emit(end);
    outcome.last = end.message; // a handler may have replaced it
    if (message.stopReason !== "error" && message.stopReason !== "aborted") await this.#options.answered?.();
  }

  async #announceEnd(
    event: Extract<AgentEvent, { type: "agent_end" }>,
    last: AssistantMessage | undefined,
    signal: AbortSignal,
  ): Promise<Recovery | undefined> {
    const recovery = last && !signal.aborted ? this.#options.recover?.(last, signal) : undefined;
    const end = { ...event, willRetry: recovery?.willRetry ?? false } as AgentSessionEvent;
    await this.#options.emit(end);
    return recovery;
  }
}
