// The entries of a session in memory: a tree with a leaf, labels and a name. Nothing here recurses, so depth is free.

import type { SessionEntry } from "./entries.js";
import { UsageTotals } from "./usage-totals.js";

/** A node of the tree as clients see it. `labelTimestamp` is when the label was set, ISO 8601. */
export interface SessionTreeNode {
  entry: SessionEntry;
  children: SessionTreeNode[];
  label?: string;
  labelTimestamp?: string;
}

/** What is wrong with an entry's place in the tree. */
export interface MisplacedEntry {
  kind: "orphan" | "cycle";
  entry: SessionEntry;
}

/** An append-only tree. Entries whose parent is missing, or is their own descendant, count as roots. */
export class SessionTree {
  readonly #entries: SessionEntry[] = [];
  readonly #byId = new Map<string, SessionEntry>();
  readonly #labels = new Map<string, { label: string; timestamp: string }>();
  /** Built when children are first asked for, kept up to date afterwards. */
  #children: Map<string | null, SessionEntry[]> | undefined;
  /** Entries whose parent was not there when they came. */
  #early: SessionEntry[] = [];
  /** Entries that count as roots although they name a parent. */
  readonly #cut = new Set<SessionEntry>();
  readonly usage = new UsageTotals();
  /** Ids of the user's messages, in file order. */
  readonly userMessageIds: string[] = [];
  #name: string | undefined;
  #leafId: string | null = null;

  /** Where the next entry goes; null before the first entry and after the leaf was reset. */
  get leafId(): string | null {
    return this.#leafId;
  }

  set leafId(id: string | null) {
    this.#leafId = id;
  }

  /** The display name, trimmed; undefined when there is none. */
  get name(): string | undefined {
    return this.#name;
  }

  /** All entries in the order they were appended. */
  get entries(): readonly SessionEntry[] {
    return this.#entries;
  }

  /** False, and nothing happens, when the id is taken. The leaf stays where it is. */
  add(entry: SessionEntry): boolean {
    if (this.#byId.has(entry.id)) return false;
    this.#entries.push(entry);
    this.#byId.set(entry.id, entry);
    this.usage.add(entry);
    if (entry.type === "message" && entry.message?.role === "user") this.userMessageIds.push(entry.id);
    if (entry.parentId != null && (!this.#byId.has(entry.parentId) || entry.parentId === entry.id))
      this.#early.push(entry);
    else if (this.#children) append(this.#children, entry.parentId ?? null, entry);
    if (entry.type === "label") this.#setLabel(entry.targetId, entry.label, entry.timestamp);
    if (entry.type === "session_info") this.#name = (typeof entry.name === "string" && entry.name.trim()) || undefined;
    return true;
  }

  /** Finds the place of entries that came before their parent, or never get one. To be called after a file was read. */
  settle(): MisplacedEntry[] {
    const misplaced: MisplacedEntry[] = [];
    const early = new Set(this.#early);
    this.#early = [];
    const settled = new Set<SessionEntry>();
    for (const entry of early) {
      if (!this.#byId.has(entry.parentId ?? "")) {
        this.#cut.add(entry);
        misplaced.push({ kind: "orphan", entry });
      }
      const cut = this.#cutLoopAbove(entry, early, settled);
      if (cut) misplaced.push({ kind: "cycle", entry: cut });
    }
    if (early.size > 0) this.#children = undefined;
    return misplaced;
  }

  /** Whether an entry with this id exists. */
  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): SessionEntry | undefined {
    return this.#byId.get(id);
  }

  parentOf(entry: SessionEntry): SessionEntry | undefined {
    if (entry.parentId == null || this.#cut.has(entry)) return undefined;
    return this.#byId.get(entry.parentId);
  }

  /** From the root to `fromId` (absent: the leaf); empty when there is no such entry. */
  branch(fromId: string | null = this.#leafId): SessionEntry[] {
    const branch: SessionEntry[] = [];
    let entry = fromId === null ? undefined : this.#byId.get(fromId);
    for (; entry; entry = this.parentOf(entry)) branch.push(entry);
    return branch.reverse();
  }

  /** In the order they were appended; with null the roots. */
  children(id: string | null): SessionEntry[] {
    return [...(this.#childrenById().get(id) ?? [])];
  }

  /** The roots with everything below them. Nodes may be nested as deep as the session is long. */
  nodes(): SessionTreeNode[] {
    const nodes = new Map<SessionEntry, SessionTreeNode>();
    const roots: SessionTreeNode[] = [];
    for (const entry of this.#entries) {
      const node: SessionTreeNode = { entry, children: [] };
      const label = this.#labels.get(entry.id);
      if (label) Object.assign(node, { label: label.label, labelTimestamp: label.timestamp });
      nodes.set(entry, node);
    }
    for (const [entry, node] of nodes) {
      const parent = this.parentOf(entry);
      (parent ? nodes.get(parent)!.children : roots).push(node);
    }
    return roots;
  }

  label(id: string): string | undefined {
    return this.#labels.get(id)?.label;
  }

  #setLabel(targetId: string, label: unknown, timestamp: string): void {
    if (typeof label === "string" && label !== "") this.#labels.set(targetId, { label, timestamp });
    else this.#labels.delete(targetId);
  }

  /**
   * Every loop has an entry that came before its parent; that one is cut. `settled` collects entries known to lead to
   * a root, so that all walks together pass each entry once.
   */
  #cutLoopAbove(entry: SessionEntry, early: Set<SessionEntry>, settled: Set<SessionEntry>): SessionEntry | undefined {
    const walked = new Set<SessionEntry>();
    let at: SessionEntry | undefined = entry;
    while (at && !settled.has(at) && !walked.has(at)) {
      walked.add(at);
      at = this.parentOf(at);
    }
    for (const known of walked) settled.add(known);
    if (!at || !walked.has(at)) return undefined;
    const path = [...walked];
    const cut = path.slice(path.indexOf(at)).find((member) => early.has(member));
    if (cut) this.#cut.add(cut);
    return cut;
  }

  #childrenById(): Map<string | null, SessionEntry[]> {
    if (!this.#children) {
      this.#children = new Map();
      for (const entry of this.#entries) append(this.#children, this.parentOf(entry)?.id ?? null, entry);
    }
    return this.#children;
  }
}

function append(children: Map<string | null, SessionEntry[]>, parentId: string | null, entry: SessionEntry): void {
  const siblings = children.get(parentId);
  if (siblings) siblings.push(entry);
  else children.set(parentId, [entry]);
}
