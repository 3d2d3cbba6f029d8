// All entries of a session → the page's index, and which block holds what each of them says.

import type { SessionEntry } from "../../sessions/entries.js";
import { entryLine } from "./entry-line.js";
import { pageContent, text, usageOf } from "./page-content.js";
import type { PageContent, PageEntry, PageIndex, PageUsage } from "./page-data.js";

/** Characters after which a block is full: small enough to be read at once when one of its entries is looked at. */
const blockCharacters = 128 * 1024;

/** A session at one moment. */
export interface ExportedSession {
  entries: readonly SessionEntry[];
  leafId: string | null;
  sessionId: string;
  cwd: string;
  /** Milliseconds since the epoch. */
  exportedAt: number;
}

/** The index, and for each block the entries whose contents it holds, in order. */
export function pageIndex(session: ExportedSession): { index: PageIndex; blocks: SessionEntry[][] } {
  const { entries, leafId, sessionId, cwd, exportedAt } = session;
  const places = new Map(entries.map((entry, place) => [entry.id, place]));
  const parents = parentPlaces(entries, places);
  const blocks: SessionEntry[][] = [];
  const models = new Set<string>();
  const usage: PageUsage = usageOf(undefined);
  const calls = new Map<number, unknown[]>();
  const callOf: unknown[] = [];
  let filled = blockCharacters;
  const list = entries.map((stored, place): PageEntry => {
    const entry = { ...stored }; // read from the file once, and let go of again
    const content = pageContent(entry);
    addUsage(usage, entry);
    if (content?.kind === "assistant") models.add(content.model);
    const item: PageEntry = {
      id: entry.id,
      parent: parents[place] as number,
      at: Date.parse(text(entry.timestamp)) || 0,
      ...entryLine(entry, content),
    };
    if (entry.type === "message" && content?.kind === "assistant")
      calls.set(place, callIdsOf(entry.message as { content?: unknown }));
    if (entry.type === "message" && content?.kind === "toolResult")
      callOf[place] = (entry.message as { toolCallId?: unknown }).toolCallId;
    if (entry.type === "context_edit") {
      const target = places.get(entry.targetId);
      if (target !== undefined) item.target = target;
    }
    if (content) {
      if (filled >= blockCharacters) {
        blocks.push([]);
        filled = 0;
      }
      const block = blocks[blocks.length - 1] as SessionEntry[];
      item.block = blocks.length - 1;
      item.slot = block.length;
      block.push(stored);
      filled += characters(content);
    }
    return item;
  });
  findCalls(list, calls, callOf);
  const name = placeLabels(entries, places, list);
  const leaf = leafId === null ? -1 : (places.get(leafId) ?? -1);
  const title = name ?? list.find((item) => item.kind === "user" && item.text)?.text ?? `Session ${sessionId}`;
  return { index: { title, sessionId, cwd, exportedAt, models: [...models], usage, leaf, entries: list }, blocks };
}

/** A parent that is not there, or is the entry's own descendant, is none. */
function parentPlaces(entries: readonly SessionEntry[], places: ReadonlyMap<string, number>): number[] {
  const parents = entries.map(({ parentId }) => places.get(parentId ?? "") ?? -1);
  /** The walk in which an entry was first passed. */
  const passed: number[] = [];
  for (const start of parents.keys()) {
    for (let at = start; at >= 0 && passed[at] === undefined; at = parents[at] as number) {
      passed[at] = start;
      const parent = parents[at] as number;
      if (parent >= 0 && passed[parent] === start) parents[at] = -1;
    }
  }
  return parents;
}

/** Puts labels on the entries they name, and gives the session's name; the last word counts. */
function placeLabels(
  entries: readonly SessionEntry[],
  places: ReadonlyMap<string, number>,
  list: readonly PageEntry[],
): string | undefined {
  let name: string | undefined;
  for (const entry of entries) {
    if (entry.type === "session_info") name = (typeof entry.name === "string" && entry.name.trim()) || undefined;
    if (entry.type !== "label") continue;
    const target = list[places.get(entry.targetId) ?? -1];
    if (!target) continue;
    if (typeof entry.label === "string" && entry.label !== "") target.label = entry.label;
    else delete target.label;
  }
  return name;
}

function addUsage(total: PageUsage, entry: SessionEntry): void {
  const { usage } = (entry.type === "message" ? (entry.message ?? {}) : entry) as { usage?: unknown };
  if (!usage) return;
  const added = usageOf(usage);
  for (const name of Object.keys(total) as (keyof PageUsage)[]) total[name] += added[name];
}

function callIdsOf({ content }: { content?: unknown }): unknown[] {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) => {
    const { type, id } = (block ?? {}) as { type?: unknown; id?: unknown };
    return type === "toolCall" ? [id] : [];
  });
}

/** A result belongs to a call of the nearest answer above it; between them are only other results and notes. */
function findCalls(list: PageEntry[], calls: ReadonlyMap<number, unknown[]>, callOf: readonly unknown[]): void {
  const nearest: number[] = [];
  for (const place of inTreeOrder(list)) {
    const item = list[place] as PageEntry;
    const above = item.parent < 0 ? -1 : (nearest[item.parent] as number);
    nearest[place] = item.kind === "assistant" ? place : above;
    if (item.kind !== "toolResult") continue;
    const call = calls.get(above)?.indexOf(callOf[place]) ?? -1;
    if (call >= 0) Object.assign(item, { answers: above, call });
  }
}

/** Parents before their children: as a rule the order of the file. */
function inTreeOrder(list: readonly PageEntry[]): number[] {
  if (list.every(({ parent }, place) => parent < place)) return list.map((_, place) => place);
  const children = new Map<number, number[]>();
  for (const [place, { parent }] of list.entries()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(place);
    else children.set(parent, [place]);
  }
  const order = [...(children.get(-1) ?? [])];
  for (const place of order) order.push(...(children.get(place) ?? []));
  return order;
}

/** Near enough to the length of the content's JSON. */
function characters(content: PageContent): number {
  switch (content.kind) {
    case "bash":
      return content.output.length + content.command.length;
    case "compaction":
    case "branchSummary":
      return content.summary.length;
    case "note":
      return 500;
    default: {
      let sum = 200;
      for (const part of content.parts) {
        if ("text" in part) sum += part.text.length;
        else if (part.type === "image") sum += part.data.length;
        else if (part.type === "call") sum += argumentCharacters(part.arguments);
      }
      return sum;
    }
  }
}

function argumentCharacters(args: unknown): number {
  let sum = 0;
  for (const value of Object.values(args ?? {})) sum += typeof value === "string" ? value.length : 500;
  return sum;
}
