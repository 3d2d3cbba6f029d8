// Reads a transcript and plays it against an end of RPC mode; the format is described in test/transcripts/README.md.

import { expect } from "vitest";
import type { AnsweringModel, AnswerStep } from "./answers.js";
import type { RpcPeer } from "./peer.js";
import type { Captures, Json, JsonRecord } from "./records.js";

interface Step {
  about?: string;
  settings?: JsonRecord;
  reply?: AnswerStep[];
  send?: JsonRecord | JsonRecord[];
  raw?: string;
  expect?: unknown;
  expectNext?: unknown;
  answered?: unknown;
  never?: unknown;
  asked?: number;
  release?: string;
  signal?: "SIGINT" | "SIGTERM" | "SIGHUP";
  eof?: true;
  exit?: number;
}

const verbs: ReadonlySet<string> = new Set(
  "about settings reply send raw expect expectNext answered never asked release signal eof exit".split(" "),
);

/** Throws for a line that is no step, naming it. */
export function readTranscript(text: string): Step[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line, index) => {
      const step = JSON.parse(line) as Step;
      const [verb, ...others] = Object.keys(step);
      if (verb === undefined || others.length > 0 || !verbs.has(verb))
        throw new Error(`Line ${index + 1} is no step: ${line}`);
      return step;
    });
}

/** Plays the steps in order and gives the records that were sent. Throws where the peer does not keep to them. */
export async function playTranscript(
  steps: readonly Step[],
  peer: RpcPeer,
  model: AnsweringModel,
): Promise<JsonRecord[]> {
  const captures: Captures = new Map();
  const sent: JsonRecord[] = [];
  for (const [index, step] of steps.entries()) {
    try {
      await playStep(step);
    } catch (error) {
      throw new Error(`Step ${index + 1} ${JSON.stringify(step).slice(0, 300)}\n${(error as Error).message}`);
    }
  }
  return sent;

  async function playStep(step: Step): Promise<void> {
    const { records } = peer;
    if (step.reply) model.answer(...step.reply);
    else if (step.send) {
      const list = fill(Array.isArray(step.send) ? step.send : [step.send], captures);
      sent.push(...list);
      peer.sendRaw(list.map((record) => `${JSON.stringify(record)}\n`).join(""));
    } else if (step.raw !== undefined) peer.sendRaw(step.raw);
    else if ("expect" in step) await records.next(step.expect, captures);
    else if ("expectNext" in step) await records.following(step.expectNext, captures);
    else if ("answered" in step) await records.anywhere(step.answered);
    else if ("never" in step) expect(records.matching(step.never)).toEqual([]);
    else if (step.asked !== undefined) await model.asked(step.asked);
    else if (step.release) model.holds.get(step.release).release();
    else if (step.signal) peer.signal(step.signal);
    else if (step.eof) peer.closeStdin();
    else if (step.exit !== undefined) expect(await peer.ended).toBe(step.exit);
  }
}

/** The settings a transcript starts with, as files of the workspace. */
export function transcriptFiles(steps: readonly Step[]): Record<string, unknown> {
  const settings = steps.find((step) => step.settings)?.settings;
  return settings ? { "agent/settings.json": settings } : {};
}

/** Puts what was remembered in place of `<is:x>`. */
function fill<T extends Json>(value: T, captures: Captures): T {
  const replaced = JSON.stringify(value).replace(/"<is:(\w+)>"/g, (_, name) => {
    if (!captures.has(name)) throw new Error(`Nothing was remembered as "${name}"`);
    return JSON.stringify(captures.get(name));
  });
  return JSON.parse(replaced) as T;
}
