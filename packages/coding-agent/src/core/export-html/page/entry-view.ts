// One entry of the conversation as an article.

import type { PageContent, PageEntry, PagePart } from "../page-data.js";
import { button, el, fold } from "./dom.js";
import { formatCount, formatFull, formatTime, formatUsage } from "./format.js";
import { markdown } from "./markdown.js";
import { image, json, promptText, thinking } from "./parts.js";
import type { Session } from "./session.js";
import { loneResult, type Result, terminal, toolView } from "./tool-view.js";

/** What an entry looks like depends on what stands around it. */
export interface Surroundings {
  /** The places of the results of an answer's calls, on the branch that is shown. */
  results: ReadonlyMap<number, number>;
  /** The answer goes on from the one before: it needs no heading of its own. */
  continues: boolean;
}

export function entryView(session: Session, place: number, { results, continues }: Surroundings): HTMLElement {
  const entry = session.entry(place);
  const content = session.content(place);
  const kind = content?.kind ?? "note";
  const name = kindNames[entry.kind];
  const article = el("article", {
    id: session.anchor(place),
    class: `entry ${entry.kind}${continues ? " continues" : ""}`,
    tabindex: -1,
    "aria-label": `${name}, ${formatTime(entry.at)}`,
    "data-place": place,
  });
  article.append(heading(session, place, kind === "assistant" ? content : undefined, name));
  for (const node of bodyOf(session, entry, content, results)) article.append(node);
  return article;
}

/** What entries of each kind are called. */
export const kindNames: Record<PageEntry["kind"], string> = {
  user: "Prompt",
  assistant: "Answer",
  toolResult: "Tool result",
  bash: "Shell command",
  custom: "Extension",
  compaction: "Compaction",
  branchSummary: "Branch summary",
  note: "Note",
};

function heading(session: Session, place: number, content: PageContent | undefined, name: string): HTMLElement {
  const { at, label } = session.entry(place);
  const answer = content?.kind === "assistant" ? content : undefined;
  const usage = answer?.usage ? formatUsage(answer.usage) : "";
  const took = answer?.durationMs ? `${(answer.durationMs / 1000).toFixed(1)} s` : "";
  const facts = [took, usage].filter(Boolean).join(" · ");
  return el(
    "header",
    {},
    el("span", { class: "who" }, answer ? answer.model.slice(answer.model.indexOf("/") + 1) || name : name),
    label !== undefined && el("span", { class: "label" }, label),
    facts !== "" && el("span", { class: "facts" }, facts),
    el("time", { datetime: isoTime(at), title: formatFull(at) }, formatTime(at)),
    permalink(session.anchor(place)),
  );
}

/** An address to copy; a click copies it where the browser lets us. */
function permalink(anchor: string): HTMLElement {
  const link = el("a", { class: "permalink", href: `#${anchor}`, title: "Link to this entry" }, "#");
  link.setAttribute("aria-label", "Link to this entry");
  link.addEventListener("click", () => {
    navigator.clipboard?.writeText(link.href).catch(() => undefined);
  });
  return link;
}

function bodyOf(
  session: Session,
  entry: PageEntry,
  content: PageContent | undefined,
  results: ReadonlyMap<number, number>,
): Node[] {
  switch (content?.kind) {
    case "user":
      return content.parts.map((part) => (part.type === "text" ? promptText(part.text) : partView(part)));
    case "assistant":
      return [...answerParts(session, content.parts, results), ...ending(content)];
    case "toolResult":
      return [loneResult(content)];
    case "bash":
      return [shellCommand(content, entry.failed === true)];
    case "custom": {
      const parts = () => content.parts.map(partView);
      const type = el("span", { class: "tool-name" }, content.customType || "extension");
      if (content.hidden)
        return [fold("tool", [type, el("span", { class: "subject" }, "for the model only")], () => all(parts()))];
      return [el("p", { class: "note" }, content.customType), ...parts()];
    }
    case "compaction": {
      const tokens =
        content.tokensBefore === undefined ? "" : `, ${formatCount(content.tokensBefore)} tokens until here`;
      return [summary(`The conversation above was summarised${tokens}`, content.summary)];
    }
    case "branchSummary":
      return [summary("Summary of the branch that was left", content.summary)];
    default:
      return [note(session, entry, content)];
  }
}

