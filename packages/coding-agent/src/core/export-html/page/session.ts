// The session as the page has it: entries by place, branches, and contents read when they are looked at.

import type { PageContent, PageEntry, PageIndex } from "../page-data.js";

export class Session {
  readonly index: PageIndex;
  readonly entries: readonly PageEntry[];
  /** Children of each entry in file order; of no entry under -1. */
  readonly #children = new Map<number, number[]>();
  /** Parents before children. */
  readonly order: readonly number[];
  /** The last entry below each entry, itself included: where its branch was written to last. */
  readonly #latest: number[];
  readonly #anchors = new Map<string, number>();
  readonly #blockElements: NodeListOf<Element>;
  readonly #blocks = new Map<number, (PageContent | null)[]>();

  constructor(index: PageIndex, blockElements: NodeListOf<Element>) {
    this.index = index;
    this.entries = index.entries;
    this.#blockElements = blockElements;
    for (const [place, { parent }] of this.entries.entries()) {
      const siblings = this.#children.get(parent);
      if (siblings) siblings.push(place);
      else this.#children.set(parent, [place]);
      this.#anchors.set(this.anchor(place), place);
    }
    this.order = this.#depthFirst();
    this.#latest = this.entries.map((_, place) => place);
    for (let at = this.order.length - 1; at >= 0; at -= 1) {
      const place = this.order[at] as number;
      const { parent } = this.entry(place);
      if (parent >= 0) this.#latest[parent] = Math.max(this.#latest[parent] as number, this.#latest[place] as number);
    }
  }

  entry(place: number): PageEntry {
    return this.entries[place] as PageEntry;
  }

  children(place: number): readonly number[] {
    return this.#children.get(place) ?? [];
  }

  /** The entries that stand beside an entry where the session divides, itself included; quiet ones are looked through. */
  siblings(place: number): number[] {
    let parent = this.entry(place).parent;
    while (parent >= 0 && this.entry(parent).quiet) parent = this.entry(parent).parent;
    return this.next(parent);
  }

  /** What comes after an entry, quiet ones looked through, in file order. */
  next(place: number): number[] {
    const next: number[] = [];
    const waiting = [...this.children(place)];
    for (let child = waiting.shift(); child !== undefined; child = waiting.shift()) {
      if (this.entry(child).quiet) waiting.push(...this.children(child));
      else next.push(child);
    }
    return next.sort((one, other) => one - other);
  }

  /** From the root to the entry. */
  path(place: number): number[] {
    const path: number[] = [];
    for (let at = place; at >= 0; at = this.entry(at).parent) path.push(at);
    return path.reverse();
  }

  /** The branch through an entry that was written to last. */
  branchThrough(place: number): number[] {
    return this.path(place < 0 ? this.entries.length - 1 : (this.#latest[place] as number));
  }

  /** What stands behind the # of an entry's address. Ids may hold anything. */
  anchor(place: number): string {
    try {
      return `entry-${encodeURIComponent(this.entry(place).id)}`;
    } catch {
      return `entry-number-${place}`; // half of a character
    }
  }

  /** The entry an address leads to. */
  find(hash: string): number | undefined {
    const anchor = hash.replace(/^#/, "");
    const direct = this.#anchors.get(anchor);
    if (direct !== undefined) return direct;
    try {
      return this.#anchors.get(`entry-${encodeURIComponent(decodeURIComponent(anchor.replace(/^entry-/, "")))}`);
    } catch {
      return undefined;
    }
  }

  content(place: number): PageContent | undefined {
    const { block, slot } = this.entry(place);
    return block === undefined || slot === undefined ? undefined : (this.#block(block)[slot] ?? undefined);
  }

  #block(number: number): (PageContent | null)[] {
    let block = this.#blocks.get(number);
    if (!block) {
      block = JSON.parse(this.#blockElements[number]?.textContent ?? "[]") as (PageContent | null)[];
      this.#blocks.set(number, block);
    }
    return block;
  }

  #depthFirst(): number[] {
    const order: number[] = [];
    const waiting = [...this.children(-1)].reverse();
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      order.push(place);
      const children = this.children(place);
      for (let at = children.length - 1; at >= 0; at -= 1) waiting.push(children[at] as number);
    }
    return order;
  }
}
