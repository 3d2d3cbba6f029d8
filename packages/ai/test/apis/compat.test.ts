// Every documented difference between servers of one API changes the request as documented.

import { describe, expect, test } from "vitest";
import type { Context, StreamOptions } from "../../src/index.js";
import { answer as answered, conversation, result, tools, user } from "../conversations.js";
import { question } from "../fixtures.js";
import { type Requests, requestsOf, type Sent } from "../requests.js";

/** One flag: what of a request it decides about, and what that is with each of its values; undefined is the default. */
interface Row {
  flag: string;
  /** Other flags that have to be set for this one to matter. */
  with?: Record<string, unknown>;
  options?: StreamOptions;
  context?: Context;
  see: (sent: Sent) => unknown;
  values: readonly (readonly [value: unknown, expected: unknown])[];
}

type Body = Record<string, unknown>;
const field = (name: string) => (sent: Sent) => sent.body[name];
const header = (name: string) => (sent: Sent) => sent.headers[name];
const messages = (sent: Sent) => sent.body.messages as Body[];
const firstTool = (sent: Sent) => (sent.body.tools as Body[])[0];
const marks = (sent: Sent) => JSON.stringify(sent.body).match(/"cache_control":\{[^}]*\}/g) ?? [];
const withTools: Context = { ...question, systemPrompt: "Be kind", tools };
const strict: Context = { ...withTools, tools: [{ ...tools[0]!, constrainedSampling: { type: "json_schema" } }] };
const session: StreamOptions = { sessionId: "s" };
const long: StreamOptions = { ...session, cacheRetention: "long" };
const low: StreamOptions = { thinkingLevel: "low" };
const short = '"cache_control":{"type":"ephemeral"}';
const hour = '"cache_control":{"type":"ephemeral","ttl":"1h"}';

const callOnly = (api: string): Context => ({
  tools,
  messages: [
    user("Go"),
    answered(api, [{ type: "toolCall", id: "call_1", name: "read", arguments: {} }]),
    result("call_1", "here"),
    user("And?"),
  ],
});

const chatApi = "openai-completions";
const thought = conversation(chatApi, { thinking: "reasoning_content" });
const untooled: Context = { messages: callOnly(chatApi).messages };
const affinity = ({ headers }: Sent) =>
  ["session_id", "x-client-request-id", "x-session-affinity", "x-session-id"].filter((name) => headers[name]);
const template = { enabled: { $var: "thinking.enabled" }, effort: { $var: "thinking.effort" }, fixed: 1 };

