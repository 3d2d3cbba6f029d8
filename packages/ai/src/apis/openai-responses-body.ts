// Makes a Responses body for a call: limits, reasoning, caching, sampling.

import type { JSONObject, LanguageModelV3CallOptions, LanguageModelV3Prompt } from "@ai-sdk/provider";
import type { DialectCall, JsonBody } from "../language-model/dialect.js";
import type { Model, ThinkingLevel } from "../types.js";
import { type ResponsesCompat, responsesCompat } from "./openai-responses-compat.js";
import { inputItems, responsesTools } from "./openai-responses-input.js";

/** The API refuses a smaller limit. */
const smallestLimit = 16;

/** `modelId` is the name the server knows the model by. */
export function responsesBody(
  { model, options }: DialectCall,
  modelId: string,
  { prompt, tools }: LanguageModelV3CallOptions,
): JsonBody {
  const compat = responsesCompat(model);
  const effort = effortOf(model, options.thinkingLevel, compat);
  const plan: EffortPlan = compat.supportsMidConvoEffort
    ? planChanges(model, prompt, effort, compat)
    : { effort, changes: new Map() };
  const role = model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
  return {
    model: modelId,
    input: [
      ...prompt.flatMap((message, at) => [...changeItem(plan.changes.get(at)), ...inputItems(message, role)]),
      ...changeItem(plan.changes.get(prompt.length)),
    ],
    stream: true,
    // Conversations are not kept on the server, so reasoning has to come along to go back.
    store: false,
    ...(model.reasoning && { include: ["reasoning.encrypted_content"] }),
    ...(compat.supportsMaxOutputTokens && {
      max_output_tokens: Math.max(smallestLimit, options.maxTokens ?? model.maxTokens),
    }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    tools: responsesTools(tools, compat.supportsStrictMode),
    ...reasoningField(model, options.thinkingLevel, plan.effort),
    ...cacheFields({ compat, options }),
    ...model.samplingParams,
    ...(options.thinkingLevel && model.samplingParamsByThinkingLevel?.[options.thinkingLevel]),
  };
}

/** The server's word for a level; undefined when nothing is to be said. */
function effortOf(model: Model, level: ThinkingLevel | undefined, compat: ResponsesCompat): string | undefined {
  if (!model.reasoning || level === undefined || !compat.supportsReasoningEffort) return undefined;
  const mapped = model.thinkingLevelMap?.[level];
  return mapped === null ? undefined : (mapped ?? (level === "off" ? "none" : level));
}

function reasoningField(model: Model, level: ThinkingLevel | undefined, effort: string | undefined): JsonBody {
  if (!model.reasoning || level === undefined) return {};
  const summary = level === "off" ? {} : { summary: "auto" };
  const reasoning = { ...(effort !== undefined && { effort }), ...summary };
  return Object.keys(reasoning).length > 0 ? { reasoning } : {};
}

function cacheFields({ compat, options }: { compat: ResponsesCompat; options: DialectCall["options"] }): JsonBody {
  if (options.cacheRetention === "none") return {};
  const named = options.sessionId !== undefined && compat.promptCacheKeyMode !== "disabled";
  const long = options.cacheRetention === "long" && compat.supportsLongCacheRetention;
  // 64 characters are the API's limit; the two ways to keep a prompt longer exclude each other by model.
  return {
    ...(named && { prompt_cache_key: options.sessionId?.slice(0, 64) }),
    ...(long &&
      (compat.supportsExplicitPromptCacheMode
        ? { prompt_cache_options: { ttl: "30m" } }
        : { prompt_cache_retention: "24h" })),
  };
}

/** What a request says of effort: once for all of it, and before which messages it changes, by their place. */
interface EffortPlan {
  effort: string | undefined;
  changes: ReadonlyMap<number, string>;
}

/**
 * The request's effort stays the one of the first answer; every change is an item right before the user's turn that it
 * is for, or before the answer when it came in the middle of a turn. So the beginning of the conversation never changes.
 */
function planChanges(
  model: Model,
  prompt: LanguageModelV3Prompt,
  current: string | undefined,
  compat: ResponsesCompat,
): EffortPlan {
  const efforts = prompt.map(({ role, providerOptions }) => {
    const level = providerOptions?.wire?.thinkingLevel as ThinkingLevel | undefined;
    return role === "assistant" ? effortOf(model, level, compat) : undefined;
  });
  const baseline = efforts.find((effort) => effort !== undefined) ?? current;
  const changes = new Map<number, string>();
  let inForce = baseline;
  for (const [at, effort] of [...efforts, current].entries()) {
    if (effort === undefined || effort === inForce) continue;
    let place = at;
    while (prompt[place - 1]?.role === "user") place -= 1;
    changes.set(place, effort);
    inForce = effort;
  }
  return { effort: baseline, changes };
}

function changeItem(effort: string | undefined): JSONObject[] {
  return effort === undefined ? [] : [{ type: "configuration_update", reasoning: { effort } }];
}
