// A list of rows of one height, of which only those in its window exist. It is one stop for the keyboard.

import { el } from "./dom.js";

export interface ListOptions {
  /** `tree` or `listbox`; its rows are named to match. */
  role: "tree" | "listbox";
  label: string;
  /** Pixels. */
  rowHeight: number;
  /** The content and the attributes of a row. */
  row: (at: number) => HTMLElement;
  /** Enter or click. */
  choose: (at: number) => void;
  /** Keys the list itself does not know. */
  key?: (key: string, at: number) => boolean;
}

let lists = 0;

export class VirtualList {
  readonly element: HTMLElement;
  readonly #options: ListOptions;
  readonly #space = el("div", { class: "space", role: "presentation" });
  readonly #prefix = `list${lists++}-`;
  #count = 0;
  #active = 0;

  constructor(options: ListOptions) {
    this.#options = options;
    const { role, label } = options;
    this.element = el("div", { class: "list", role, "aria-label": label, tabindex: 0 }, this.#space);
    this.element.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(this.element);
    this.element.addEventListener("keydown", (event) => {
      if (this.#press(event.key)) event.preventDefault();
    });
    this.#space.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-at]");
      if (row) this.#choose(Number(row.dataset.at));
    });
  }

  get active(): number {
    return this.#active;
  }

  /** Says how many rows there are now; all of them are asked for anew. */
  update(count: number): void {
    this.#count = count;
    this.#active = Math.max(0, Math.min(this.#active, count - 1));
    this.#space.style.height = `${count * this.#options.rowHeight}px`;
    this.#draw();
  }

  /** Makes a row the active one and brings it into the list's window. */
  activate(at: number): void {
    const { rowHeight } = this.#options;
    this.#active = Math.max(0, Math.min(at, this.#count - 1));
    const top = this.#active * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top - rowHeight;
    else if (top + 2 * rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + 2 * rowHeight - clientHeight;
    this.#draw();
  }

  #choose(at: number): void {
    this.activate(at);
    this.#options.choose(at);
  }

  #press(key: string): boolean {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 };
    const step = steps[key];
    if (step !== undefined) this.activate(this.#active + step);
    else if (key === "Home") this.activate(0);
    else if (key === "End") this.activate(this.#count - 1);
    else if ((key === "Enter" || key === " ") && this.#count > 0) this.#choose(this.#active);
    else return this.#options.key?.(key, this.#active) ?? false;
    return true;
  }

  #draw(): void {
    const { rowHeight, row, role } = this.#options;
    const { scrollTop, clientHeight } = this.element;
    const from = Math.max(0, Math.floor(scrollTop / rowHeight) - 5);
    const to = Math.min(this.#count, Math.ceil((scrollTop + clientHeight) / rowHeight) + 5);
    const rows: HTMLElement[] = [];
    for (let at = from; at < to; at += 1) {
      const element = row(at);
      element.id = this.#prefix + at;
      element.dataset.at = String(at);
      element.setAttribute("role", role === "tree" ? "treeitem" : "option");
      element.classList.toggle("active", at === this.#active);
      element.style.transform = `translateY(${at * rowHeight}px)`;
      rows.push(element);
    }
    this.#space.replaceChildren(...rows);
    if (this.#active >= from && this.#active < to)
      this.element.setAttribute("aria-activedescendant", this.#prefix + this.#active);
    else this.element.removeAttribute("aria-activedescendant");
  }
}
