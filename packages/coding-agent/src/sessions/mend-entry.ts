// Makes an entry that another program wrote badly fit to work with, in memory: what cannot be understood is left out.

import type { RawEntry } from "./migrate.js";

/** Changes the entry in place. Returns what was wrong with it, as in `has a message without a role`; usually undefined. */
export function mendEntry(entry: RawEntry): string | undefined {
  switch (entry.type) {
    case "message":
      return mendMessage(entry);
    case "custom_message":
      return mendContent(entry, "string or list");
    case "compaction":
    case "branch_summary":
      return typeof entry.summary === "string" ? undefined : setAside(entry, "has no summary");
    case "context_edit":
      if (entry.replacement === null) return undefined;
      if (typeof entry.replacement !== "string" && !Array.isArray(entry.replacement))
        return setAside(entry, "has a replacement that is neither text nor a list");
      return mendField(entry, "replacement");
    case "model_change":
      if (typeof entry.provider === "string" && typeof entry.modelId === "string") return undefined;
      return setAside(entry, "names no model");
    case "thinking_level_change":
      return typeof entry.thinkingLevel === "string" ? undefined : setAside(entry, "names no thinking level");
    default:
      return undefined;
  }
}

/** As an entry of an unknown type it keeps its place in the tree and does nothing. */
function setAside(entry: RawEntry, reason: string): string {
  entry.type = "unreadable";
  return reason;
}

function mendMessage(entry: RawEntry): string | undefined {
  const message = entry.message;
  if (!isObject(message) || typeof message.role !== "string") return setAside(entry, "has a message without a role");
  switch (message.role) {
    case "user":
    case "custom":
      return mendContent(message, "string or list");
    case "toolResult":
      if (typeof message.toolCallId !== "string") return setAside(entry, "has a tool result without a call");
      return mendContent(message, "list");
    case "assistant":
      return mendContent(message, "list");
    case "bashExecution":
      if (typeof message.command === "string" && typeof message.output === "string") return undefined;
      return setAside(entry, "has a shell command without its text");
    default:
      return undefined;
  }
}

/** Content that is none becomes an empty list; a text where only a list may be becomes a list. */
function mendContent(holder: RawEntry, allowed: "list" | "string or list"): string | undefined {
  const { content } = holder;
  if (typeof content === "string") {
    if (allowed === "list") holder.content = [{ type: "text", text: content }];
    return undefined;
  }
  if (Array.isArray(content)) return mendField(holder, "content");
  holder.content = [];
  return "has no content";
}

/** Leaves out the blocks of a list that are none. */
function mendField(holder: RawEntry, field: string): string | undefined {
  const blocks = holder[field];
  if (!Array.isArray(blocks)) return undefined;
  const whole = blocks.filter(isBlock);
  if (whole.length === blocks.length) return undefined;
  holder[field] = whole;
  return `has ${field} with blocks that are none, which are left out`;
}

/** The string fields each type of block needs. */
const blockFields: Record<string, readonly string[]> = {
  text: ["text"],
  thinking: ["thinking"],
  image: ["data", "mimeType"],
  toolCall: ["id", "name"],
};

function isBlock(block: unknown): boolean {
  if (!isObject(block) || typeof block.type !== "string") return false;
  if (block.type === "toolCall" && !isObject(block.arguments)) return false;
  const fields = Object.hasOwn(blockFields, block.type) ? (blockFields[block.type] ?? []) : [];
  return fields.every((field) => typeof block[field] === "string");
}

function isObject(value: unknown): value is RawEntry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
