// Whatever is said, and however often it is compacted: nothing is lost, room is made, and a failure changes nothing.

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Conversation } from "../../src/core/conversation.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import type { AgentMessage } from "../../src/core/messages.js";
import { toLlmMessage } from "../../src/core/to-llm.js";
import { type LongSession, longSession } from "../core/long-session.js";
import { testModel } from "../core/session.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { answerKind, marked, marksIn, randomModel, summaryKind, textOf, work } from "./random-model.js";

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant("say" as const), size: fc.integer({ min: 20, max: 200 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("say" as const), size: fc.integer({ min: 1500, max: 4000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("shell" as const), size: fc.integer({ min: 20, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("hidden shell" as const), size: fc.constant(50) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("compact" as const), size: fc.constant(0) }) },
);

/** A command of the user that has run; running one takes a process, and is tested elsewhere. */
function shell(size: number, excludeFromContext: boolean): AgentMessage {
  const result = { output: marked(size), exitCode: 0, cancelled: false, truncated: false, timestamp: 0 };
  return { role: "bashExecution", command: "ls", ...result, ...(excludeFromContext && { excludeFromContext }) };
}

/** Marks of everything on the branch that a model is to know of, in order. */
function everything({ store }: LongSession): string[] {
  const branch = store.getBranch();
  const forgotten = new Set(branch.flatMap((entry) => (entry.type === "context_edit" ? [entry.targetId] : [])));
  return branch.flatMap((entry) => {
    if (entry.type !== "message" || forgotten.has(entry.id)) return [];
    const message = toLlmMessage(entry.message);
    return message ? marksIn(textOf(message)) : [];
  });
}

/** Recoveries from an overflow between one message of the user and the next. */
function recoveriesPerUserTurn(events: readonly AgentSessionEvent[]): number[] {
  const counts = [0];
  for (const event of events) {
    if (event.type === "message_end" && event.message.role === "user") counts.push(0);
    if (event.type === "compaction_start" && event.reason === "overflow") counts.push((counts.pop() ?? 0) + 1);
  }
  return counts;
}

test("invariants of compaction over random conversations", { timeout: 120_000 }, async () => {
  const seen = { compactions: 0, failures: 0, overflow: 0, threshold: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 2, maxLength: 14 }),
      fc.array(answerKind, { minLength: 1, maxLength: 12 }),
      fc.array(summaryKind, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 50, max: 1200 }),
      async (actions, answers, summaries, keepRecentTokens) => {
        const faults: string[] = [];
        const scripted = testModel({ contextWindow: 4000, maxTokens: 400 });
        randomModel(scripted, { answers, summaries }, (fault) => faults.push(fault));
        const bench = longSession({
          scripted,
          tools: [work],
          compaction: { limits: () => ({ reserveTokens: 500, keepRecentTokens }) },
        });
        const { session, store, events } = bench;
        let before: readonly AgentMessage[] | undefined;
        session.subscribe((event) => {
          if (event.type === "compaction_start") before = [...session.messages];
          if (event.type !== "compaction_end") return undefined;
          if (event.reason !== "manual") seen[event.reason] += 1;
          if (event.result) {
            seen.compactions += 1;
            const { tokensBefore, estimatedTokensAfter = 0 } = event.result;
            if (estimatedTokensAfter >= tokensBefore) faults.push(`${tokensBefore} → ${estimatedTokensAfter} tokens`);
          } else if (before) {
            seen.failures += 1;
            if (!isDeepStrictEqual(session.messages, before)) faults.push("a failure changed the conversation");
          }
          before = undefined; // the end of a second overflow has no start
          return undefined;
        });
        for (const { does, size } of actions) {
          if (does === "say") await bench.say(marked(size));
          else if (does === "compact") await session.compact().catch(() => {});
          else {
            store.appendMessage(shell(size, does === "hidden shell"));
            await session.navigate({ entryId: store.getLeafId() as string });
          }
          // In the summary or among the messages, exactly once, in order.
          const known = session.messages
            .map((message) => toLlmMessage(message))
            .filter((message) => message !== undefined);
          expect(known.flatMap((message) => marksIn(textOf(message)))).toEqual(everything(bench));
          expect(new Conversation(store).messages).toEqual(session.messages);
        }
        expect(faults).toEqual([]);
        expect(bench.faults).toEqual([]);
        expect(brokenOrder(events as never)).toEqual([]);
        for (const count of recoveriesPerUserTurn(events)) expect(count).toBeLessThanOrEqual(1);
        scripted.dispose();
      },
    ),
    { seed: 20_260_107, numRuns: 150 },
  );
  // The conversations above were worth it.
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(5);
});
