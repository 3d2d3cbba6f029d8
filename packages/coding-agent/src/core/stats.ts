// Messages, tokens, cost and context use of the session.

import type { Model } from "@earendil-works/pi-ai";
import type { SessionStats } from "../modes/rpc/rpc-types.js";
import type { UsageSum } from "../sessions/usage-totals.js";
import type { AgentMessage } from "./messages.js";
import { contextUse, type MeasuredContext } from "./token-estimate.js";

/**
 * Totals over the whole session: assistant messages, usage that tools reported, and summaries, of every branch.
 * `total` tokens is the sum of the four kinds.
 */
export function sessionStats(
  session: { sessionFile: string | undefined; sessionId: string },
  usage: UsageSum,
  context: MeasuredContext,
  model: Model | null,
): SessionStats {
  const counts = { userMessages: 0, assistantMessages: 0, toolCalls: 0, toolResults: 0 };
  for (const message of context.messages) {
    if (message.role === "user") counts.userMessages += 1;
    else if (message.role === "toolResult") counts.toolResults += 1;
    else if (message.role === "assistant") {
      counts.assistantMessages += 1;
      counts.toolCalls += message.content.filter(({ type }) => type === "toolCall").length;
    }
  }
  const { cost, ...tokens } = usage;
  const contextUsage = contextUse(context, model);
  return {
    ...(session.sessionFile && { sessionFile: session.sessionFile }),
    sessionId: session.sessionId,
    ...counts,
    totalMessages: context.messages.length,
    tokens: { ...tokens, total: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite },
    cost,
    ...(contextUsage && { contextUsage }),
  };
}

/** The text of the latest answer that has one; null when there is none. */
export function lastAssistantText(messages: readonly AgentMessage[]): string | null {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.role !== "assistant") continue;
    const texts = message.content.filter((block) => block.type === "text").map(({ text }) => text);
    if (texts.length > 0) return texts.join("");
  }
  return null;
}
