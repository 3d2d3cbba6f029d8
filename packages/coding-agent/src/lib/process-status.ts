// What Linux tells of a process.

import { readFileSync } from "node:fs";

/** `state` is one letter (`Z` for a process that ended); `startTime` is in clock ticks since boot. */
export interface ProcessStatus {
  state: string | undefined;
  startTime: string | undefined;
}

/** Undefined when the process is gone or the system does not tell (no /proc). */
export function processStatus(pid: number): ProcessStatus | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may hold anything; fields 3 and 22 are the first and the twentieth after it (proc(5)).
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0], startTime: fields[19] };
  } catch {
    return undefined;
  }
}
