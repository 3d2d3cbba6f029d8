// The pieces of messages that look the same wherever they stand: texts, pictures, values.

import type { PagePart } from "../page-data.js";
import { codeBlock } from "./colours.js";
import { el, fold } from "./dom.js";
import { formatCount, plural } from "./format.js";
import { markdown } from "./markdown.js";

/** What a person sent: files and skills that were put into the text are folded. */
export function promptText(text: string): Node {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(/<(file|skill) name="([^"]*)"[^>]*>\n?([\s\S]*?)\n?<\/\1>\n?/g)) {
    const [whole, kind, name = "", body = ""] = match;
    if (body === "" && kind === "file") continue; // stands for a picture that follows
    fragment.append(...said(text.slice(end, match.index)), attachment(kind === "skill" ? "Skill" : "File", name, body));
    end = match.index + whole.length;
  }
  fragment.append(...said(text.slice(end)));
  return fragment;
}

function said(text: string): Node[] {
  return text.trim() ? [markdown(text, { breaks: true })] : [];
}

function attachment(kind: string, name: string, body: string): Node {
  const lines = el("span", { class: "muted" }, plural(body.split("\n").length, "line"));
  const summary = [el("span", { class: "tool-name" }, kind), el("span", { class: "subject" }, name), lines];
  return fold("attachment", summary, () => (kind === "Skill" ? markdown(body) : codeBlock(body, ending(name))));
}

function ending(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

export function thinking(text: string, redacted: boolean): Node {
  if (redacted || !text.trim()) return el("p", { class: "note" }, "Thinking that the provider keeps to itself");
  const words = formatCount(text.trim().split(/\s+/).length);
  return fold("thinking", ["Thinking ", el("span", { class: "muted" }, `${words} words`)], () => markdown(text));
}

export function image(part: Extract<PagePart, { type: "image" | "badImage" }>): Node {
  if (part.type === "badImage")
    return el("p", { class: "note" }, `An image that cannot be shown (${part.mimeType || "no type"})`);
  const src = `data:${part.mimeType};base64,${part.data}`;
  return el("img", { src, alt: "Image of the conversation", loading: "lazy" });
}

/** Any value as JSON; values nested too deep for that are named only. */
export function json(value: unknown): HTMLPreElement {
  if (typeof value === "string") return codeBlock(value);
  try {
    return codeBlock(JSON.stringify(value, null, 2) ?? "", "json");
  } catch {
    return codeBlock("A value nested too deep to be shown");
  }
}
