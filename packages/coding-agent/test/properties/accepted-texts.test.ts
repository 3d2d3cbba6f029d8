// Nothing accepted is lost and every start has its end, whatever is sent in whatever order, and however it ends.

import { type Hold, hold, type ScriptStep, toolCall } from "@earendil-works/pi-ai/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { brokenOrder } from "../helpers/event-grammar.js";
import { type InProcessRpc, startInProcessRpc } from "../helpers/in-process-rpc.js";
import type { JsonRecord } from "../helpers/records.js";
import { readSession } from "../helpers/workspace.js";

const action = fc.oneof(
  { weight: 3, arbitrary: fc.constant("prompt") },
  { weight: 2, arbitrary: fc.constant("prompt as steering") },
  { weight: 3, arbitrary: fc.constant("steer") },
  { weight: 3, arbitrary: fc.constant("follow_up") },
  { weight: 2, arbitrary: fc.constant("abort") },
  { weight: 1, arbitrary: fc.constant("clear_queue") },
  { weight: 1, arbitrary: fc.constant("new_session") },
  { weight: 1, arbitrary: fc.constant("get_state") },
  { weight: 2, arbitrary: fc.constant("compact") },
  { weight: 1, arbitrary: fc.constant("abort_retry") },
  { weight: 1, arbitrary: fc.constant("all at once") },
  { weight: 4, arbitrary: fc.constant("let the model go on") },
  { weight: 4, arbitrary: fc.constant("a moment") },
);
const answer = fc.constantFrom(
  "text",
  "text",
  "held",
  "held",
  "held in the middle",
  "tool call",
  "failure",
  "overload",
);
const ending = fc.constantFrom("settled", "end of input", "SIGTERM", "lost reader");

/** Everything but the last message may be summarised, and retries wait for nothing. */
const files = { "agent/settings.json": { compaction: { keepRecentTokens: 1 }, retry: { baseDelayMs: 0 } } };

interface Game {
  peer: InProcessRpc;
  holds: Hold[];
  /** Texts in the order they were sent, by the id of their command. */
  texts: Map<string, string>;
}

function letModelAnswer({ peer, holds }: Game, answers: readonly string[]): void {
  const wait = () => {
    const point = hold();
    holds.push(point);
    return point;
  };
  const steps: Record<string, () => ScriptStep[]> = {
    text: () => ["yes"],
    held: () => [wait(), "yes"],
    "held in the middle": () => ["ye", wait(), "s"],
    "tool call": () => [toolCall("nothing", {})],
    failure: () => [{ type: "error", message: "no", info: { kind: "invalid_request" } }],
    overload: () => [{ type: "error", message: "later", info: { kind: "overloaded" } }],
  };
  // More answers than any game can ask for; the last of each game end runs.
  for (let turn = 0; turn < 300; turn += 1) {
    const kind = answers[turn % (answers.length + 1)] ?? "text";
    peer.scripted.replyWith(() => steps[kind]?.() ?? ["yes"]);
  }
}

async function play(game: Game, actions: readonly string[]): Promise<void> {
  const { peer, holds, texts } = game;
  let batch = "";
  const flush = () => {
    if (batch) peer.sendRaw(batch);
    batch = "";
  };
  for (const [index, name] of actions.entries()) {
    const id = `c${index}`;
    const add = (command: object) => {
      batch += `${JSON.stringify({ id, ...command })}\n`;
    };
    const text = () => {
      texts.set(id, `text ${index}`);
      return `text ${index}`;
    };
    if (name === "a moment") {
      flush();
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    } else if (name === "let the model go on") {
      flush();
      for (const point of holds.splice(0)) point.release();
    } else if (name === "all at once") add({ type: "set_steering_mode", mode: "all" });
    else if (name === "prompt as steering") add({ type: "prompt", message: text(), streamingBehavior: "steer" });
    else if (name === "prompt" || name === "steer" || name === "follow_up") add({ type: name, message: text() });
    else add({ type: name });
  }
  flush();
}

async function end({ peer, holds }: Game, how: string): Promise<void> {
  if (how === "SIGTERM") peer.signal("SIGTERM");
  else if (how === "lost reader") peer.io.closeReader();
  else {
    for (let isBusy = how === "settled"; isBusy; ) {
      await new Promise((resolve) => setImmediate(resolve));
      for (const point of holds.splice(0)) point.release();
      const { data } = await peer.ask({ type: "get_state" });
      const { isStreaming, isCompacting } = data as JsonRecord;
      isBusy = isStreaming === true || isCompacting === true;
    }
    peer.closeStdin();
  }
  await peer.ended;
}

function answersOf({ peer }: Game, command: string): JsonRecord[] {
  return peer.records.matching({ type: "response", command, success: true }).map(({ data }) => data as JsonRecord);
}

/** Every place where an accepted text may have come to, one entry a text. */
function whereabouts(game: Game): string[] {
  const { peer } = game;
  const found: string[] = [];
  for (const file of peer.place.sessionFiles())
    for (const { message } of readSession(file) as { message?: { role: string; content: { text: string }[] } }[])
      if (message?.role === "user") found.push(message.content[0]?.text ?? "");
  const queues = [...answersOf(game, "clear_queue"), ...answersOf(game, "new_session").map(({ dropped }) => dropped)];
  const { all } = peer.records;
  const shown = all.findLastIndex(({ type }) => type === "queue_update");
  const replaced = all.findLastIndex(({ command, success }) => command === "new_session" && success === true);
  if (shown > replaced) queues.push(all[shown] as JsonRecord);
  for (const queue of queues as ({ steering: string[]; followUp: string[] } | undefined)[])
    if (queue) found.push(...queue.steering, ...queue.followUp);
  return found;
}

test("every accepted text is somewhere exactly once, every refused one nowhere, and every run ends", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.array(answer, { maxLength: 6 }),
      ending,
      async (actions, answers, how) => {
        const peer = await startInProcessRpc({ noTools: true, files });
        try {
          const game: Game = { peer, holds: [], texts: new Map() };
          letModelAnswer(game, answers);
          await play(game, actions);
          await end(game, how);
          const { all } = peer.records;
          expect(brokenOrder(all)).toEqual([]);
          expect(peer.io.logged).toEqual([]);
          const answered = all.filter(({ type }) => type === "response").map(({ id }) => id);
          expect(new Set(answered).size).toBe(answered.length);
          const accepted = [...game.texts].filter(([id]) =>
            all.some((record) => record.id === id && record.success === true),
          );
          // After a signal commands that were not looked at are not answered; all others are.
          if (how === "settled" || how === "end of input")
            for (const id of game.texts.keys()) expect(answered, id).toContain(id);
          expect(whereabouts(game).sort()).toEqual(accepted.map(([, text]) => text).sort());
          const lastRun = all.findLastIndex(({ type }) => type === "agent_start");
          const settled = all.slice(lastRun).filter(({ type }) => type === "agent_settled");
          expect(settled).toHaveLength(lastRun < 0 ? 0 : 1);
        } finally {
          await peer.dispose();
        }
      },
    ),
    { seed: 20_260_101, numRuns: 1200 },
  );
});