const chat: Row[] = [
  {
    flag: "supportsStore",
    see: field("store"),
    values: [
      [undefined, false],
      [false, undefined],
    ],
  },
  {
    flag: "supportsDeveloperRole",
    context: withTools,
    see: (sent) => messages(sent)[0]?.role,
    values: [
      [undefined, "system"],
      [true, "developer"],
    ],
  },
  {
    flag: "supportsReasoningEffort",
    options: low,
    see: field("reasoning_effort"),
    values: [
      [undefined, "low"],
      [false, undefined],
    ],
  },
  {
    flag: "supportsUsageInStreaming",
    see: field("stream_options"),
    values: [
      [undefined, { include_usage: true }],
      [false, undefined],
    ],
  },
  {
    flag: "maxTokensField",
    see: ({ body }) => [body.max_completion_tokens, body.max_tokens],
    values: [
      [undefined, [32_000, undefined]],
      ["max_tokens", [undefined, 32_000]],
    ],
  },
  {
    flag: "requiresToolResultName",
    context: callOnly(chatApi),
    see: (sent) => messages(sent)[2]?.name,
    values: [
      [undefined, undefined],
      [true, "read"],
    ],
  },
  {
    flag: "requiresAssistantAfterToolResult",
    context: callOnly(chatApi),
    see: (sent) =>
      messages(sent)
        .map(({ role }) => role)
        .slice(2),
    values: [
      [undefined, ["tool", "user"]],
      [true, ["tool", "assistant", "user"]],
    ],
  },
  {
    flag: "requiresNonNullAssistantContent",
    context: callOnly(chatApi),
    see: (sent) => messages(sent)[1]?.content,
    values: [
      [undefined, null],
      [true, ""],
    ],
  },
  {
    flag: "requiresToolsWithToolHistory",
    context: untooled,
    see: field("tools"),
    values: [
      [undefined, undefined],
      [true, []],
    ],
  },
  {
    flag: "requiresThinkingAsText",
    context: thought,
    see: (sent) => messages(sent)[2]?.content,
    values: [
      [undefined, "Reading"],
      [true, "<thinking>\nplan\n</thinking>Reading"],
    ],
  },
  {
    flag: "requiresReasoningContentOnAssistantMessages",
    context: callOnly(chatApi),
    options: low,
    see: (sent) => messages(sent)[1]?.reasoning_content,
    values: [
      [undefined, undefined],
      [true, ""],
    ],
  },
  {
    flag: "thinkingFormat",
    options: low,
    see: ({ body }) => [body.reasoning_effort, body.reasoning, body.thinking, body.enable_thinking],
    values: [
      [undefined, ["low", undefined, undefined, undefined]],
      ["openrouter", [undefined, { effort: "low" }, undefined, undefined]],
      ["deepseek", ["low", undefined, { type: "enabled" }, undefined]],
      ["together", ["low", { enabled: true }, undefined, undefined]],
      ["zai", ["low", undefined, { type: "enabled", clear_thinking: false }, undefined]],
      ["qwen", ["low", undefined, undefined, true]],
      ["string-thinking", [undefined, undefined, "low", undefined]],
      ["ant-ling", [undefined, { effort: "low" }, undefined, undefined]],
    ],
  },
  {
    flag: "chatTemplateKwargs",
    with: { thinkingFormat: "chat-template" },
    options: low,
    see: field("chat_template_kwargs"),
    values: [
      [undefined, undefined],
      [template, { enabled: true, effort: "low", fixed: 1 }],
    ],
  },
  {
    flag: "chatTemplateArgs",
    with: { thinkingFormat: "baseten" },
    options: low,
    see: field("chat_template_args"),
    values: [
      [undefined, undefined],
      [template, { enabled: true, effort: "low", fixed: 1 }],
    ],
  },
  {
    flag: "openRouterRouting",
    see: field("provider"),
    values: [
      [undefined, undefined],
      [{ only: ["x"] }, { only: ["x"] }],
    ],
  },
  {
    flag: "vercelGatewayRouting",
    see: field("providerOptions"),
    values: [
      [undefined, undefined],
      [{ order: ["x"] }, { gateway: { order: ["x"] } }],
    ],
  },
  {
    flag: "zaiToolStream",
    context: withTools,
    see: field("tool_stream"),
    values: [
      [undefined, undefined],
      [true, true],
    ],
  },
  {
    flag: "thinkingTokenBudgetField",
    options: low,
    see: field("thinking_budget"),
    values: [
      [undefined, undefined],
      ["thinking_budget", 2048],
    ],
  },
  {
    flag: "supportsThinkingTokenBudget",
    options: low,
    see: field("thinking_token_budget"),
    values: [
      [undefined, undefined],
      [true, 2048],
    ],
  },
  {
    flag: "supportsStrictMode",
    context: strict,
    see: (sent) => (firstTool(sent)!.function as Body).strict,
    values: [
      [undefined, undefined],
      [true, true],
    ],
  },
  {
    flag: "cacheControlFormat",
    context: withTools,
    see: marks,
    values: [
      [undefined, []],
      ["anthropic", [short, short, short]],
    ],
  },
  {
    flag: "sendSessionAffinityHeaders",
    options: session,
    see: affinity,
    values: [
      [undefined, []],
      [true, ["session_id", "x-client-request-id", "x-session-affinity"]],
    ],
  },
  {
    flag: "sessionAffinityFormat",
    with: { sendSessionAffinityHeaders: true },
    options: session,
    see: affinity,
    values: [
      ["openai-nosession", ["x-client-request-id", "x-session-affinity"]],
      ["openrouter", ["x-session-id"]],
    ],
  },
  {
    flag: "promptCacheKeyMode",
    options: session,
    see: field("prompt_cache_key"),
    values: [
      [undefined, undefined],
      ["enabled", "s"],
      ["disabled", undefined],
    ],
  },
  {
    flag: "supportsLongCacheRetention",
    options: long,
    see: ({ body }) => [body.prompt_cache_key, body.prompt_cache_retention],
    values: [
      [undefined, ["s", "24h"]],
      [false, [undefined, undefined]],
    ],
  },
  {
    flag: "vllmPriority",
    see: field("priority"),
    values: [
      [undefined, undefined],
      [-1, -1],
    ],
  },
];

