// Components that arrange others: a box around them, below and beside each other, scrolled, or watched for the mouse.

import { type Component, Container } from "./component.js";
import { type Background, framed } from "./text.js";
import { padToWidth, truncateToWidth } from "./width.js";

/** Components with a margin and a background; nothing at all when they draw nothing. */
export class Box extends Container {
  #paddingX: number;
  readonly #paddingY: number;
  #background: Background | undefined;

  constructor(paddingX = 1, paddingY = 1, background?: Background) {
    super();
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#background = background;
  }

  setBgFn(background?: Background): void {
    this.#background = background;
  }

  setPaddingX(columns: number): void {
    this.#paddingX = columns;
  }

  override render(width: number): string[] {
    const lines = super.render(Math.max(1, width - 2 * this.#paddingX));
    if (lines.length === 0) return [];
    return framed(lines, width, {
      frame: { paddingX: this.#paddingX, paddingY: this.#paddingY, background: this.#background },
    });
  }
}

export interface StackOptions {
  /** Lines or columns between components. */
  gap?: number;
  align?: string;
}

/** Components one below the other with a gap. */
export class VStack extends Container {
  readonly gap: number;

  constructor(options: StackOptions = {}) {
    super();
    this.gap = options.gap ?? 0;
  }

  override render(width: number): string[] {
    const gap = Array.from({ length: this.gap }, () => "");
    return this.children.flatMap((child, index) => [...(index > 0 ? gap : []), ...child.render(width)]);
  }
}

/** Components side by side, each with the same share of the width. */
export class HStack extends Container {
  readonly gap: number;

  constructor(options: StackOptions = {}) {
    super();
    this.gap = options.gap ?? 0;
  }

  override render(width: number): string[] {
    const count = this.children.length;
    if (count === 0) return [];
    const share = Math.max(1, Math.floor((width - this.gap * (count - 1)) / count));
    const columns = this.children.map((child) => child.render(share));
    const height = Math.max(...columns.map((column) => column.length));
    return Array.from({ length: height }, (_, row) => {
      const cells = columns.map((column) => padToWidth(column[row] ?? "", share));
      return truncateToWidth(cells.join(" ".repeat(this.gap)), width, "");
    });
  }
}

/** A part of another component: `viewportHeight` of its lines, from `scrollTop` on; all of them when no height is set. */
export class ScrollView extends Container {
  viewportHeight: number | undefined;
  scrollTop = 0;
  #lines = 0;

  constructor(child?: Component, options: { viewportHeight?: number } = {}) {
    super();
    if (child) this.addChild(child);
    this.viewportHeight = options.viewportHeight;
  }

  scrollBy(lines: number): void {
    this.scrollTo(this.scrollTop + lines);
  }

  scrollTo(line: number): void {
    this.scrollTop = Math.max(0, Math.min(line, this.#lines - (this.viewportHeight ?? this.#lines)));
  }

  scrollToStart(): void {
    this.scrollTo(0);
  }

  scrollToEnd(): void {
    this.scrollTo(this.#lines);
  }

  isFollowingEnd(): boolean {
    return this.scrollTop + (this.viewportHeight ?? this.#lines) >= this.#lines;
  }

  override render(width: number): string[] {
    const lines = super.render(width);
    this.#lines = lines.length;
    if (this.viewportHeight === undefined) return lines;
    this.scrollTo(this.scrollTop);
    return lines.slice(this.scrollTop, this.scrollTop + this.viewportHeight);
  }
}

/** A component and what is to happen when the mouse is used on it; there is no mouse here, so it only draws. */
export class MouseRegion implements Component {
  readonly child: Component;
  readonly handler: unknown;

  constructor(child: Component, handler?: unknown) {
    this.child = child;
    this.handler = handler;
  }

  invalidate(): void {
    this.child.invalidate?.();
  }

  handleMouse(_event?: unknown): boolean {
    return false;
  }

  render(width: number): string[] {
    return this.child.render(width);
  }
}
