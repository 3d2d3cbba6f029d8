// Messages as the tests of the core write them down.

import { type AssistantMessage, emptyUsage, type UserMessage } from "@earendil-works/pi-ai";
import type { AgentMessage } from "../../src/core/messages.js";

export function user(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

export function assistant(text: string, facts: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content: text ? [{ type: "text", text }] : [],
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: emptyUsage(),
    stopReason: "stop",
    timestamp: 0,
    ...facts,
  };
}

/** The text of a message; calls by name, other blocks by type. */
export function textOf(message: AgentMessage): string {
  if (message.role === "bashExecution") return `$ ${message.command}`;
  const { content } = message as { content: string | readonly { type: string; text?: string; name?: string }[] };
  if (typeof content === "string") return content;
  return content.map(({ type, text, name }) => text ?? (name ? `${name}()` : type)).join("");
}
