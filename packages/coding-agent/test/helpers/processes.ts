// Looks at other processes of this machine: whether they live, whom they belong to, how much memory they hold.

import { readdirSync, readFileSync } from "node:fs";

/** Whether a process is there and no zombie. */
export function isAlive(pid: number): boolean {
  const state = statusOf(pid)?.State;
  return state !== undefined && !state.startsWith("Z") && !state.startsWith("X");
}

/** Resident memory in bytes; 0 when the process is gone. */
export function residentBytes(pid: number): number {
  return Number.parseInt(statusOf(pid)?.VmRSS ?? "0", 10) * 1024;
}

/** Processes whose environment has this variable with this value; a mark that children inherit. */
export function processesWith(name: string, value: string): number[] {
  const wanted = `${name}=${value}`;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => isAlive(pid) && environmentOf(pid).includes(wanted));
}

/** Resolves when the condition holds; fails after 10 seconds. For states that nobody announces. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Not within 10 seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function statusOf(pid: number): Record<string, string> | undefined {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, "utf8").split("\n");
    return Object.fromEntries(lines.map((line) => [line.split(":")[0], line.slice(line.indexOf(":") + 1).trim()]));
  } catch {
    return undefined;
  }
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
