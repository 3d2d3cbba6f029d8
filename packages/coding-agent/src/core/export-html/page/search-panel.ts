// The search field, and the list of what was found in place of the outline.

import { el } from "./dom.js";
import { kindNames } from "./entry-view.js";
import { plural } from "./format.js";
import { type Hit, search, searchPattern } from "./search.js";
import type { Session } from "./session.js";
import { VirtualList } from "./virtual-list.js";

/** Milliseconds without typing after which a search starts. */
const pauseMs = 120;

export interface SearchActions {
  /** Shows an entry with what was found in it. */
  go: (place: number, pattern: RegExp) => void;
  /** Something is looked for, or no longer. */
  active: (isActive: boolean) => void;
}

export class SearchPanel {
  readonly field: HTMLElement;
  readonly results: HTMLElement;
  readonly #session: Session;
  readonly #actions: SearchActions;
  readonly #input = el("input", {
    type: "search",
    placeholder: "Search everything",
    "aria-label": "Search the session",
    autocomplete: "off",
    spellcheck: "false",
  });
  readonly #status = el("p", { class: "search-status", role: "status" });
  readonly #list: VirtualList;
  #hits: Hit[] = [];
  #pattern: RegExp | undefined;
  #running: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(session: Session, actions: SearchActions) {
    this.#session = session;
    this.#actions = actions;
    this.#list = new VirtualList({
      role: "listbox",
      label: "Found entries",
      rowHeight: 46,
      row: (at) => this.#row(at),
      choose: (at) => this.#choose(at),
    });
    this.field = el(
      "div",
      { class: "search-field", role: "search" },
      this.#input,
      el("kbd", { "aria-hidden": "true" }, "/"),
    );
    this.results = el("div", { class: "search-results", hidden: true }, this.#status, this.#list.element);
    this.#input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      // What is shown is not what was asked for any more.
      this.#running?.abort();
      this.#status.textContent = "";
      this.#timer = setTimeout(() => this.#search(), pauseMs);
    });
    this.#input.addEventListener("keydown", (event) => this.#press(event));
  }

  get isActive(): boolean {
    return this.#input.value.trim() !== "";
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  clear(): void {
    this.#input.value = "";
    this.#search();
    this.#input.blur();
  }

  #press(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.#list.activate(this.#list.active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      clearTimeout(this.#timer);
      const isFirst = this.#pattern?.source !== (this.isActive ? searchPattern(this.#input.value).source : undefined);
      if (isFirst || this.#hits.length === 0) this.#search({ opensFirst: true });
      else this.#choose(this.#list.active);
    } else return;
    event.preventDefault();
  }

  /** With `opensFirst` the first entry that is found is gone to at once. */
  #search({ opensFirst = false } = {}): void {
    this.#running?.abort();
    this.#hits = [];
    this.#list.update(0);
    this.#pattern = this.isActive ? searchPattern(this.#input.value) : undefined;
    this.results.hidden = !this.isActive;
    this.#actions.active(this.isActive);
    if (!this.#pattern) return;
    this.#status.textContent = "Searching…";
    const running = new AbortController();
    this.#running = running;
    void search(this.#session, this.#pattern, running.signal, (hits, isDone) => {
      if (running.signal.aborted) return;
      this.#hits.push(...hits);
      const count = this.#hits.length;
      if (hits.length > 0) this.#list.update(count);
      if (opensFirst && count > 0 && count === hits.length) this.#choose(0);
      this.#status.textContent = isDone
        ? count > 0
          ? plural(count, "entry").replace(/ys$/, "ies")
          : "Nothing found"
        : `${count}…`;
    });
  }

  #choose(at: number): void {
    const hit = this.#hits[at];
    if (hit && this.#pattern) this.#actions.go(hit.place, this.#pattern);
  }

  #row(at: number): HTMLElement {
    const { place, before, match, after } = this.#hits[at] as Hit;
    const { kind } = this.#session.entry(place);
    return el(
      "div",
      { class: `row ${kind}` },
      el("span", { class: "kind" }, kindNames[kind]),
      el("span", { class: "text" }, before.replace(/\s+/g, " "), el("mark", {}, match), after.replace(/\s+/g, " ")),
    );
  }
}
