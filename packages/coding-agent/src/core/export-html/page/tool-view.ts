// A tool call with its result, folded: what was asked, how it went, and inside a view that fits the tool.

import type { PageContent, PagePart } from "../page-data.js";
import { codeBlock, languageOfFile } from "./colours.js";
import { diffCounts, diffView, editView } from "./diff-view.js";
import { el, fold } from "./dom.js";
import { image, json } from "./parts.js";

type Call = Extract<PagePart, { type: "call" }>;
export type Result = Extract<PageContent, { kind: "toolResult" }>;

/** `result` is absent when the call was never answered. */
export function toolView(call: Call, result: Result | undefined): HTMLDetailsElement {
  const args = isRecord(call.arguments) ? call.arguments : {};
  const failed = result?.failed ?? false;
  const outcome = !result ? "not run" : failed ? "failed" : "";
  const summary = [
    el("span", { class: "tool-name" }, call.name || "tool"),
    el("span", { class: "subject" }, subject(args)),
    ...counts(result),
    outcome !== "" && el("span", { class: `outcome ${failed ? "bad" : ""}` }, outcome),
  ];
  const view = fold("tool", summary, () => body(call, args, result));
  if (failed) view.classList.add("failed");
  return view;
}

/** A result that stands alone: its call is not on this branch. */
export function loneResult(result: Result): HTMLDetailsElement {
  const summary = [
    el("span", { class: "tool-name" }, result.tool || "tool"),
    el("span", { class: "subject" }, "result"),
  ];
  return fold("tool", summary, () => output(result));
}

/** A command, as a terminal shows it. */
export function terminal(command: string, text: string, failed: boolean): HTMLElement {
  return el(
    "pre",
    { class: `terminal${failed ? " bad" : ""}`, tabindex: 0 },
    el("span", { class: "prompt" }, "$ "),
    el("span", { class: "command" }, command),
    "\n",
    text,
  );
}

function counts(result: Result | undefined): Node[] {
  if (result?.diff === undefined) return [];
  const { added, removed } = diffCounts(result.diff);
  return [el("span", { class: "counts" }, el("ins", {}, `+${added}`), " ", el("del", {}, `−${removed}`))];
}

function subject(args: Record<string, unknown>): string {
  const { command, path, pattern, offset, limit } = args;
  if (typeof command === "string") return firstLine(command);
  if (typeof pattern === "string") return `${pattern}${typeof path === "string" ? ` in ${path}` : ""}`;
  if (typeof path === "string") {
    const from = typeof offset === "number" ? offset : 1;
    const range = typeof limit === "number" ? `:${from}–${from + limit - 1}` : from > 1 ? `:${from}–` : "";
    return `${path}${range}`;
  }
  return firstLine(String(Object.values(args).find((value) => typeof value === "string") ?? ""));
}

function firstLine(text: string): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return line.length < text.trim().length ? `${line.slice(0, 200)} …` : line;
}

function body(call: Call, args: Record<string, unknown>, result: Result | undefined): Node {
  const fragment = document.createDocumentFragment();
  if (call.incomplete !== undefined) {
    fragment.append(el("p", { class: "note" }, "The answer ended inside these arguments"), codeBlock(call.incomplete));
    if (result) fragment.append(output(result));
    return fragment;
  }
  const { command, path, content } = args;
  const file = typeof path === "string" ? path : "";
  if (call.name === "bash" && typeof command === "string") {
    fragment.append(terminal(command, result ? textOf(result) : "", result?.failed ?? false));
    for (const part of result?.parts ?? []) if (part.type !== "text") fragment.append(other(part));
  } else if (call.name === "edit" && file) {
    if (result?.diff !== undefined) fragment.append(diffView(result.diff));
    else fragment.append(editView(editsOf(args)));
    if (result?.failed) fragment.append(output(result));
  } else if (call.name === "write" && typeof content === "string") {
    fragment.append(codeBlock(content, languageOfFile(file)));
    if (result) fragment.append(output(result));
  } else if (call.name === "read" && result) {
    fragment.append(output(result, languageOfFile(file)));
  } else {
    if (Object.keys(args).length > 0) fragment.append(json(args));
    if (result) fragment.append(output(result));
  }
  return fragment;
}

/** The edits of any shape the tool takes. */
function editsOf(args: Record<string, unknown>): { oldText: string; newText: string }[] {
  const list = Array.isArray(args.edits) ? args.edits : [args];
  return list.filter(isRecord).map(({ oldText, newText }) => ({ oldText: text(oldText), newText: text(newText) }));
}

function output(result: Result, language?: string): Node {
  const fragment = document.createDocumentFragment();
  for (const part of result.parts) {
    if (part.type !== "text") fragment.append(other(part));
    else if (part.text.trim()) {
      const pre = codeBlock(part.text, result.failed ? undefined : (language ?? looksLikeJson(part.text)));
      pre.classList.add("output");
      if (result.failed) pre.classList.add("bad");
      fragment.append(pre);
    }
  }
  if (!fragment.firstChild) fragment.append(el("p", { class: "note" }, "No output"));
  return fragment;
}

function other(part: PagePart): Node {
  return part.type === "image" || part.type === "badImage" ? image(part) : json(part);
}

function textOf({ parts }: Result): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function looksLikeJson(value: string): string | undefined {
  return /^\s*[{[]/.test(value) && /[}\]]\s*$/.test(value) ? "json" : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
