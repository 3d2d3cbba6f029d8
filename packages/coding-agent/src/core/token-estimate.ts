// How large a context is: what the last answer reported, and an estimate for what came after it.

import type { Model, Usage } from "@earendil-works/pi-ai";
import type { SessionStats } from "../modes/rpc/rpc-types.js";
import type { AgentMessage } from "./messages.js";

/** Messages in the context's order; answers before `freshFrom` were given before the latest compaction. */
export interface MeasuredContext {
  messages: readonly AgentMessage[];
  freshFrom: number;
}

/** The size in tokens: the last fresh report plus estimates, or estimates alone. */
export function contextTokens({ messages, freshFrom }: MeasuredContext): number {
  const { reported, estimated } = measure(messages, freshFrom);
  return (reported ?? 0) + estimated;
}

/**
 * The context's use of the model's window; tokens and percent are null after a compaction until an answer reports again.
 * Nothing without a model.
 */
export function contextUse(
  { messages, freshFrom }: MeasuredContext,
  model: Model | null,
): SessionStats["contextUsage"] {
  if (!model?.contextWindow) return undefined;
  const { contextWindow } = model;
  const { reported, estimated } = measure(messages, freshFrom);
  if (reported === undefined && freshFrom > 0) return { tokens: null, contextWindow, percent: null };
  const tokens = (reported ?? 0) + estimated;
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

function measure(messages: readonly AgentMessage[], freshFrom: number): { reported?: number; estimated: number } {
  let estimated = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as AgentMessage;
    if (at >= freshFrom && message.role === "assistant" && isReport(message.usage, message.stopReason))
      return { reported: message.usage.totalTokens, estimated };
    estimated += estimateTokens(message);
  }
  return { estimated };
}

function isReport(usage: Usage | undefined, stopReason: string): usage is Usage {
  return (usage?.totalTokens ?? 0) > 0 && !usage?.estimated && stopReason !== "aborted" && stopReason !== "error";
}

/** Characters / 4; an image counts as 1,200 tokens, its usual order of size with the large providers. */
export function estimateTokens(message: AgentMessage): number {
  return Math.ceil(characters(message) / 4);
}

const imageCharacters = 4800;

function characters(message: AgentMessage): number {
  switch (message.role) {
    case "bashExecution":
      return message.excludeFromContext ? 0 : message.command.length + message.output.length;
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length;
    case "assistant":
      // Failed answers are never sent again.
      if (message.stopReason === "error" || message.stopReason === "aborted") return 0;
      return contentCharacters(message.content);
    default:
      return contentCharacters((message as { content?: unknown }).content);
  }
}

function contentCharacters(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let sum = 0;
  for (const block of content) {
    if (block.type === "text") sum += block.text.length;
    else if (block.type === "thinking") sum += block.thinking.length;
    else if (block.type === "image") sum += imageCharacters;
    else if (block.type === "toolCall") sum += block.name.length + JSON.stringify(block.arguments).length;
  }
  return sum;
}
