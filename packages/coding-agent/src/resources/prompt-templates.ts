// Prompt templates: Markdown files that are called by name with arguments.

import { basename } from "node:path";
import { textOf as errorText } from "../lib/error-text.js";
import { FrontmatterError, readFrontmatter } from "../lib/frontmatter.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import type { Diagnostic } from "./diagnostic.js";
import type { FoundFile, SourceInfo } from "./found-file.js";

export interface PromptTemplate {
  /** The file's name without its ending. */
  name: string;
  description: string;
  argumentHint?: string;
  content: string;
  filePath: string;
  sourceInfo: SourceInfo;
}

/** A description taken from the text is cut here; it stands in one line of a list. */
const longestDescription = 60;

/**
 * The templates of files in their order; of a name the first counts. A file that cannot be read, or whose front matter is
 * broken, is a diagnostic. `taken` has templates that were there before.
 */
export async function loadPromptTemplates(
  files: readonly FoundFile[],
  taken: readonly PromptTemplate[] = [],
): Promise<{ prompts: PromptTemplate[]; diagnostics: Diagnostic[] }> {
  const prompts: PromptTemplate[] = [];
  const diagnostics: Diagnostic[] = [];
  if (files.length === 0) return { prompts, diagnostics };
  const byName = new Map(taken.map((template) => [template.name, template]));
  for (const { path, sourceInfo } of files) {
    const say = (message: string, severity: Diagnostic["severity"], at: object = {}) =>
      void diagnostics.push({ severity, source: "prompts", message, path, ...at });
    try {
      const { frontmatter, body } = await readFrontmatter(readRegularFile(path).toString("utf8"));
      const name = basename(path).replace(/\.md$/i, "");
      const first = byName.get(name);
      if (first) {
        say(`The template "${name}" is there already, from "${first.filePath}"; this one is ignored`, "warning");
        continue;
      }
      const hint = textOf(frontmatter["argument-hint"]);
      const template: PromptTemplate = {
        name,
        description: textOf(frontmatter.description) ?? firstLineOf(body),
        ...(hint !== undefined && { argumentHint: hint }),
        content: body,
        filePath: path,
        sourceInfo,
      };
      byName.set(name, template);
      prompts.push(template);
    } catch (error) {
      const { line, column } = error instanceof FrontmatterError ? error : {};
      const reason = errorText(error);
      const what = error instanceof FrontmatterError ? "its front matter is no YAML: " : "";
      say(`Cannot read the template: ${what}${reason}`, "error", {
        ...(line !== undefined && { line }),
        ...(column !== undefined && { column }),
      });
    }
  }
  return { prompts, diagnostics };
}

/** A hint such as `[focus]` is a list in YAML when it is not quoted. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return `[${value.map(String).join(", ")}]`;
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return String(value).replace(/\s+/g, " ").trim() || undefined;
}

function firstLineOf(body: string): string {
  const line =
    body
      .split("\n")
      .find((candidate) => candidate.trim() !== "")
      ?.trim() ?? "";
  const characters = [...line];
  return characters.length > longestDescription ? `${characters.slice(0, longestDescription).join("")}...` : line;
}

/** `/name arguments` → the template's text with the arguments put in. Any other text stays as it is. */
export function expandPromptTemplate(text: string, templates: readonly PromptTemplate[]): string {
  const [, name, given = ""] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const template = name === undefined ? undefined : templates.find((candidate) => candidate.name === name);
  return template ? fillIn(template.content, splitArguments(given)) : text;
}

const places = /\$(?:(\d+)|@|ARGUMENTS|\{(\d+|@):-([^}]*)\}|\{@:(\d+)(?::(\d+))?\})/g;

/** In one pass over the text, so nothing that was put in is looked at again. An argument that is missing is empty. */
export function fillIn(content: string, given: readonly string[]): string {
  const argument = (position: string) => given[Number(position) - 1] ?? "";
  const all = given.join(" ");
  return content.replace(places, (_, position, named, otherwise, from, length) => {
    if (position !== undefined) return argument(position);
    if (named !== undefined) return (named === "@" ? all : argument(named)) || otherwise;
    if (from === undefined) return all;
    const start = Math.max(Number(from) - 1, 0);
    return given.slice(start, length === undefined ? undefined : start + Number(length)).join(" ");
  });
}

/**
 * Splits at blanks. A quote at the beginning of an argument holds it together up to the next one of its kind; a backslash
 * before such a quote keeps the quote. A quote that is never closed, or stands inside a word, is text.
 */
export function splitArguments(text: string): string[] {
  const list: string[] = [];
  for (let at = 0; ; ) {
    while (at < text.length && isBlank(text[at] as string)) at += 1;
    if (at >= text.length) return list;
    let word = "";
    const quoted = readQuoted(text, at);
    if (quoted) {
      word = quoted.value;
      at = quoted.end;
    }
    while (at < text.length && !isBlank(text[at] as string)) word += text[at++];
    list.push(word);
  }
}

function readQuoted(text: string, start: number): { value: string; end: number } | undefined {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") return undefined;
  let value = "";
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === quote) return { value, end: at + 1 };
    if (text[at] === "\\" && text[at + 1] === quote) at += 1;
    value += text[at];
  }
  return undefined;
}

function isBlank(character: string): boolean {
  return /\s/.test(character);
}
