// Looks for a text in everything the session holds, a few milliseconds at a time.

import type { PageContent, PagePart } from "../page-data.js";
import type { Session } from "./session.js";

export interface Hit {
  place: number;
  before: string;
  match: string;
  after: string;
}

/** Milliseconds of work between two looks at what else the page has to do. */
const sliceMs = 12;

/** What a person looks for: any case, runs of space as one. */
export function searchPattern(query: string): RegExp {
  const escaped = query.trim().replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(escaped.replace(/\s+/g, "\\s+"), "giu");
}

/** Calls `found` with each slice's hits, and says at the end that there are no more. Stops when the signal aborts. */
export async function search(
  session: Session,
  pattern: RegExp,
  signal: AbortSignal,
  found: (hits: Hit[], isDone: boolean) => void,
): Promise<void> {
  let hits: Hit[] = [];
  let sliceEnd = performance.now() + sliceMs;
  for (let place = 0; place < session.entries.length; place += 1) {
    if (performance.now() > sliceEnd) {
      found(hits, false);
      hits = [];
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (signal.aborted) return;
      sliceEnd = performance.now() + sliceMs;
    }
    const hit = lookIn(session, place, pattern);
    if (hit) hits.push(hit);
  }
  found(hits, true);
}

function lookIn(session: Session, place: number, pattern: RegExp): Hit | undefined {
  const { label, quiet } = session.entry(place);
  if (quiet) return undefined;
  const content = session.content(place);
  const texts = content ? contentTexts(content) : [session.entry(place).text];
  if (label !== undefined) texts.push(label);
  for (const text of texts) {
    pattern.lastIndex = 0;
    const match = pattern.exec(text);
    if (!match || match[0] === "") continue;
    const end = match.index + match[0].length;
    return {
      place,
      before: text.slice(Math.max(0, match.index - 30), match.index),
      match: match[0].slice(0, 80),
      after: text.slice(end, end + 80),
    };
  }
  return undefined;
}

function contentTexts(content: PageContent): string[] {
  switch (content.kind) {
    case "bash":
      return [content.command, content.output];
    case "compaction":
    case "branchSummary":
      return [content.summary];
    case "note":
      return strings(content.value);
    case "toolResult":
      return [content.tool, ...(content.diff === undefined ? [] : [content.diff]), ...content.parts.flatMap(partTexts)];
    case "assistant":
      return [...content.parts.flatMap(partTexts), ...(content.error === undefined ? [] : [content.error])];
    default:
      return content.parts.flatMap(partTexts);
  }
}

function partTexts(part: PagePart): string[] {
  if ("text" in part) return [part.text];
  if (part.type === "call") return [part.name, ...strings(part.arguments), part.incomplete ?? ""];
  return part.type === "other" ? strings(part.value) : [];
}

/** Every text inside a value, however deep. */
function strings(value: unknown): string[] {
  const found: string[] = [];
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string") found.push(next);
    else if (typeof next === "object" && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return found;
}