function answerParts(session: Session, parts: readonly PagePart[], results: ReadonlyMap<number, number>): Node[] {
  let call = -1;
  return parts.map((part) => {
    if (part.type !== "call") return partView(part);
    call += 1;
    const place = results.get(call);
    const result = place === undefined ? undefined : (session.content(place) as Result);
    const view = toolView(part, result);
    if (place !== undefined) view.id = session.anchor(place);
    return view;
  });
}

function partView(part: PagePart): Node {
  switch (part.type) {
    case "text":
      return markdown(part.text);
    case "thinking":
      return thinking(part.text, part.redacted === true);
    case "image":
    case "badImage":
      return image(part);
    case "call":
      return toolView(part, undefined);
    case "other":
      return fold("tool", ["Content of an unknown kind"], () => json(part.value));
  }
}

const stops: Record<string, string> = {
  length: "The answer reached its length limit",
  aborted: "The answer was aborted",
  error: "The answer failed",
  pending: "The answer has no end",
};

function ending({ stop, error }: Extract<PageContent, { kind: "assistant" }>): Node[] {
  if (stop === undefined && error === undefined) return [];
  const said = (stop !== undefined && stops[stop]) || "The answer did not end as usual";
  return [el("p", { class: stop === "error" ? "ending bad" : "ending" }, error ? `${said}: ${error}` : said)];
}

function shellCommand(content: Extract<PageContent, { kind: "bash" }>, failed: boolean): Node {
  const { command, output, exitCode, cancelled, log, kept } = content;
  const outcome = cancelled ? "cancelled" : exitCode ? `exit ${exitCode}` : "";
  const heads = [
    el("span", { class: "tool-name" }, "$"),
    el("span", { class: "subject" }, command),
    !kept && el("span", { class: "muted" }, "not shown to the model"),
    outcome !== "" && el("span", { class: "outcome bad" }, outcome),
  ];
  return fold("tool", heads, () => {
    const view = terminal(command, output, failed);
    return all([view, ...(log === undefined ? [] : [el("p", { class: "note" }, `Full output: ${log}`)])]);
  });
}

function summary(title: string, text: string): Node {
  return fold("summary", [title], () => markdown(text));
}

function note(session: Session, entry: PageEntry, content: PageContent | undefined): Node {
  const { target } = entry;
  const text: (Node | string)[] = [entry.text];
  if (target !== undefined) text.push(" ", el("a", { href: `#${session.anchor(target)}` }, "Show it"));
  if (content?.kind !== "note") return el("p", { class: "note" }, ...text);
  return fold("note", text, () => json(content.value));
}

function all(nodes: readonly Node[]): Node {
  const fragment = document.createDocumentFragment();
  fragment.append(...nodes);
  return fragment;
}

function isoTime(at: number): string | undefined {
  return at > 0 && at < 8.64e15 ? new Date(at).toISOString() : undefined;
}

/** "Branch 2 of 3" above an entry where the session divides, with the ways to the others. */
export function branchSwitch(session: Session, place: number, go: (place: number) => void): HTMLElement | undefined {
  const siblings = session.siblings(place);
  if (siblings.length < 2) return undefined;
  const at = siblings.indexOf(place);
  const step = (to: number, sign: string, does: string) => {
    const other = siblings[to];
    const control = button(sign, does, () => other !== undefined && go(other));
    control.disabled = other === undefined;
    return control;
  };
  return el(
    "nav",
    { class: "branch-switch", "aria-label": "Branches" },
    step(at - 1, "‹", "Previous branch"),
    `Branch ${at + 1} of ${siblings.length}`,
    step(at + 1, "›", "Next branch"),
  );
}
