// The tokens of a Markdown text → lines of a terminal.

import type { Token } from "markdown-it";
import type { MarkdownTheme } from "./markdown.js";
import { tableLines } from "./markdown-table.js";
import { truncateToWidth, wrapTextWithAnsi } from "./width.js";

/** Lines of at most `width` columns, with an empty one between blocks. */
export function markdownLines(tokens: readonly Token[], width: number, theme: MarkdownTheme): string[] {
  const blocks = children(tokens);
  return blocks.flatMap((block, index) => [...(index > 0 ? [""] : []), ...blockLines(block, width, theme)]);
}

/** A block with the tokens inside it, its own first. */
interface Block {
  token: Token;
  inner: readonly Token[];
}

/** The outermost blocks of a list of tokens. */
function children(tokens: readonly Token[]): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    let end = at;
    if (token.nesting === 1)
      for (let depth = 1; depth > 0 && end + 1 < tokens.length; ) depth += (tokens[++end] as Token).nesting;
    blocks.push({ token, inner: tokens.slice(at + 1, end) });
    at = end;
  }
  return blocks;
}

function blockLines({ token, inner }: Block, width: number, theme: MarkdownTheme): string[] {
  switch (token.type) {
    case "heading_open": {
      const level = Number(token.tag.slice(1));
      const prefix = level > 2 ? `${"#".repeat(level)} ` : "";
      return wrapTextWithAnsi(theme.heading(theme.bold(prefix + inlineText(inner, theme))), width);
    }
    case "paragraph_open":
    case "inline":
      return wrapTextWithAnsi(inlineText(token.type === "inline" ? [token] : inner, theme), width);
    case "bullet_list_open":
    case "ordered_list_open":
      return listLines({ token, inner }, width, theme);
    case "blockquote_open":
      return markdownLines(inner, Math.max(1, width - 2), theme).map(
        (line) => theme.quoteBorder("│ ") + theme.quote(theme.italic(line)),
      );
    case "fence":
    case "code_block":
      return codeLines(token, width, theme);
    case "hr":
      return [theme.hr("─".repeat(Math.min(width, 80)))];
    case "table_open":
      return tableLines(inner, width, (cell) => inlineText([cell], theme));
    default:
      return token.content ? wrapTextWithAnsi(token.content, width) : [];
  }
}

function listLines({ token, inner }: Block, width: number, theme: MarkdownTheme): string[] {
  let number = Number(token.attrGet("start") ?? 1);
  return children(inner).flatMap((item) => {
    const bullet = token.type === "ordered_list_open" ? `${number++}. ` : "- ";
    const room = Math.max(1, width - bullet.length);
    const lines = children(item.inner).flatMap((block) => blockLines(block, room, theme));
    return (lines.length > 0 ? lines : [""]).map((line, index) =>
      index === 0 ? theme.listBullet(bullet) + line : " ".repeat(bullet.length) + line,
    );
  });
}

function codeLines(token: Token, width: number, theme: MarkdownTheme): string[] {
  const language = token.info.trim().split(/\s+/)[0] ?? "";
  const code = token.content.replace(/\n$/, "");
  const lines = theme.highlightCode?.(code, language || undefined) ?? code.split("\n").map(theme.codeBlock);
  const indent = theme.codeBlockIndent ?? "  ";
  return [
    theme.codeBlockBorder(truncateToWidth(`\`\`\`${language}`, width)),
    ...lines.flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width - indent.length)).map((part) => indent + part)),
    theme.codeBlockBorder("```"),
  ];
}

/** The text of `inline` tokens with its styles. */
export function inlineText(tokens: readonly Token[], theme: MarkdownTheme): string {
  return tokens.map((token) => (token.children ? spans(token.children, theme) : "")).join("");
}

function spans(tokens: readonly Token[], theme: MarkdownTheme): string {
  return children(tokens)
    .map(({ token, inner }) => {
      switch (token.type) {
        case "text":
        case "html_inline":
          return token.content;
        case "softbreak":
        case "hardbreak":
          return "\n";
        case "code_inline":
          return theme.code(token.content);
        case "strong_open":
          return theme.bold(spans(inner, theme));
        case "em_open":
          return theme.italic(spans(inner, theme));
        case "s_open":
          return theme.strikethrough(spans(inner, theme));
        case "link_open": {
          const text = spans(inner, theme);
          const url = token.attrGet("href") ?? "";
          const shown = theme.link(theme.underline(text));
          return text === url || `mailto:${text}` === url ? shown : `${shown}${theme.linkUrl(` (${url})`)}`;
        }
        case "image":
          return `[Image: ${token.content || token.attrGet("src")}]`;
        default:
          return token.content;
      }
    })
    .join("");
}
