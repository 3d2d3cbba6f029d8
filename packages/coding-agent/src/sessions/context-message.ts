// What one entry shows the model: its message in the current form, or nothing.

import { emptyUsage, type ImageContent, type TextContent } from "@earendil-works/pi-ai";
import type { AgentMessage } from "../core/messages.js";
import type { ContextEditEntry, SessionEntry } from "./entries.js";

/** What a context edit puts in place of a message's content; null leaves the message out. */
export type ContextContent = ContextEditEntry["replacement"];

/** An entry's message stays one object, so that what others derive from it can be kept too. */
const shown = new WeakMap<SessionEntry, AgentMessage | null>();

/**
 * The message an entry adds to the context; undefined when it adds none. Entries come from files others may have
 * written: a message of a role we do not know, or without what its role needs, adds none.
 */
export function contextMessage(entry: SessionEntry): AgentMessage | undefined {
  let message = shown.get(entry);
  if (message === undefined) {
    message = toMessage(entry) ?? null;
    shown.set(entry, message);
  }
  return message ?? undefined;
}

/** The same message with other content; roles whose content is a list get a text as one text block. */
export function withContent(message: AgentMessage, content: Exclude<ContextContent, null>): AgentMessage {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      return { ...message, content: typeof content === "string" ? text(content) : content } as AgentMessage;
    case "custom":
      return { ...message, content } as AgentMessage;
    default:
      return message;
  }
}

function toMessage(entry: SessionEntry): AgentMessage | undefined {
  const timestamp = Date.parse(entry.timestamp) || 0;
  switch (entry.type) {
    case "message":
      return storedMessage(entry.message);
    case "compaction":
      return { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp };
    case "branch_summary":
      return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp };
    case "custom_message": {
      const { customType, content, display, details } = entry;
      if (!isContent(content)) return undefined;
      return { role: "custom", customType, content, display, ...(details === undefined ? {} : { details }), timestamp };
    }
    default:
      return undefined;
  }
}

function storedMessage(message: AgentMessage | undefined): AgentMessage | undefined {
  switch (message?.role) {
    case "user": {
      const { attachments, ...rest } = message;
      if (!isContent(message.content)) return undefined;
      if (typeof message.content !== "string" && !attachments) return message;
      const blocks = typeof message.content === "string" ? text(message.content) : message.content;
      return { ...rest, content: [...blocks, ...attachedImages(attachments)] };
    }
    case "assistant":
      if (!Array.isArray(message.content)) return undefined;
      return message.usage?.cost
        ? message
        : { ...message, usage: { ...emptyUsage(), ...message.usage, cost: emptyUsage().cost } };
    case "toolResult":
      return Array.isArray(message.content) ? message : undefined;
    case "custom":
      return isContent(message.content) ? message : undefined;
    case "bashExecution":
      return typeof message.command === "string" && typeof message.output === "string" ? message : undefined;
    case "branchSummary":
    case "compactionSummary":
      return typeof message.summary === "string" ? message : undefined;
    default:
      return undefined;
  }
}

function text(content: string): TextContent[] {
  return [{ type: "text", text: content }];
}

function isContent(content: unknown): boolean {
  return typeof content === "string" || Array.isArray(content);
}

/** Older files kept images beside the text. */
function attachedImages(attachments: unknown[] | undefined): ImageContent[] {
  return (attachments ?? []).flatMap((attachment) => {
    const { type, content, mimeType } = (attachment ?? {}) as Record<string, unknown>;
    const isImage = type === "image" && typeof content === "string" && typeof mimeType === "string";
    return isImage ? [{ type: "image" as const, data: content, mimeType }] : [];
  });
}
