// 500 aborts at random moments: the run ends once and in order, says truthfully how, and the next request is valid.

import fc from "fast-check";
import { expect, test } from "vitest";
import { Conversation } from "../../src/core/conversation.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { type LongSession, longSession } from "../core/long-session.js";
import { testModel } from "../core/session.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { answerKind, brokenPairs, immediates, marked, randomModel, summaryKind, work } from "./random-model.js";

/** Some microtasks (0 = within the listener) or turns of the event loop after an event of the run. */
const moment = fc.record({
  event: fc.oneof(fc.nat(12), fc.nat(60)),
  wait: fc.constantFrom("microtasks", "immediates"),
  count: fc.nat(6),
});
const other = fc.record({
  event: fc.nat(40),
  what: fc.constantFrom("steer", "followUp", "compact", "abort_retry"),
});

/** Delays that last a few turns of the event loop. */
const delay = { wait: async (signal?: AbortSignal) => immediates(4).then(() => !signal?.aborted) };

/** A text that the abort found before it was accepted. */
function refused(error: { code?: string }): void {
  expect(error.code).toBe("cancelled");
}

async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await undefined;
}

/** What the run's end says beside what its last answer and what came after it say; empty when they agree. */
function disagreement(events: readonly AgentSessionEvent[], aborts: number, queued: number): string | undefined {
  const settled = events.findLast((event) => event.type === "agent_settled") as { aborted: boolean };
  const answers = events.flatMap((event) =>
    event.type === "message_end" && event.message.role === "assistant" ? [event.message.stopReason] : [],
  );
  const last = answers.at(-1);
  if (!settled.aborted && last === "aborted") return "the answer was aborted, the run not";
  if (settled.aborted && aborts === 0) return "nobody aborted it";
  if (settled.aborted && last === "stop" && queued === 0) return "the answer is complete and nothing was left to do";
  return undefined;
}

const seen = { during: 0, aborted: 0, complete: 0, delays: 0, compactions: 0, tools: 0, early: 0 };

function note(events: readonly AgentSessionEvent[]): void {
  const last = events.at(-1);
  if (last?.type === "agent_settled") seen[last.aborted ? "aborted" : "complete"] += 1;
  if (events.some((event) => event.type === "auto_retry_end" && event.finalError === "Retry cancelled"))
    seen.delays += 1;
  if (events.some((event) => event.type === "compaction_end" && event.aborted)) seen.compactions += 1;
  if (events.some((event) => event.type === "tool_execution_end" && event.isError)) seen.tools += 1;
  if (!events.some((event) => event.type === "message_update")) seen.early += 1;
}

/** Two spans to compact, so that a run has room to be made. */
async function conversation(bench: LongSession): Promise<void> {
  for (const name of ["one", "two"]) {
    bench.scripted.reply(marked(200, `answer ${name}`));
    await bench.say(marked(200, `question ${name}`));
  }
  bench.events.length = 0;
}

test("500 aborts", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      moment,
      fc.array(other, { maxLength: 3 }),
      fc.array(answerKind, { minLength: 1, maxLength: 8 }),
      fc.array(summaryKind, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 20, max: 1000 }),
      async (when, others, answers, summaries, size) => {
        const faults: string[] = [];
        const scripted = testModel({ contextWindow: 1500, maxTokens: 200 });
        const bench = longSession({
          scripted,
          tools: [work],
          delay: delay as never,
          compaction: { limits: () => ({ reserveTokens: 200, keepRecentTokens: 250 }) },
        });
        const { session, store, events } = bench;
        await conversation(bench);
        randomModel(scripted, { answers, summaries }, (fault) => faults.push(fault));
        const pending: Promise<unknown>[] = [];
        let aborts = 0;
        const abort = () => {
          if (session.isStreaming) aborts += 1;
          pending.push(session.abort());
        };
        let at = -1;
        const unsubscribe = session.subscribe(() => {
          at += 1;
          if (at === when.event) {
            if (when.count === 0) abort();
            else pending.push((when.wait === "microtasks" ? ticks(when.count) : immediates(when.count)).then(abort));
          }
          for (const { event, what } of others) {
            if (event !== at) continue;
            if (what === "steer") pending.push(session.steer(marked(5)).catch(refused));
            else if (what === "followUp") pending.push(session.followUp(marked(5)).catch(refused));
            else if (what === "compact") pending.push(session.compact().catch(() => {}));
            else session.abortRetry();
          }
          return undefined;
        });
        await session.prompt(marked(size));
        do {
          await Promise.all(pending.splice(0));
          await session.waitForIdle();
          await immediates(1);
        } while (pending.length > 0 || session.isStreaming);
        unsubscribe();
        const runs = events.filter(({ type }) => type === "agent_settled").length;
        const { pendingMessageCount, ...state } = session.state();
        if (aborts > 0) seen.during += 1;
        note(events);
        expect(state).toMatchObject({ isStreaming: false, isCompacting: false });
        expect(brokenOrder(events as never)).toEqual([]);
        // A text or a second one may have started a run of its own behind the first.
        if (runs === 1) expect(disagreement(events, aborts, pendingMessageCount)).toBeUndefined();
        if (others.length === 0) expect(runs).toBe(1);
        expect(new Conversation(store).messages).toEqual(session.messages);
        // The next prompt works, and what its request shows is in order (the model looks at every request).
        scripted.model.contextWindow = 1_000_000;
        const before = events.length;
        await bench.say("next");
        expect(brokenPairs(new Conversation(store).forModel)).toEqual([]);
        expect(brokenOrder(events.slice(before) as never)).toEqual([]);
        expect(events.at(-1)).toMatchObject({ type: "agent_settled", aborted: false });
        expect(session.state().pendingMessageCount).toBe(0);
        expect([faults, bench.faults]).toEqual([[], []]);
        scripted.dispose();
      },
    ),
    { seed: 20_260_108, numRuns: 500 },
  );
  // Moments of every kind were among them.
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(5);
});
