// The branch that is shown. Entries are made when they come near the window, in chunks that know their height before.

import { el, fill, setOpen } from "./dom.js";
import { branchSwitch, entryView } from "./entry-view.js";
import { formatDay } from "./format.js";
import type { Session } from "./session.js";

const chunkRows = 20;
/** Pixels: a line of text, and what every entry adds to its lines. */
const lineHeight = 25;
const entryHeight = 34;

export class Conversation {
  readonly element = el("div", { class: "conversation" });
  readonly #session: Session;
  readonly #go: (place: number) => void;
  readonly #near: IntersectionObserver;
  #path: readonly number[] = [];
  #onPath = new Set<number>();
  /** Entries that are articles of their own. */
  #rows: number[] = [];
  /** The row each entry of the path is shown in. */
  #rowOf = new Map<number, number>();
  /** For each answer: its call's number → the place of the result. */
  #results = new Map<number, Map<number, number>>();
  #chunks: HTMLElement[] = [];
  #isOpen = false;
  #current: HTMLElement | undefined;

  constructor(session: Session, go: (place: number) => void) {
    this.#session = session;
    this.#go = go;
    this.#near = new IntersectionObserver(
      (changes) => {
        for (const { isIntersecting, target } of changes) if (isIntersecting) this.#fill(target as HTMLElement);
      },
      { rootMargin: "1500px" },
    );
  }

  get path(): readonly number[] {
    return this.#path;
  }

  shows(place: number): boolean {
    return this.#onPath.has(place);
  }

  /** Whether all folds are open, those to come included. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  show(path: readonly number[]): void {
    this.#path = path;
    this.#onPath = new Set(path);
    this.#arrange();
    this.#near.disconnect();
    this.#chunks = [];
    this.#current = undefined;
    for (let from = 0; from < this.#rows.length; from += chunkRows) {
      const chunk = el("div", { class: "chunk", "data-from": from });
      const height = this.#rows
        .slice(from, from + chunkRows)
        .reduce((sum, place) => sum + entryHeight + lineHeight * Math.min(this.#session.entry(place).lines, 400), 0);
      // A height that was seen once is remembered by the browser.
      chunk.style.containIntrinsicSize = `auto ${height}px`;
      this.#chunks.push(chunk);
    }
    this.element.replaceChildren(...this.#chunks, ...this.#whatFollows());
    for (const chunk of this.#chunks) this.#near.observe(chunk);
  }

  /** Brings an entry of the path to the top of the window and gives its article. */
  reveal(place: number): HTMLElement | undefined {
    const row = this.#rowOf.get(place);
    if (row === undefined) return undefined;
    const article = this.#article(row);
    const target = document.getElementById(this.#session.anchor(place)) ?? article;
    if (target instanceof HTMLDetailsElement) setOpen(target, true);
    this.#select(article);
    // What is above gets its real height in the next frames.
    target.scrollIntoView({ block: "start" });
    requestAnimationFrame(() => requestAnimationFrame(() => target.scrollIntoView({ block: "start" })));
    return article;
  }

  /** Goes to the next or the previous article, and gives its place. */
  step(by: 1 | -1): number | undefined {
    const article = this.#current?.isConnected ? this.#current : undefined;
    const at = article ? this.#rows.indexOf(Number(article.dataset.place)) + by : this.#firstInWindow();
    const place = this.#rows[Math.max(0, Math.min(this.#rows.length - 1, at))];
    if (place !== undefined) this.reveal(place);
    return place;
  }

  /** Opens or closes all folds. */
  setOpen(open: boolean): void {
    this.#isOpen = open;
    for (const details of this.element.querySelectorAll("details")) setOpen(details, open);
  }

  /** Makes everything and opens all folds, for print; gives back what undoes the opening. */
  unroll(): () => void {
    for (const chunk of this.#chunks) this.#fill(chunk);
    const closed = [...this.element.querySelectorAll("details")].filter((details) => !details.open);
    for (const details of closed) setOpen(details, true);
    return () => {
      for (const details of closed) details.open = false;
    };
  }

  #arrange(): void {
    this.#rows = [];
    this.#rowOf = new Map();
    this.#results = new Map();
    for (const place of this.#path) {
      const { answers, call, quiet } = this.#session.entry(place);
      const results = answers === undefined ? undefined : this.#results.get(answers);
      if (answers !== undefined && call !== undefined && results && !results.has(call)) {
        results.set(call, place);
        this.#rowOf.set(place, this.#rowOf.get(answers) as number);
      } else if (quiet) this.#rowOf.set(place, Math.max(0, this.#rows.length - 1));
      else {
        if (this.#session.entry(place).kind === "assistant") this.#results.set(place, new Map());
        this.#rowOf.set(place, this.#rows.length);
        this.#rows.push(place);
      }
    }
  }

  #article(row: number): HTMLElement {
    const number = Math.floor(row / chunkRows);
    for (const at of [number - 1, number, number + 1]) {
      const chunk = this.#chunks[at];
      if (chunk) this.#fill(chunk);
    }
    return document.getElementById(this.#session.anchor(this.#rows[row] as number)) as HTMLElement;
  }

  #fill(chunk: HTMLElement): void {
    if (chunk.firstChild) return;
    this.#near.unobserve(chunk);
    const from = Number(chunk.dataset.from);
    for (let row = from; row < Math.min(from + chunkRows, this.#rows.length); row += 1) this.#append(chunk, row);
    if (this.#isOpen) for (const details of chunk.querySelectorAll("details")) setOpen(details, true);
  }

  #append(chunk: HTMLElement, row: number): void {
    const place = this.#rows[row] as number;
    const entry = this.#session.entry(place);
    const before = row === 0 ? undefined : this.#session.entry(this.#rows[row - 1] as number);
    const day = formatDay(entry.at);
    if (day && (!before || formatDay(before.at) !== day)) chunk.append(el("p", { class: "day" }, day));
    const others = branchSwitch(this.#session, place, this.#go);
    if (others) chunk.append(others);
    const continues =
      entry.kind === "assistant" && before?.kind === "assistant" && !others && entry.label === undefined;
    chunk.append(entryView(this.#session, place, { results: this.#results.get(place) ?? new Map(), continues }));
  }

  /** Where the session went back to an earlier entry, the branches that begin at the end of what is shown. */
  #whatFollows(): Node[] {
    const last = this.#path[this.#path.length - 1];
    const children = last === undefined ? [] : this.#session.next(last);
    if (children.length === 0) return [];
    const links = children.map((child) =>
      el("li", {}, el("a", { href: `#${this.#session.anchor(child)}` }, this.#session.entry(child).text || "Branch")),
    );
    const title = el("p", {}, "The session went back to here. From here it also goes on with:");
    return [
      el("nav", { class: "follows", "aria-label": "Branches that go on from here" }, title, el("ul", {}, ...links)),
    ];
  }

  #firstInWindow(): number {
    for (const article of this.element.querySelectorAll("article"))
      if (article.getBoundingClientRect().bottom > 80) return this.#rows.indexOf(Number(article.dataset.place));
    return 0;
  }

  #select(article: HTMLElement): void {
    this.#current?.classList.remove("current");
    this.#current = article;
    article.classList.add("current");
    article.focus({ preventScroll: true });
  }
}

/** Opens the folds of an article whose bodies fit. */
export function openFolds(article: HTMLElement, fits: (text: string) => boolean): void {
  for (const details of article.querySelectorAll("details")) {
    if (details.open) continue;
    fill(details);
    if (fits(details.querySelector(".fold-body")?.textContent ?? "")) details.open = true;
  }
}
