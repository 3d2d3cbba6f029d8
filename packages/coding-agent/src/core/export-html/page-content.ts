// One entry → what it says on the page. Entries come from files others may have written, so every field is looked at.

import type { SessionEntry } from "../../sessions/entries.js";
import type { PageContent, PagePart, PageUsage } from "./page-data.js";

/**
 * What an entry says; undefined when its index line says it all. Never throws, but for an entry whose body can no longer
 * be read from its file.
 */
export function pageContent(entry: SessionEntry): PageContent | undefined {
  switch (entry.type) {
    case "message":
      return ofMessage(record(entry.message));
    case "custom_message":
      return ofMessage({ role: "custom", ...record(entry) });
    case "compaction":
      return ofMessage({ role: "compactionSummary", ...record(entry) });
    case "branch_summary":
      return ofMessage({ role: "branchSummary", ...record(entry) });
    case "model_change":
    case "thinking_level_change":
    case "label":
    case "session_info":
      return undefined;
    case "context_edit":
      return entry.replacement == null ? undefined : note(entry.replacement);
    case "usage":
      return note(entry.usage);
    case "custom":
      return entry.data === undefined ? undefined : note(entry.data);
    default:
      return note(entry);
  }
}

function note(value: unknown): PageContent {
  return { kind: "note", value: limited(value) };
}

function ofMessage(message: Record<string, unknown>): PageContent {
  switch (message.role) {
    case "user":
      return { kind: "user", parts: [...partsOf(message.content), ...attachedImages(message.attachments)] };
    case "assistant": {
      const { provider, model, stopReason, errorMessage, usage, durationMs } = message;
      return {
        kind: "assistant",
        parts: partsOf(message.content),
        model: `${text(provider)}/${text(model)}`,
        ...(stopReason !== "stop" && stopReason !== "toolUse" && { stop: text(stopReason) }),
        ...(errorMessage !== undefined && { error: text(errorMessage) }),
        usage: usageOf(usage),
        ...(typeof durationMs === "number" && { durationMs }),
      };
    }
    case "toolResult": {
      const { diff } = record(message.details);
      return {
        kind: "toolResult",
        tool: text(message.toolName),
        parts: partsOf(message.content),
        failed: message.isError === true,
        ...(typeof diff === "string" && { diff }),
      };
    }
    case "bashExecution": {
      const { command, output, exitCode, cancelled, fullOutputPath, excludeFromContext } = message;
      return {
        kind: "bash",
        command: text(command),
        output: text(output),
        ...(typeof exitCode === "number" && { exitCode }),
        cancelled: cancelled === true,
        ...(typeof fullOutputPath === "string" && { log: fullOutputPath }),
        kept: excludeFromContext !== true,
      };
    }
    case "custom": {
      const { customType, content, display } = message;
      return { kind: "custom", customType: text(customType), parts: partsOf(content), hidden: display === false };
    }
    case "branchSummary":
      return { kind: "branchSummary", summary: text(message.summary) };
    case "compactionSummary": {
      const { tokensBefore } = message;
      const tokens = typeof tokensBefore === "number" ? { tokensBefore } : {};
      return { kind: "compaction", summary: text(message.summary), ...tokens };
    }
    default:
      return note(message.content ?? message);
  }
}

function partsOf(content: unknown): PagePart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(partOf) : [];
}

/** Older files kept images beside the text. */
function attachedImages(attachments: unknown): PagePart[] {
  const list = Array.isArray(attachments) ? attachments.map(record) : [];
  return list.flatMap(({ type, mimeType, content }) => (type === "image" ? [imagePart(mimeType, content)] : []));
}

function partOf(block: unknown): PagePart {
  const fields = record(block);
  switch (fields.type) {
    case "text":
      return { type: "text", text: text(fields.text) };
    case "thinking":
      return { type: "thinking", text: text(fields.thinking), ...(fields.redacted === true && { redacted: true }) };
    case "image":
      return imagePart(fields.mimeType, fields.data);
    case "toolCall": {
      const { name, arguments: args, incompleteArguments: incomplete } = fields;
      const cut = typeof incomplete === "string" ? { incomplete } : {};
      return { type: "call", name: text(name), arguments: limited(args ?? {}), ...cut };
    }
    default:
      return { type: "other", value: limited(block) };
  }
}

/** What browsers draw and cannot run; SVG is a document with scripts. */
const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function imagePart(mimeType: unknown, data: unknown): PagePart {
  const isImage = typeof mimeType === "string" && imageTypes.has(mimeType) && isBase64(data);
  return isImage ? { type: "image", mimeType, data } : { type: "badImage", mimeType: text(mimeType).slice(0, 100) };
}

function isBase64(data: unknown): data is string {
  return typeof data === "string" && data.length > 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

/** Zeros for what is missing or no number. */
export function usageOf(usage: unknown): PageUsage {
  const fields = record(usage);
  const cost = record(fields.cost);
  return {
    input: number(fields.input),
    output: number(fields.output),
    cacheRead: number(fields.cacheRead),
    cacheWrite: number(fields.cacheWrite),
    cost: number(cost.total),
  };
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** "" for what is no text: a template of something else may throw. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Levels of a value that are shown; deeper ones nobody reads, and writing JSON of any depth takes a stack of any depth. */
const mostLevels = 60;

function limited(value: unknown, levels = mostLevels): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return "…";
  if (Array.isArray(value)) return value.map((inner) => limited(inner, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, limited(inner, levels - 1)]));
}
