// Makes a Bedrock Converse body for a call: limits, thinking by family of models, and points of caching.

import type { JSONObject, LanguageModelV3CallOptions } from "@ai-sdk/provider";
import type { DialectCall, JsonBody } from "../language-model/dialect.js";
import type { Model } from "../types.js";
import { planThinking } from "./anthropic-thinking.js";
import { type BedrockMessage, converseMessages, converseTools, systemBlocks } from "./bedrock-messages.js";

export function isClaude({ id }: Pick<Model, "id">): boolean {
  return id.includes("anthropic.claude");
}

export function converseBody(call: DialectCall, { prompt, tools }: LanguageModelV3CallOptions): JsonBody {
  const { model, options } = call;
  const thinking = thinkingOf(call);
  const system = systemBlocks(prompt);
  const messages = converseMessages(prompt);
  const toolList = converseTools(tools, prompt, model.compat?.supportsStrictMode === true);
  const point = cachePoint(call);
  if (point) markCache(model, point, system, messages, toolList);
  return {
    ...(system.length > 0 && { system }),
    messages,
    inferenceConfig: {
      maxTokens: options.maxTokens ?? model.maxTokens,
      // Claude refuses a temperature while thinking.
      ...(options.temperature !== undefined && !thinking.thinks && { temperature: options.temperature }),
    },
    ...(toolList.length > 0 && { toolConfig: { tools: toolList } }),
    ...(thinking.fields && { additionalModelRequestFields: thinking.fields }),
  };
}

interface Thinking {
  /** Claude thinks. */
  thinks: boolean;
  /** The fields of the model's own API that ask for it. */
  fields?: JSONObject;
}

function thinkingOf({ model, options }: DialectCall): Thinking {
  const level = options.thinkingLevel;
  if (!model.reasoning || level === undefined) return { thinks: false };
  const map = model.thinkingLevelMap;
  if (isClaude(model)) {
    // Models that know more than `high` take an effort, older ones a budget.
    const adaptive = typeof map?.xhigh === "string" || typeof map?.max === "string";
    const compat = { forceAdaptiveThinking: adaptive, ...model.compat };
    const { thinking, effort } = planThinking({ ...model, compat }, options);
    if (!thinking) return { thinks: false };
    const beta = thinking.type === "enabled" ? { anthropic_beta: ["interleaved-thinking-2025-05-14"] } : {};
    const fields: JSONObject = { thinking: { ...thinking }, ...(effort && { output_config: { effort } }), ...beta };
    return { thinks: thinking.type !== "disabled", fields };
  }
  const effort = map?.[level] ?? (level === "off" ? undefined : level);
  if (map?.[level] === null || effort === undefined) return { thinks: false };
  const fields = effortFields(model.id, effort);
  return { thinks: false, ...(fields && { fields }) };
}

/** Other families have fields of their own; one that is not known here thinks as it likes. */
function effortFields(id: string, effort: string): JSONObject | undefined {
  if (id.includes("openai.gpt-oss")) return { reasoning_effort: effort };
  if (id.includes("openai.")) return { reasoning: { effort } };
  if (id.includes("amazon.nova-2")) {
    const named = effort === "low" || effort === "medium" || effort === "high" ? effort : "low";
    return { reasoningConfig: { type: "enabled", maxReasoningEffort: named } };
  }
  return undefined;
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html: families that want their cache marked. */
function cachePoint({ model, options }: DialectCall): JSONObject | undefined {
  if (options.cacheRetention === "none") return undefined;
  const isNova = model.id.includes("amazon.nova") && model.cost.cacheRead > 0;
  if (!isNova && (!isClaude(model) || /claude-(?:v2|instant|3-(?:opus|sonnet|haiku|5-sonnet-20240620))/.test(model.id)))
    return undefined;
  const keepsLong = isClaude(model) && !/claude-(?:3|(?:opus|sonnet)-4-(?:1-)?2025)/.test(model.id);
  const long = options.cacheRetention === "long" && keepsLong;
  return { cachePoint: { type: "default", ...(long && { ttl: "1h" }) } };
}

/** Up to the system prompt, the tools, and the newest message of the user. */
function markCache(
  model: Model,
  point: JSONObject,
  system: JSONObject[],
  messages: BedrockMessage[],
  tools: JSONObject[],
): void {
  if (system.length > 0) system.push(point);
  // Nova has no points among tools.
  if (tools.length > 0 && isClaude(model)) tools.push(point);
  messages.findLast(({ role }) => role === "user")?.content.push(point);
}
