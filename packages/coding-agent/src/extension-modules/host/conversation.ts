// Messages and session entries as extensions work with them.

import type { Message } from "@earendil-works/pi-ai";
import type { AgentMessage } from "../../core/messages.js";
import { toLlmMessage } from "../../core/to-llm.js";
import { contextEntries } from "../../sessions/context-entries.js";
import { contextMessage } from "../../sessions/context-message.js";
import { currentSessionVersion, type SessionEntry, type SessionHeader } from "../../sessions/entries.js";
import { ContextBuilder } from "../../sessions/session-context.js";
import { SessionTree } from "../../sessions/session-tree.js";

export const CURRENT_SESSION_VERSION = currentSessionVersion;

/** The messages as a model sees them: user, assistant and tool results only. */
export function convertToLlm(messages: readonly AgentMessage[]): Message[] {
  return messages.flatMap((message) => toLlmMessage(message) ?? []);
}

/** A conversation as text, for a model that is asked about it. */
export function serializeConversation(messages: readonly AgentMessage[]): string {
  return convertToLlm(messages)
    .flatMap((message) => {
      if (message.role === "user") return [`[User]: ${textOf(message.content)}`];
      if (message.role === "toolResult") return [`[Tool result]: ${textOf(message.content)}`];
      const text = textOf(message.content);
      const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [callText(block)] : []));
      return [
        ...(text ? [`[Assistant]: ${text}`] : []),
        ...(calls.length > 0 ? [`[Assistant tool calls]: ${calls.join("; ")}`] : []),
      ];
    })
    .join("\n\n");
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function callText(call: { name: string; arguments: Record<string, unknown> }): string {
  const given = Object.entries(call.arguments).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${call.name}(${given.join(", ")})`;
}

/** What a session's entries come to at a leaf; the last entry is the leaf when none is named. */
export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  _byId?: ReadonlyMap<string, SessionEntry>,
) {
  const { messages, thinkingLevel, model } = new ContextBuilder(treeOf(entries, leafId)).build();
  return { messages, thinkingLevel: thinkingLevel ?? "off", model };
}

/** The entries behind that context. */
export function buildContextEntries(entries: readonly SessionEntry[], leafId?: string | null): SessionEntry[] {
  return contextEntries(treeOf(entries, leafId).branch());
}

function treeOf(entries: readonly SessionEntry[], leafId: string | null | undefined): SessionTree {
  const tree = new SessionTree();
  for (const entry of entries) tree.add(entry);
  tree.settle();
  tree.leafId = leafId === undefined ? (entries.at(-1)?.id ?? null) : leafId;
  return tree;
}

/** The message an entry shows the model, as a list of none or one. */
export function sessionEntryToContextMessages(entry: SessionEntry): AgentMessage[] {
  const message = contextMessage(entry);
  return message ? [message] : [];
}

/** The lines of a session file that are JSON objects. */
export function parseSessionEntries(text: string): (SessionHeader | SessionEntry)[] {
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null ? [value as SessionEntry] : [];
    } catch {
      return []; // an empty or torn line
    }
  });
}

/** The last compaction among entries; null when there is none. */
export function getLatestCompactionEntry(entries: readonly SessionEntry[]) {
  return entries.findLast((entry) => entry.type === "compaction") ?? null;
}
