// What the sessions of one run of RPC mode must be: trees of entries beside the real ones, kept by doing what commands do.

import type { JsonRecord } from "../helpers/records.js";

/** An entry as it is to be; the program gives the id, which is learnt when the entry is first seen. */
export interface ExpectedEntry {
  id?: string;
  type: string;
  parent: ExpectedEntry | null;
  /** What a label is on. */
  target?: ExpectedEntry;
  fields: JsonRecord;
}

export const selection: readonly Pick<ExpectedEntry, "type" | "fields">[] = [
  { type: "model_change", fields: { provider: "scripted", modelId: "thinker" } },
  { type: "thinking_level_change", fields: { thinkingLevel: "medium" } },
];

/** One session: its entries in the order they were appended, shared with those of its copies. */
export class ExpectedSession {
  readonly entries: ExpectedEntry[] = [];
  leaf: ExpectedEntry | null = null;
  /** Known from the first answer that names it. */
  path: string | undefined;
  isWritten = false;
  /** Types of entries that need not be written again before the next text. */
  #recorded = new Set<string>();

  /** Goes on at the last entry, as a session does that was opened or made; an empty one begins with what it starts with. */
  open(): this {
    this.leaf = this.entries.at(-1) ?? null;
    const types = this.branch().map(({ type, fields }) => {
      const isAnswer = type === "message" && (fields.message as JsonRecord).role === "assistant";
      return isAnswer ? "model_change" : type;
    });
    this.#recorded = new Set(types);
    if (this.entries.length === 0) this.select();
    return this;
  }

  append(type: string, fields: JsonRecord, target?: ExpectedEntry): ExpectedEntry {
    const entry: ExpectedEntry = { type, parent: this.leaf, fields, ...(target && { target }) };
    this.entries.push(entry);
    this.leaf = entry;
    return entry;
  }

  /** Notes the model and level of the next answer. */
  select(): void {
    for (const { type, fields } of selection) {
      if (!this.#recorded.has(type)) this.append(type, fields);
      this.#recorded.add(type);
    }
  }

  say(message: JsonRecord): void {
    if (message.role === "user") this.select();
    this.append("message", { message });
    this.isWritten = true;
  }

  rename(name: string): void {
    this.append("session_info", { name });
    this.isWritten = true;
  }

  setLabel(target: ExpectedEntry, label: string | undefined): void {
    this.append("label", label === undefined ? {} : { label }, target);
  }

  copy(leaf: ExpectedEntry | null): ExpectedSession {
    const copy = new ExpectedSession();
    const branch = this.branch(leaf);
    copy.entries.push(...branch);
    copy.leaf = leaf;
    copy.isWritten = branch.some(({ type }) => type === "message");
    for (const entry of branch) if (this.label(entry) !== copy.label(entry)) copy.setLabel(entry, this.label(entry));
    return copy.open();
  }

  /** From the root to an entry. */
  branch(from: ExpectedEntry | null = this.leaf): ExpectedEntry[] {
    const branch: ExpectedEntry[] = [];
    for (let at = from; at; at = at.parent) branch.unshift(at);
    return branch;
  }

  get messageCount(): number {
    return this.branch().filter(({ type }) => type === "message").length;
  }

  get userEntries(): ExpectedEntry[] {
    return this.entries.filter(({ fields }) => (fields.message as JsonRecord | undefined)?.role === "user");
  }

  get name(): string | undefined {
    return this.entries.findLast(({ type }) => type === "session_info")?.fields.name as string | undefined;
  }

  label(entry: ExpectedEntry): string | undefined {
    const last = this.entries.findLast(({ target }) => target === entry);
    return (last?.fields.label as string | undefined) || undefined;
  }

  /** As they stand in the file, without times. `actual` gives new entries their ids. */
  records(actual: readonly JsonRecord[]): JsonRecord[] {
    for (const [at, entry] of this.entries.entries()) entry.id ??= (actual[at]?.id as string | undefined) ?? "missing";
    return this.entries.map(({ type, id, parent, target, fields }) => ({
      type,
      id: id as string,
      parentId: parent?.id ?? null,
      ...(target && { targetId: target.id as string }),
      ...fields,
    }));
  }

  /** The roots with what is below them, by id, as a tree is answered without its entries' fields. */
  tree(parent: ExpectedEntry | null = null): JsonRecord[] {
    return this.entries
      .filter((entry) => entry.parent === parent)
      .map((entry) => {
        const label = this.label(entry);
        return { id: entry.id as string, children: this.tree(entry), ...(label !== undefined && { label }) };
      });
  }
}
