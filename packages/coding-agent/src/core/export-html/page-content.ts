// One entry → what it says on the page. Entries come from files others may have written, so every field is looked at.

import { contextMessage } from "../../sessions/context-message.js";
import type { SessionEntry } from "../../sessions/entries.js";
import type { AgentMessage } from "../messages.js";
import type { PageContent, PagePart, PageUsage } from "./page-data.js";

/** What an entry says; undefined when its index line says it all. Never throws. */
export function pageContent(entry: SessionEntry): PageContent | undefined {
  const message = contextMessage(entry);
  if (message) return ofMessage(message);
  switch (entry.type) {
    case "model_change":
    case "thinking_level_change":
    case "label":
    case "session_info":
      return undefined;
    case "context_edit":
      return entry.replacement == null ? undefined : { kind: "note", value: entry.replacement };
    case "usage":
      return { kind: "note", value: entry.usage };
    case "custom":
      return entry.data === undefined ? undefined : { kind: "note", value: entry.data };
    case "message":
      return { kind: "note", value: (entry.message as { content?: unknown } | undefined)?.content ?? entry.message };
    default:
      return { kind: "note", value: entry };
  }
}

function ofMessage(message: AgentMessage): PageContent {
  switch (message.role) {
    case "user":
      return { kind: "user", parts: partsOf(message.content) };
    case "assistant":
      return {
        kind: "assistant",
        parts: partsOf(message.content),
        model: `${text(message.provider)}/${text(message.model)}`,
        ...(message.stopReason !== "stop" && message.stopReason !== "toolUse" && { stop: text(message.stopReason) }),
        ...(message.errorMessage !== undefined && { error: text(message.errorMessage) }),
        usage: usageOf(message.usage),
        ...(typeof message.durationMs === "number" && { durationMs: message.durationMs }),
      };
    case "toolResult": {
      const { diff } = (message.details ?? {}) as { diff?: unknown };
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
    case "custom":
      return {
        kind: "custom",
        customType: text(message.customType),
        parts: partsOf(message.content),
        hidden: message.display === false,
      };
    case "branchSummary":
      return { kind: "branchSummary", summary: text(message.summary) };
    case "compactionSummary": {
      const { tokensBefore } = message;
      const tokens = typeof tokensBefore === "number" ? { tokensBefore } : {};
      return { kind: "compaction", summary: text(message.summary), ...tokens };
    }
  }
}

function partsOf(content: unknown): PagePart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(partOf) : [];
}

function partOf(block: unknown): PagePart {
  const fields = (typeof block === "object" && block !== null ? block : {}) as Record<string, unknown>;
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
      return { type: "call", name: text(name), arguments: args ?? {}, ...cut };
    }
    default:
      return { type: "other", value: block };
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
  const fields = (usage ?? {}) as Record<string, unknown>;
  const cost = (fields.cost ?? {}) as Record<string, unknown>;
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

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