const responses: Row[] = [
  {
    flag: "supportsDeveloperRole",
    context: withTools,
    see: ({ body }) => (body.input as Body[])[0]?.role,
    values: [
      [undefined, "developer"],
      [false, "system"],
    ],
  },
  {
    flag: "sessionAffinityFormat",
    options: session,
    see: ({ headers }) => ["session-id", "x-client-request-id", "x-session-id"].filter((name) => headers[name]),
    values: [
      [undefined, ["session-id", "x-client-request-id"]],
      ["openai-nosession", ["x-client-request-id"]],
      ["openrouter", ["x-session-id"]],
    ],
  },
  {
    flag: "promptCacheKeyMode",
    options: session,
    see: field("prompt_cache_key"),
    values: [
      [undefined, "s"],
      ["enabled", "s"],
      ["disabled", undefined],
    ],
  },
  {
    flag: "supportsLongCacheRetention",
    options: long,
    see: field("prompt_cache_retention"),
    values: [
      [undefined, "24h"],
      [false, undefined],
    ],
  },
  {
    flag: "supportsExplicitPromptCacheMode",
    options: long,
    see: ({ body }) => [body.prompt_cache_options, body.prompt_cache_retention],
    values: [
      [undefined, [undefined, "24h"]],
      [true, [{ ttl: "30m" }, undefined]],
    ],
  },
  {
    flag: "supportsStrictMode",
    context: strict,
    see: (sent) => firstTool(sent)?.strict,
    values: [
      [undefined, undefined],
      [true, true],
    ],
  },
  {
    flag: "supportsMidConvoEffort",
    options: { thinkingLevel: "high" },
    context: { messages: [user("1"), answered("openai-responses", [{ type: "text", text: "2" }], low), user("3")] },
    see: ({ body }) => [(body.reasoning as Body).effort, (body.input as Body[]).map(({ role, type }) => type ?? role)],
    values: [
      [undefined, ["high", ["user", "assistant", "user"]]],
      [true, ["low", ["user", "assistant", "configuration_update", "user"]]],
    ],
  },
  {
    flag: "supportsMaxOutputTokens",
    see: field("max_output_tokens"),
    values: [
      [undefined, 32_000],
      [false, undefined],
    ],
  },
];

const anthropicApi = "anthropic-messages";
const unsigned: Context = {
  messages: [user("Go"), answered(anthropicApi, [{ type: "thinking", thinking: "plan" }]), user("More")],
};
const anthropic: Row[] = [
  {
    flag: "supportsEagerToolInputStreaming",
    context: withTools,
    see: (sent) => [firstTool(sent)?.eager_input_streaming, sent.headers["anthropic-beta"]],
    values: [
      [undefined, [true, undefined]],
      [false, [undefined, "fine-grained-tool-streaming-2025-05-14"]],
    ],
  },
  {
    flag: "supportsLongCacheRetention",
    context: withTools,
    options: long,
    see: marks,
    values: [
      [undefined, [hour, hour, hour]],
      [false, [short, short, short]],
    ],
  },
  {
    flag: "sendSessionAffinityHeaders",
    options: session,
    see: header("x-session-affinity"),
    values: [
      [undefined, undefined],
      [true, "s"],
    ],
  },
  {
    flag: "sessionAffinityFormat",
    with: { sendSessionAffinityHeaders: true },
    options: session,
    see: header("x-session-id"),
    values: [
      [undefined, undefined],
      ["openrouter", "s"],
    ],
  },
  {
    flag: "supportsCacheControlOnTools",
    context: withTools,
    see: (sent) => firstTool(sent)?.cache_control,
    values: [
      [undefined, { type: "ephemeral" }],
      [false, undefined],
    ],
  },
  {
    flag: "supportsTemperature",
    options: { temperature: 0.5 },
    see: field("temperature"),
    values: [
      [undefined, 0.5],
      [false, undefined],
    ],
  },
  {
    flag: "forceAdaptiveThinking",
    options: low,
    see: ({ body }) => [(body.thinking as Body).type, body.output_config],
    values: [
      [undefined, ["enabled", undefined]],
      [true, ["adaptive", { effort: "low" }]],
    ],
  },
  {
    flag: "allowEmptySignature",
    context: unsigned,
    see: (sent) => (messages(sent)[1]!.content as Body[])[0]?.type,
    values: [
      [undefined, "text"],
      [true, "thinking"],
    ],
  },
  {
    flag: "supportsStrictTools",
    context: strict,
    see: (sent) => firstTool(sent)?.strict,
    values: [
      [undefined, undefined],
      [true, true],
    ],
  },
];

const sets: readonly (readonly [string, Row[], Requests])[] = [
  [chatApi, chat, requestsOf(chatApi)],
  ["openai-responses", responses, requestsOf("openai-responses")],
  [anthropicApi, anthropic, requestsOf(anthropicApi)],
];

describe.each(sets)("%s", (_api, rows, { request }) => {
  const cases = rows.flatMap((row) => row.values.map(([value, expected]) => ({ ...row, value, expected })));
  test.each(cases)("$flag: $value", async ({ flag, value, expected, see, context, options, with: others }) => {
    const compat = { ...others, ...(value !== undefined && { [flag]: value }) };
    expect(see(await request(options, { compat }, context))).toEqual(expected);
  });
});
