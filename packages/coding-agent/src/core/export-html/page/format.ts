// Numbers and times as people read them.

import type { PageUsage } from "../page-data.js";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** All take milliseconds since the epoch; times out of a date's range give "". */
export const formatDay = (at: number) => dated(day, at);
export const formatTime = (at: number) => dated(time, at);
export const formatFull = (at: number) => dated(full, at);

function dated(format: Intl.DateTimeFormat, at: number): string {
  return at > 0 && at < 8.64e15 ? format.format(at) : "";
}

/** 950, 12.3k, 1.2M. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  return count < 999_950 ? `${trim(count / 1_000)}k` : `${trim(count / 1_000_000)}M`;
}

function trim(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

/** US dollars: two digits, more for small sums. */
export function formatCost(cost: number): string {
  if (cost === 0) return "$0";
  return `$${cost >= 0.1 ? cost.toFixed(2) : cost.toPrecision(2)}`;
}

/** "1.2k in · 300 out · $0.01", without what is zero. */
export function formatUsage({ input, output, cacheRead, cacheWrite, cost }: PageUsage): string {
  const parts = [
    input > 0 && `${formatCount(input)} in`,
    cacheRead > 0 && `${formatCount(cacheRead)} cached`,
    cacheWrite > 0 && `${formatCount(cacheWrite)} written to cache`,
    output > 0 && `${formatCount(output)} out`,
    cost > 0 && formatCost(cost),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** "1 message", "3 messages". */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
}
