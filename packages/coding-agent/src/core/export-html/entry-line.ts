// An entry's place in lists: its kind, its beginning on one line, and roughly how high it will be.

import type { SessionEntry } from "../../sessions/entries.js";
import { text } from "./page-content.js";
import type { EntryKind, PageContent, PagePart } from "./page-data.js";

export interface EntryLine {
  kind: EntryKind;
  text: string;
  lines: number;
  says?: true;
  failed?: true;
  quiet?: true;
}

/** Characters of an entry that lists show. */
const shownCharacters = 160;
/** Characters that fit on a line of the conversation. */
const lineCharacters = 90;
const imageLines = 12;

/** `content` is what `pageContent` gave for the entry. */
export function entryLine(entry: SessionEntry, content: PageContent | undefined): EntryLine {
  if (!content || content.kind === "note") {
    const quiet = entry.type === "label" ? ({ quiet: true } as const) : {};
    return { kind: "note", text: oneLine(noteText(entry)), lines: 1, ...quiet };
  }
  switch (content.kind) {
    case "user":
      return { kind: "user", text: partsText(content.parts), lines: 2 + partsLines(content.parts) };
    case "assistant": {
      const says = content.parts.some((part) => part.type === "text" && part.text.trim() !== "");
      const failed = content.error !== undefined || content.stop === "error";
      const line = partsText(content.parts) || (content.error ?? "");
      return {
        kind: "assistant",
        text: oneLine(line),
        lines: 1 + partsLines(content.parts),
        ...(says && { says: true }),
        ...(failed && { failed: true }),
      };
    }
    case "toolResult":
      return {
        kind: "toolResult",
        text: oneLine(`${content.tool}: ${partsText(content.parts)}`),
        lines: 2,
        ...(content.failed && { failed: true }),
      };
    case "bash": {
      const failed = content.cancelled || (content.exitCode ?? 0) !== 0;
      return { kind: "bash", text: oneLine(`$ ${content.command}`), lines: 2, ...(failed && { failed: true }) };
    }
    case "custom": {
      const line = oneLine(`${content.customType}: ${partsText(content.parts)}`);
      return { kind: "custom", text: line, lines: content.hidden ? 2 : 2 + partsLines(content.parts) };
    }
    case "compaction":
    case "branchSummary":
      return {
        kind: content.kind,
        text: oneLine(withoutMarks(content.summary.slice(0, 4 * shownCharacters))),
        lines: 3,
      };
  }
}

function noteText(entry: SessionEntry): string {
  switch (entry.type) {
    case "model_change":
      return `Model ${text(entry.provider)}/${text(entry.modelId)}`;
    case "thinking_level_change":
      return `Thinking ${text(entry.thinkingLevel)}`;
    case "session_info":
      return entry.name ? `Named “${text(entry.name)}”` : "Name removed";
    case "label":
      return entry.label ? `Label “${text(entry.label)}”` : "Label removed";
    case "context_edit":
      return entry.replacement === null
        ? "An earlier message was left out of what the model sees"
        : "An earlier message was replaced in what the model sees";
    case "usage":
      return `Model work outside the conversation: ${text(entry.kind)}`;
    case "custom":
      return `State of ${text(entry.customType)}`;
    case "message":
      return `Message of role ${text((entry.message as { role?: unknown } | undefined)?.role)}`;
    default:
      return `Entry of type ${text((entry as { type: unknown }).type)}`;
  }
}

function partsText(parts: PagePart[]): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text.slice(0, 4 * shownCharacters)] : []));
  const calls = parts.flatMap((part) => (part.type === "call" ? [callText(part.name, part.arguments)] : []));
  const images = parts.filter(({ type }) => type === "image" || type === "badImage").length;
  const said = oneLine(withoutMarks(texts.join(" ")));
  if (said) return said;
  if (calls.length > 0) return oneLine(calls.join(", "));
  if (images > 0) return images === 1 ? "An image" : `${images} images`;
  return parts.some(({ type }) => type === "thinking") ? "Thinking" : "";
}

/** `bash npm test`: the tool and what it is about. */
function callText(name: string, args: unknown): string {
  const { command, path, pattern } = (args ?? {}) as Record<string, unknown>;
  const subject = [command, path, pattern].find((value) => typeof value === "string");
  return subject === undefined ? name : `${name} ${(subject as string).slice(0, shownCharacters)}`;
}

function partsLines(parts: PagePart[]): number {
  let lines = 0;
  for (const part of parts) {
    if (part.type === "text") lines += textLines(part.text);
    else if (part.type === "image") lines += imageLines;
    else lines += 2;
  }
  return lines;
}

/** Counts up to a length that is far from the truth anyway. */
function textLines(said: string): number {
  let lines = said.length / lineCharacters;
  for (let at = said.indexOf("\n"); at >= 0 && lines < 5_000; at = said.indexOf("\n", at + 1)) lines += 1;
  return Math.ceil(lines) + 1;
}

/** Lists show words, not Markdown's signs. */
function withoutMarks(markdown: string): string {
  return markdown.replace(/^\s*(?:#{1,6}|>|```\S*)\s|\*\*|__|~~|`+/gm, " ");
}

function oneLine(said: string): string {
  const line = said
    .slice(0, 4 * shownCharacters)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > shownCharacters ? `${line.slice(0, shownCharacters).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
