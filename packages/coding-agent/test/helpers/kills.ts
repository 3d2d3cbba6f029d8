// Kills the built program while it writes a session, and checks what the file then holds and how the next run goes on.

import { join } from "node:path";
import { KilledSession, killsPerSession } from "./killed-session.js";
import { type CliOptions, RunningCli } from "./running-cli.js";
import type { Workspace } from "./workspace.js";

export interface KillOptions {
  /** A whole number of sessions is made: the next multiple of `killsPerSession`. */
  kills: number;
  seed: number;
  /** Sessions at a time, one process each. */
  lanes: number;
  place: Workspace;
  /** Default: a process nobody ends but this. */
  start?: (options: CliOptions) => RunningCli;
  /** Told after every session. */
  progress?: (totals: KillTotals) => void;
}

export interface KillTotals {
  kills: number;
  /** Entries the program told of before it was killed, and in runs that went on: messages, names, labels, copies. */
  announced: number;
  /** Entries in the files. */
  found: number;
  /** Last lines that a kill cut. */
  torn: number;
  /** Texts that name the seed and the session. */
  failures: string[];
}

/** Never throws for what it finds: that is in `failures`. */
export async function killRuns(options: KillOptions): Promise<KillTotals> {
  const { kills, seed, lanes, place, start = (cli) => new RunningCli(cli), progress } = options;
  const totals: KillTotals = { kills: 0, announced: 0, found: 0, torn: 0, failures: [] };
  const sessions = Math.ceil(kills / killsPerSession);
  let next = 0;
  const lane = async () => {
    while (next < sessions) {
      const index = next++;
      const path = join(place.cwd, `${index}`, "session.jsonl");
      // A session of its own sequence: what one does is the same however many run beside it.
      const session = new KilledSession({ path, place, start, totals, random: randomNumbers(seed + index * 7919) });
      try {
        await session.live();
      } catch (error) {
        totals.failures.push(`seed ${seed}, session ${index} (${session.doing}): ${(error as Error).message}`);
      }
      session.end();
      progress?.(totals);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return totals;
}

/** One line that tells it all. */
export function killSummary({ kills, announced, found, torn, failures }: KillTotals): string {
  return `${kills} kills, ${announced} entries announced, ${found} entries found, ${torn} torn lines, ${failures.length} failures`;
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
