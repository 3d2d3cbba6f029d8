// Markdown as lines for a terminal.

import { markdownIt } from "../lazy-libraries.js";
import type { Component } from "./component.js";
import { markdownLines } from "./markdown-lines.js";
import { type Background, framed } from "./text.js";

type Style = (text: string) => string;

/** What the parts of a text look like. */
export interface MarkdownTheme {
  heading: Style;
  link: Style;
  linkUrl: Style;
  code: Style;
  codeBlock: Style;
  codeBlockBorder: Style;
  quote: Style;
  quoteBorder: Style;
  hr: Style;
  listBullet: Style;
  bold: Style;
  italic: Style;
  underline: Style;
  strikethrough: Style;
  /** The lines of a code block in colour; as they are when absent. */
  highlightCode?: (code: string, language?: string) => string[];
  codeBlockIndent?: string;
}

/** What all text of a component has. */
export interface DefaultTextStyle {
  color?: Style;
  bgColor?: Background;
  bold?: boolean;
  italic?: boolean;
  strikethrough?: boolean;
  underline?: boolean;
}

/** Markdown with a margin; nothing at all when it is blank. HTML is shown as it is written. */
export class Markdown implements Component {
  #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;
  readonly #theme: MarkdownTheme;
  readonly #style: DefaultTextStyle;

  constructor(
    text: string,
    paddingX: number,
    paddingY: number,
    theme: MarkdownTheme,
    style: DefaultTextStyle = {},
    _options?: unknown,
  ) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#theme = theme;
    this.#style = style;
  }

  setText(text: string): void {
    this.#text = text;
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.#text.trim() === "") return [];
    parser ??= new (markdownIt())({ html: false, linkify: false });
    const tokens = parser.parse(this.#text.replaceAll("\t", "   "), {});
    const room = Math.max(1, width - 2 * this.#paddingX);
    const lines = markdownLines(tokens, room, this.#theme).map((line) => this.#styled(line));
    const frame = { paddingX: this.#paddingX, paddingY: this.#paddingY, background: this.#style.bgColor };
    return framed(lines, width, { frame });
  }

  #styled(line: string): string {
    const { color, bold, italic, underline, strikethrough } = this.#style;
    let styled = line;
    if (bold) styled = this.#theme.bold(styled);
    if (italic) styled = this.#theme.italic(styled);
    if (underline) styled = this.#theme.underline(styled);
    if (strikethrough) styled = this.#theme.strikethrough(styled);
    return color ? color(styled) : styled;
  }
}

let parser: InstanceType<ReturnType<typeof markdownIt>> | undefined;
