// The head of the page: what session this is, and what it came to.

import { el } from "./dom.js";
import { formatCost, formatCount, formatDay, formatFull, formatTime, formatUsage, plural } from "./format.js";
import type { Session } from "./session.js";

export function masthead({ index, entries }: Session): HTMLElement {
  const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length;
  const times = entries.map(({ at }) => at).filter((at) => at > 0);
  const first = times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const last = times.reduce((most, at) => Math.max(most, at), 0);
  const { usage, models } = index;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const facts: [string, string, string][] = [
    ["Prompts", count("user").toLocaleString(), ""],
    ["Answers", count("assistant").toLocaleString(), plural(count("toolResult"), "tool result")],
    ["Tokens", formatCount(tokens), formatUsage({ ...usage, cost: 0 })],
    ["Cost", formatCost(usage.cost), ""],
    ["From", dayAndTime(first), formatFull(first)],
    ["To", dayAndTime(last), formatFull(last)],
  ];
  const list = el("dl", {});
  for (const [name, value, more] of facts)
    if (value) list.append(el("div", { title: more || undefined }, el("dt", {}, name), el("dd", {}, value)));
  return el(
    "header",
    { class: "masthead" },
    el("h1", {}, index.title),
    el("p", { class: "where" }, index.cwd),
    models.length > 0 && el("p", { class: "models" }, ...models.map((model) => el("span", {}, model))),
    list,
  );
}

function dayAndTime(at: number): string {
  return formatDay(at) && `${formatDay(at)}, ${formatTime(at)}`;
}
