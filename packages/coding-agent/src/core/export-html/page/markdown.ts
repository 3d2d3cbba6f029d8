// Markdown → elements, made from the parser's tokens so that no HTML is ever put together.

import MarkdownIt from "markdown-it";
import { codeBlock } from "./colours.js";
import { el } from "./dom.js";
import { safeLink } from "./links.js";

/** Longer texts are shown as they are. */
const mostCharacters = 300_000;

const answers = new MarkdownIt({ html: false, linkify: true, breaks: false });
const prompts = new MarkdownIt({ html: false, linkify: true, breaks: true });
for (const parser of [answers, prompts]) {
  // "main.py" and "me@host" in the middle of a text are no addresses.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  // Which links are followed is decided when they are made; the parser must not hide the others' text.
  parser.validateLink = () => true;
}

type Token = ReturnType<typeof answers.parse>[number];

/** `breaks` keeps line ends, as people mean them in what they type. */
export function markdown(text: string, { breaks = false } = {}): HTMLElement {
  const root = el("div", { class: "markdown" });
  if (text.length > mostCharacters) return plain(root, text);
  try {
    build(root, (breaks ? prompts : answers).parse(text, {}));
    return root;
  } catch {
    return plain(root, text);
  }
}

function plain(root: HTMLElement, text: string): HTMLElement {
  root.replaceChildren(el("p", { class: "plain" }, text));
  return root;
}

const tags = new Set("p h1 h2 h3 h4 h5 h6 ul ol li blockquote table thead tbody tr th td strong em s".split(" "));

function build(root: HTMLElement, tokens: readonly Token[]): void {
  const open: HTMLElement[] = [root];
  for (const token of tokens) {
    const parent = open[open.length - 1] as HTMLElement;
    if (token.type === "inline") build(parent, token.children ?? []);
    else if (token.nesting < 0) open.pop();
    else {
      const node = nodeOf(token);
      // The paragraphs of a tight list are only there for the tokens' nesting.
      if (token.nesting > 0) open.push(token.hidden ? parent : (node as HTMLElement));
      if (!token.hidden) parent.append(node);
    }
  }
}

function nodeOf(token: Token): Node | string {
  switch (token.type) {
    case "text":
      return token.content;
    case "softbreak":
      return "\n";
    case "hardbreak":
      return el("br");
    case "hr":
      return el("hr");
    case "code_inline":
      return el("code", {}, token.content);
    case "fence":
      return codeBlock(token.content.replace(/\n$/, ""), token.info);
    case "code_block":
      return codeBlock(token.content.replace(/\n$/, ""));
    case "link_open":
      return link(String(token.attrGet("href") ?? ""), String(token.attrGet("title") ?? ""));
    case "image":
      return image(token);
    default:
      return tags.has(token.tag) ? element(token) : el("span", {}, token.content);
  }
}

function element(token: Token): HTMLElement {
  const node = el(token.tag as "p");
  const start = token.attrGet("start");
  if (start !== null) node.setAttribute("start", String(start));
  const align = /text-align:(left|center|right)/.exec(String(token.attrGet("style") ?? ""));
  if (align) node.style.textAlign = align[1] as string;
  return node;
}

/** What may not be followed stays readable. */
function link(address: string, title: string): HTMLElement {
  const href = safeLink(address);
  if (!href) return el("span", { class: "dead-link", title: address.slice(0, 300) });
  return el("a", { href, title: title || undefined, target: "_blank", rel: "noopener noreferrer" });
}

/** Pictures from elsewhere are never loaded; their address is a link. */
function image(token: Token): HTMLElement {
  const address = String(token.attrGet("src") ?? "");
  const node = link(address, "");
  node.append(`Image: ${token.content || address.slice(0, 80)}`);
  return node;
}
