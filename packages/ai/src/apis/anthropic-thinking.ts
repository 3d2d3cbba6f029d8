// Plans how an Anthropic model is asked to think, and how many tokens that leaves for the answer.

import type { Model, StreamOptions, ThinkingLevel } from "../types.js";

/** Differences from the Anthropic API that a model's `compat` can name; absent means as Anthropic itself. */
export interface AnthropicCompat {
  supportsEagerToolInputStreaming?: boolean;
  supportsLongCacheRetention?: boolean;
  sendSessionAffinityHeaders?: boolean;
  sessionAffinityFormat?: string;
  supportsCacheControlOnTools?: boolean;
  supportsTemperature?: boolean;
  forceAdaptiveThinking?: boolean;
  allowEmptySignature?: boolean;
  supportsStrictTools?: boolean;
}

/** The request fields that thinking decides about; an absent one is not sent. */
export interface ThinkingPlan {
  /** Thinking and answer together, in tokens. */
  maxTokens: number;
  thinking?: { type: "enabled" | "adaptive" | "disabled"; budget_tokens?: number; display?: "summarized" };
  effort?: string;
}

/** Thinking budget by level, in tokens. The API has nothing above `high` but larger budgets, which callers can give. */
export const thinkingBudgets: Readonly<Record<Exclude<ThinkingLevel, "off">, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 16_384,
  max: 16_384,
};

/** Effort by level, where the model's map names none. */
const efforts: Readonly<Record<Exclude<ThinkingLevel, "off">, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

/** The smallest budget the API takes, and the least that must be left for the answer. */
const smallestBudget = 1024;

/** What to ask a model for at the level of the options. */
export function planThinking(model: Model, options: StreamOptions): ThinkingPlan {
  const maxTokens = options.maxTokens ?? model.maxTokens;
  const level = options.thinkingLevel;
  if (!model.reasoning || level === undefined) return { maxTokens };
  if (level === "off") {
    // Some models cannot stop thinking and refuse to be asked.
    if (model.thinkingLevelMap?.off === null) return { maxTokens };
    return { maxTokens, thinking: { type: "disabled" } };
  }
  // Without `display` newer models keep their thinking to themselves.
  if (model.compat?.forceAdaptiveThinking === true) {
    const effort = model.thinkingLevelMap?.[level] ?? efforts[level];
    return { maxTokens, thinking: { type: "adaptive", display: "summarized" }, effort };
  }
  const wanted = options.thinkingBudgets?.[level] ?? thinkingBudgets[level];
  const budget = Math.min(wanted, maxTokens - smallestBudget);
  if (budget < smallestBudget) return { maxTokens, thinking: { type: "disabled" } };
  return { maxTokens, thinking: { type: "enabled", budget_tokens: budget, display: "summarized" } };
}
