// All entries of a session → the page's index, and which block holds what each of them says.

import type { SessionEntry } from "../../sessions/entries.js";
import { SessionTree } from "../../sessions/session-tree.js";
import { entryLine } from "./entry-line.js";
import { pageContent, usageOf } from "./page-content.js";
import type { PageContent, PageEntry, PageIndex, PageUsage } from "./page-data.js";

/** Characters after which a block is full: small enough to be read at once when one of its entries is looked at. */
const blockCharacters = 128 * 1024;

/** The facts of the session that are in no entry. */
export interface SessionFacts {
  sessionId: string;
  cwd: string;
  leafId: string | null;
  exportedAt: number;
}

/** The index, and for each block the entries whose contents it holds, in order. */
export function pageIndex(
  entries: readonly SessionEntry[],
  facts: SessionFacts,
): { index: PageIndex; blocks: SessionEntry[][] } {
  const tree = new SessionTree();
  for (const entry of entries) tree.add(entry);
  tree.settle();
  const places = new Map(entries.map((entry, place) => [entry.id, place]));
  const blocks: SessionEntry[][] = [];
  const models = new Set<string>();
  const usage: PageUsage = usageOf(undefined);
  const calls = new Map<number, unknown[]>();
  let filled = blockCharacters;
  const list = entries.map((entry, place): PageEntry => {
    const content = pageContent(entry);
    const parent = tree.parentOf(entry);
    const label = tree.label(entry.id);
    addUsage(usage, entry);
    if (content?.kind === "assistant") models.add(content.model);
    const item: PageEntry = {
      id: entry.id,
      parent: parent ? (places.get(parent.id) ?? -1) : -1,
      at: Date.parse(entry.timestamp) || 0,
      ...entryLine(entry, content),
      ...(label !== undefined && { label }),
    };
    const callIds = content?.kind === "assistant" ? callIdsOf(entry) : [];
    if (callIds.length > 0) calls.set(place, callIds);
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
      block.push(entry);
      filled += characters(content);
    }
    return item;
  });
  findCalls(entries, list, calls);
  const leaf = facts.leafId === null ? -1 : (places.get(facts.leafId) ?? -1);
  const { sessionId, cwd, exportedAt } = facts;
  const title = tree.name ?? list.find(({ kind, text }) => kind === "user" && text)?.text ?? `Session ${sessionId}`;
  return { index: { title, sessionId, cwd, exportedAt, models: [...models], usage, leaf, entries: list }, blocks };
}

function addUsage(total: PageUsage, entry: SessionEntry): void {
  const { usage } = (entry.type === "message" ? (entry.message ?? {}) : entry) as { usage?: unknown };
  if (!usage) return;
  const added = usageOf(usage);
  for (const name of Object.keys(total) as (keyof PageUsage)[]) total[name] += added[name];
}

function callIdsOf(entry: SessionEntry): unknown[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.flatMap((block) => (block?.type === "toolCall" ? [block.id] : []));
}

/** A result belongs to a call of the nearest answer above it; between them are only other results and notes. */
function findCalls(entries: readonly SessionEntry[], list: PageEntry[], calls: ReadonlyMap<number, unknown[]>): void {
  const nearest: number[] = [];
  for (const place of inTreeOrder(list)) {
    const item = list[place] as PageEntry;
    const above = item.parent < 0 ? -1 : (nearest[item.parent] as number);
    nearest[place] = item.kind === "assistant" ? place : above;
    const entry = entries[place];
    if (item.kind !== "toolResult" || entry?.type !== "message" || entry.message.role !== "toolResult") continue;
    const call = calls.get(above)?.indexOf(entry.message.toolCallId) ?? -1;
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
