// The side list: the session's tree, its labels, the branch that is shown, and where the session goes on.

import { el } from "./dom.js";
import { type Detail, type OutlineRow, outlineRows, withoutClosed } from "./outline-rows.js";
import type { Session } from "./session.js";
import { VirtualList } from "./virtual-list.js";

const details: Record<Detail, string> = { prompts: "Prompts", messages: "Messages", everything: "Everything" };
const deepestIndent = 10;

export class Outline {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #list: VirtualList;
  /** Heads of branches that are closed. */
  readonly #closed = new Set<number>();
  #all: OutlineRow[] = [];
  #rows: (OutlineRow & { hidden: number })[] = [];
  #shown: ReadonlySet<number> = new Set();
  #current = -1;
  /** The last line above or at the place where the session goes on. */
  #leaf = -1;

  constructor(session: Session, go: (place: number) => void) {
    this.#session = session;
    this.#list = new VirtualList({
      role: "tree",
      label: "Entries of the session",
      rowHeight: 30,
      row: (at) => this.#row(at),
      choose: (at) => {
        const row = this.#rows[at];
        if (row && this.#closed.has(row.place)) this.#toggle(row.place);
        if (row) go(row.place);
      },
      key: (key, at) => this.#press(key, at),
    });
    const select = el("select", { "aria-label": "What the list shows" });
    for (const [detail, name] of Object.entries(details)) select.append(el("option", { value: detail }, name));
    select.value = "messages";
    select.addEventListener("change", () => this.#setDetail(select.value as Detail));
    const bar = el("div", { class: "list-bar" }, el("span", {}, "Entries"), select);
    this.element = el("div", { class: "outline" }, bar, this.#list.element);
    this.#setDetail("messages");
  }

  /** Marks the branch that is shown; others are closed, as far as nobody opened them. */
  showBranch(path: readonly number[]): void {
    const isFirst = this.#shown.size === 0;
    this.#shown = new Set(path);
    for (const { place, isHead } of this.#all) {
      if (!isHead) continue;
      if (this.#shown.has(place)) this.#closed.delete(place);
      else if (isFirst) this.#closed.add(place);
    }
    this.#refresh();
  }

  /** Marks the entry that is looked at. */
  setCurrent(place: number): void {
    this.#current = place;
    const at = this.#rows.findLastIndex((row) => row.place <= place && this.#shown.has(row.place));
    if (at >= 0) this.#list.activate(at);
  }

  focus(): void {
    this.#list.element.focus();
  }

  #setDetail(detail: Detail): void {
    this.#all = outlineRows(this.#session, detail);
    const heads = this.#all.filter(({ isHead, place }) => isHead && this.#shown.size > 0 && !this.#shown.has(place));
    for (const { place } of heads) this.#closed.add(place);
    this.#refresh();
    if (this.#current >= 0) this.setCurrent(this.#current);
  }

  #refresh(): void {
    this.#rows = withoutClosed(this.#all, this.#closed);
    const toLeaf = new Set(this.#session.path(this.#session.index.leaf));
    this.#leaf = this.#rows.findLast(({ place }) => toLeaf.has(place))?.place ?? -1;
    this.#list.update(this.#rows.length);
  }

  #toggle(place: number): void {
    if (!this.#closed.delete(place)) this.#closed.add(place);
    this.#refresh();
  }

  #press(key: string, at: number): boolean {
    const row = this.#rows[at];
    if (!row || (key !== "ArrowLeft" && key !== "ArrowRight")) return false;
    if (row.isHead && this.#closed.has(row.place) === (key === "ArrowRight")) this.#toggle(row.place);
    else if (key === "ArrowLeft") {
      const head = this.#rows.findLastIndex(
        (other, place) =>
          place < at && other.isHead && other.depth <= row.depth && (other.depth < row.depth || !row.isHead),
      );
      if (head >= 0) this.#list.activate(head);
    } else this.#list.activate(at + 1);
    return true;
  }

  #row(at: number): HTMLElement {
    const { place, depth, isHead, hidden } = this.#rows[at] as OutlineRow & { hidden: number };
    const { kind, text, label, failed } = this.#session.entry(place);
    const isClosed = this.#closed.has(place);
    const onBranch = this.#shown.has(place);
    const classes = ["row", kind, onBranch && "on-branch", failed && "failed", place === this.#leaf && "leaf"];
    const row = el(
      "div",
      {
        class: classes.filter(Boolean).join(" "),
        "aria-level": depth + 1,
        "aria-selected": onBranch ? "true" : "false",
        "aria-expanded": isHead ? String(!isClosed) : undefined,
        title: text,
      },
      isHead ? this.#twisty(place, isClosed) : el("span", { class: "twisty" }),
      label !== undefined && el("span", { class: "label" }, label),
      el("span", { class: "text" }, text || "(empty)"),
      hidden > 0 && el("span", { class: "hidden-count" }, `+${hidden}`),
      place === this.#leaf && el("span", { class: "here", title: "The session goes on here" }, "●"),
    );
    row.style.paddingInlineStart = `${6 + 14 * Math.min(Math.max(depth, 0), deepestIndent)}px`;
    return row;
  }

  #twisty(place: number, isClosed: boolean): HTMLElement {
    const twisty = el("span", { class: "twisty branch" }, isClosed ? "▸" : "▾");
    twisty.addEventListener("click", (event) => {
      event.stopPropagation();
      this.#toggle(place);
    });
    return twisty;
  }
}
