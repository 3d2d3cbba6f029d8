// Text: wrapped to the width, or one line cut at it.

import type { Component } from "./component.js";
import { padToWidth, truncateToWidth, wrapTextWithAnsi } from "./width.js";

/** Puts a background on one full line. */
export type Background = (line: string) => string;

/** Wrapped text with a margin; nothing at all when it is blank. */
export class Text implements Component {
  protected text: string;
  protected paddingX: number;
  protected paddingY: number;
  protected background: Background | undefined;

  /** `paddingX` is in columns on both sides, `paddingY` in lines above and below. */
  constructor(text = "", paddingX = 1, paddingY = 1, background?: Background) {
    this.text = text;
    this.paddingX = paddingX;
    this.paddingY = paddingY;
    this.background = background;
  }

  setText(text: string): void {
    this.text = text;
  }

  setCustomBgFn(background?: Background): void {
    this.background = background;
  }

  setPaddingX(columns: number): void {
    this.paddingX = columns;
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.text.trim() === "") return [];
    const lines = wrapTextWithAnsi(this.text.replaceAll("\t", "   "), Math.max(1, width - 2 * this.paddingX));
    return framed(lines, width, this);
  }

  /** For `framed`; a subclass may change them at any time. */
  get frame(): Frame {
    return { paddingX: this.paddingX, paddingY: this.paddingY, background: this.background };
  }
}

export interface Frame {
  paddingX: number;
  paddingY: number;
  background?: Background | undefined;
}

/** Lines with a margin, each filled up to the width. */
export function framed(lines: readonly string[], width: number, of: { frame: Frame }): string[] {
  const { paddingX, paddingY, background } = of.frame;
  const margin = " ".repeat(Math.max(0, Math.min(paddingX, width - 1)));
  const empty = Array.from({ length: Math.max(0, paddingY) }, () => "");
  const full = [...empty, ...lines.map((line) => margin + line), ...empty].map((line) =>
    padToWidth(truncateToWidth(line, width, ""), width),
  );
  return background ? full.map(background) : full;
}

/** The first line of a text, cut at the width. */
export class TruncatedText implements Component {
  readonly #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;

  constructor(text: string, paddingX = 0, paddingY = 0) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const [first = ""] = this.#text.split("\n");
    const line = truncateToWidth(first, Math.max(1, width - 2 * this.#paddingX));
    return framed([line], width, { frame: { paddingX: this.#paddingX, paddingY: this.#paddingY } });
  }
}
