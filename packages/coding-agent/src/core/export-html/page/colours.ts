// Syntax colours: code → text in spans of classes.

import hljs from "highlight.js/lib/common";
import { el } from "./dom.js";

/** Longer code stays plain: colouring is slow and nobody reads it. */
const mostCharacters = 100_000;

/** Names of languages by the endings of files whose ending is not the language's own name or alias. */
const endings: Record<string, string> = {
  mjs: "javascript",
  cjs: "javascript",
  mts: "typescript",
  cts: "typescript",
  htm: "xml",
  vue: "xml",
  svelte: "xml",
  h: "c",
  hh: "cpp",
  jsonl: "json",
  jsonc: "json",
  bashrc: "bash",
};

/** The language of a file, if we colour it. */
export function languageOfFile(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf(".") + 1);
  const language = Object.hasOwn(endings, ending) ? endings[ending] : ending;
  return language && hljs.getLanguage(language) ? language : undefined;
}

/** A block of code; plain text when the language is unknown. */
export function codeBlock(code: string, language?: string): HTMLPreElement {
  const name = language?.trim().split(/\s+/)[0]?.toLowerCase() ?? "";
  const inner = el("code");
  inner.append(coloured(code, name) ?? code);
  return el("pre", { class: "code", tabindex: 0 }, inner);
}

function coloured(code: string, language: string): DocumentFragment | undefined {
  if (!language || code.length > mostCharacters || !hljs.getLanguage(language)) return undefined;
  try {
    return toNodes(hljs.highlight(code, { language, ignoreIllegals: true }).value);
  } catch {
    return undefined;
  }
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The highlighter's output knows one element, `<span class="…">`, and five entities; anything else stays text. */
function toNodes(markup: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const open: (DocumentFragment | HTMLElement)[] = [fragment];
  for (const [piece, name] of markup.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+|</g)) {
    const parent = open[open.length - 1] as HTMLElement;
    if (name !== undefined) {
      const span = el("span", { class: name });
      parent.append(span);
      open.push(span);
    } else if (piece === "</span>" && open.length > 1) open.pop();
    else parent.append(piece.replace(/&(amp|lt|gt|quot|#x27);/g, (_, entity: string) => entities[entity] as string));
  }
  return fragment;
}
