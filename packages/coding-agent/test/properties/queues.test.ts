// Texts that come at any moment of runs, retries, compactions and moves in the tree: none is lost, doubled or stranded.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommandError } from "../../src/core/errors.js";
import { longSession } from "../core/long-session.js";
import { testModel } from "../core/session.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { answerKind, immediates, marked, marksIn, randomModel, summaryKind, textOf, work } from "./random-model.js";

const texts = ["prompt", "prompt", "prompt to steer", "prompt to follow", "steer", "followUp"] as const;
const others = [
  "compact",
  "compact",
  "abort",
  "abort_retry",
  "move",
  "move and summarise",
  "clear",
  "retry off",
] as const;
const step = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...texts) },
    { weight: 4, arbitrary: fc.constantFrom(...others) },
    { weight: 1, arbitrary: fc.constant("idle" as const) },
  ),
  /** Turns of the event loop before the next step; 0 = at once. */
  wait: fc.constantFrom(0, 0, 1, 3, 8),
  place: fc.nat(50),
});

test("every accepted text is in the session, in a queue or given back, exactly once", {
  timeout: 120_000,
}, async () => {
  const seen = { queuedInCompaction: 0, refused: 0, kept: 0, cleared: 0, moved: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 18 }),
      fc.array(answerKind, { minLength: 1, maxLength: 6 }),
      fc.array(summaryKind, { minLength: 1, maxLength: 3 }),
      async (steps, answers, summaries) => {
        const faults: string[] = [];
        const scripted = testModel({ contextWindow: 2000, maxTokens: 200 });
        randomModel(scripted, { answers, summaries }, (fault) => {
          // A move may go to a call; the layer that makes a provider's request gives it a result.
          if (!fault.startsWith("calls without a result")) faults.push(fault);
        });
        const bench = longSession({
          scripted,
          tools: [work],
          delay: { wait: async (signal?: AbortSignal) => immediates(3).then(() => !signal?.aborted) } as never,
          compaction: { limits: () => ({ reserveTokens: 200, keepRecentTokens: 100 }) },
        });
        const { session, store, events } = bench;
        const accepted: string[] = [];
        const givenBack: string[] = [];
        const pending: Promise<unknown>[] = [];
        const refused = ({ code }: CommandError) => {
          seen.refused += 1;
          expect(["busy", "cancelled", "nothing_to_do", "provider_error"]).toContain(code);
        };
        const send = (how: (typeof texts)[number]) => {
          const text = marked(60);
          const isCompacting = session.state().isCompacting;
          const behaviors = { "prompt to steer": "steer", "prompt to follow": "followUp" } as const;
          const streamingBehavior = behaviors[how as keyof typeof behaviors];
          const sent =
            how === "steer"
              ? session.steer(text)
              : how === "followUp"
                ? session.followUp(text)
                : session.prompt(text, { streamingBehavior });
          pending.push(
            sent.then((disposition) => {
              accepted.push(...marksIn(text));
              if (isCompacting && disposition === "queued") seen.queuedInCompaction += 1;
            }, refused),
          );
        };
        const move = (place: number, summarize: boolean) => {
          const entries = store.getEntries();
          const target = entries[place % Math.max(1, entries.length)];
          if (target)
            pending.push(session.navigate({ entryId: target.id, summarize }).then(() => (seen.moved += 1), refused));
        };
        let aborts = 0;
        for (const { what, wait, place } of steps) {
          if (what === "compact") pending.push(session.compact().catch(refused));
          else if (what === "abort") {
            aborts += 1;
            pending.push(session.abort());
          } else if (what === "abort_retry") session.abortRetry();
          else if (what === "move" || what === "move and summarise") move(place, what !== "move");
          else if (what === "clear")
            pending.push(
              session.clearQueue().then(({ steering, followUp }) => {
                seen.cleared += steering.length + followUp.length;
                givenBack.push(...[...steering, ...followUp].flatMap(marksIn));
              }),
            );
          else if (what === "retry off") session.setAutoRetry(false);
          else if (what === "idle") await session.waitForIdle();
          else send(what);
          await immediates(wait);
        }
        do {
          await Promise.all(pending.splice(0));
          await session.waitForIdle();
          await immediates(1);
        } while (pending.length > 0 || session.isStreaming);
        const stored = () =>
          store
            .getEntries()
            .flatMap((entry) =>
              entry.type === "message" && entry.message.role === "user" ? marksIn(textOf(entry.message)) : [],
            );
        const waiting = () => session.state().pendingMessageCount;
        const shown = events.findLast((event) => event.type === "queue_update");
        const queued = waiting() > 0 && shown ? [...shown.steering, ...shown.followUp].flatMap(marksIn) : [];
        expect(queued).toHaveLength(waiting());
        expect([...stored(), ...queued, ...givenBack].sort()).toEqual([...accepted].sort());
        // Only an abort leaves texts behind, and the next prompt takes them along.
        if (aborts === 0) expect(queued).toEqual([]);
        seen.kept += queued.length;
        scripted.model.contextWindow = 1_000_000;
        const last = marked(10);
        await bench.say(last);
        expect(waiting()).toBe(0);
        expect([...stored(), ...givenBack].sort()).toEqual([...accepted, ...marksIn(last)].sort());
        expect(brokenOrder(events as never)).toEqual([]);
        expect([faults, bench.faults]).toEqual([[], []]);
        scripted.dispose();
      },
    ),
    { seed: 20_260_109, numRuns: 400 },
  );
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(5);
});
