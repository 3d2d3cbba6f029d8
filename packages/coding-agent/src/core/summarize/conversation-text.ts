// A conversation as text for the model that summarises it: one paragraph a message, long tool results clipped.

import { wholeCharacters } from "@earendil-works/pi-ai";
import type { AgentMessage } from "../messages.js";
import { toLlmMessage } from "../to-llm.js";

/** Characters of a tool result that a summary request shows: enough to know what happened. */
const resultCharacters = 2000;

/** One paragraph for each message a model would see, in order. */
export function conversationParagraphs(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) => {
    const text = paragraph(message);
    return text ? [text] : [];
  });
}

function paragraph(message: AgentMessage): string | undefined {
  const visible = toLlmMessage(message);
  if (!visible) return undefined;
  if (visible.role === "user") return `[User]: ${contentText(visible.content)}`;
  if (visible.role === "toolResult") {
    const text = clipped(contentText(visible.content));
    return `[Result of ${visible.toolName}${visible.isError ? ", failed" : ""}]: ${text}`;
  }
  const parts = visible.content.flatMap((block) => {
    if (block.type === "text") return block.text.trim() ? [`[Agent]: ${block.text}`] : [];
    if (block.type === "toolCall") return [`[Agent calls ${block.name}]: ${clipped(JSON.stringify(block.arguments))}`];
    return []; // thinking led to what was said and done
  });
  return parts.join("\n");
}

function contentText(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "(an image)")).join("\n");
}

function clipped(text: string): string {
  if (text.length <= resultCharacters) return text;
  const beginning = wholeCharacters(text.slice(0, resultCharacters));
  return `${beginning}\n(${text.length - beginning.length} more characters)`;
}
