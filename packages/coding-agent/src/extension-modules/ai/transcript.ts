// System messages in a transcript: the prompt and the tools as some programs keep them, and as a model call takes them.

import type { Context, Message, Tool } from "@earendil-works/pi-ai";

/** Sets or changes the prompt and the tools from its place on; a section that is null is taken out. */
export interface SystemMessage {
  role: "system";
  content: string;
  sections?: Record<string, string | null>;
  toolsAdded?: Tool[];
  toolsRemoved?: { name: string }[];
  timestamp: number;
}

export type TranscriptMessage = Message | SystemMessage;

/** A context in either form. */
export interface TranscriptContext {
  systemPrompt?: string;
  messages: readonly TranscriptMessage[];
  tools?: readonly Tool[];
}

/** The context with its prompt and tools as a first system message. */
export function normalizeContext({ systemPrompt, messages, tools }: TranscriptContext) {
  const [first] = messages;
  if (first?.role === "system" || (systemPrompt === undefined && !tools?.length)) return { messages: [...messages] };
  return { messages: [createInitialSystemMessage(systemPrompt ?? "", tools ?? []), ...messages] };
}

export function createInitialSystemMessage(systemPrompt: string, tools: readonly Tool[] = []): SystemMessage {
  return {
    role: "system",
    content: systemPrompt,
    toolsAdded: tools.map((tool) => toToolDeclaration(tool)),
    timestamp: 0,
  };
}

/** The context with all of its system messages folded into the first. */
export function collapseSystemMessages(context: TranscriptContext) {
  const { messages, systemPrompt, tools } = toModelContext(context);
  return normalizeContext({ messages, systemPrompt, tools });
}

/** The context as a model call takes it: no system messages, the prompt and the tools beside the conversation. */
export function toModelContext(context: TranscriptContext): Context {
  const messages = context.messages.filter((message): message is Message => message.role !== "system");
  if (messages.length === context.messages.length) return context as Context;
  return {
    systemPrompt: getCurrentSystemPrompt(context.messages),
    messages,
    tools: getCurrentTools(context.messages),
  };
}

/** The prompt in force at the end: the text of the last full one, then all sections, in the order they first came. */
export function getCurrentSystemPrompt(messages: readonly TranscriptMessage[]): string {
  let content = "";
  const sections = new Map<string, string | null>();
  for (const message of messages) {
    if (message.role !== "system") continue;
    if (message.content) content = message.content;
    for (const [name, text] of Object.entries(message.sections ?? {})) sections.set(name, text);
  }
  return [content, ...[...sections.values()].filter((text) => text !== null)].filter(Boolean).join("\n\n");
}

/** The tools declared and not taken back, in the order they came. */
export function getCurrentTools(messages: readonly TranscriptMessage[]): Tool[] {
  const tools = new Map<string, Tool>();
  for (const message of messages) {
    if (message.role !== "system") continue;
    for (const { name } of message.toolsRemoved ?? []) tools.delete(name);
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/** The prompt and tools in force as one message; undefined when there is no system message. */
export function getCurrentSystemMessage(messages: readonly TranscriptMessage[]): SystemMessage | undefined {
  if (!messages.some(({ role }) => role === "system")) return undefined;
  return createInitialSystemMessage(getCurrentSystemPrompt(messages), getCurrentTools(messages));
}

/** What a model is told of a tool. */
export function toToolDeclaration({ name, description, parameters }: Tool): Tool {
  return { name, description, parameters };
}

/** The text of a message's content, blocks one below the other. */
export function contentText(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
