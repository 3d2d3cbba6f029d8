// What a chat completions server gets to see: the whole body, and the edit for each difference.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatCompat } from "../../src/apis/openai-completions-compat.js";
import {
  type AssistantMessage,
  type Context,
  complete,
  emptyUsage,
  type Model,
  type StreamOptions,
} from "../../src/index.js";
import { type ReplayRequest, type ReplayServer, startReplayServer } from "../../src/testing/index.js";
import { eventsOf, fixture, question, testModel } from "../fixtures.js";

let server: ReplayServer;
beforeAll(async () => {
  server = await startReplayServer();
});
afterAll(() => server.close());

const api = "openai-completions";
type Sent = ReplayRequest & { body: Record<string, unknown> & { messages: Record<string, unknown>[] } };

async function request(
  options: StreamOptions = {},
  facts: Partial<Model> = {},
  context: Context = question,
): Promise<Sent> {
  server.reply({ body: fixture(api, "text") });
  const model = testModel(api, `${server.url}/v1`, facts);
  const message = await complete(model, context, { apiKey: "key-for-tests", ...options });
  expect(message.errorMessage).toBeUndefined();
  return server.requests.at(-1) as Sent;
}
const withCompat = (compat: Record<string, unknown>, facts: Partial<Model> = {}) => ({ ...facts, compat });

const answered: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "plan", thinkingSignature: "reasoning_content" },
    { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.png" } },
  ],
  api,
  provider: "test",
  model: "test-model",
  usage: emptyUsage(),
  stopReason: "toolUse",
  timestamp: 1,
};
const conversation: Context = {
  systemPrompt: "Be kind",
  tools: [
    { name: "read", description: "Reads", parameters: { type: "object", properties: { path: { type: "string" } } } },
  ],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Read a.png like" },
        { type: "image", data: "aW1nMQ==", mimeType: "image/jpeg" },
      ],
      timestamp: 1,
    },
    answered,
    {
      role: "toolResult",
      toolCallId: "call_1",
      toolName: "read",
      content: [
        { type: "text", text: "here" },
        { type: "image", data: "aW1nMg==", mimeType: "image/png" },
      ],
      isError: false,
      timestamp: 1,
    },
  ],
};

test("the whole body of a conversation with tools, reasoning and images", async () => {
  const { body, path, headers } = await request({ thinkingLevel: "high", temperature: 0.5 }, {}, conversation);
  expect(path).toBe("/v1/chat/completions");
  expect(headers).toMatchObject({ "content-type": "application/json", authorization: "Bearer key-for-tests" });
  expect(body).toEqual({
    model: "test-model",
    stream: true,
    stream_options: { include_usage: true },
    store: false,
    max_completion_tokens: 32_000,
    temperature: 0.5,
    reasoning_effort: "high",
    messages: [
      { role: "system", content: "Be kind" },
      {
        role: "user",
        content: [
          { type: "text", text: "Read a.png like" },
          { type: "image_url", image_url: { url: "data:image/jpeg;base64,aW1nMQ==" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        reasoning_content: "plan",
        tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a.png"}' } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "here" },
      {
        role: "user",
        content: [
          { type: "text", text: "Images from the tool results above:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aW1nMg==" } },
        ],
      },
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "read",
          description: "Reads",
          parameters: { type: "object", properties: { path: { type: "string" } } },
        },
      },
    ],
  });
});

describe("thinking formats", () => {
  const map = { thinkingLevelMap: { off: undefined as unknown as null, high: "deep" } };
  const template = { enable: { $var: "thinking.enabled" }, effort: { $var: "thinking.effort" }, fixed: 1 };
  const budget = { budget: { $var: "thinking.budget" } };
  test.each<[string, Record<string, unknown>, object, object]>([
    ["openai", {}, { reasoning_effort: "deep" }, {}],
    ["openrouter", {}, { reasoning: { effort: "deep" } }, { reasoning: { effort: "none" } }],
    ["deepseek", {}, { thinking: { type: "enabled" }, reasoning_effort: "deep" }, { thinking: { type: "disabled" } }],
    ["together", {}, { reasoning: { enabled: true }, reasoning_effort: "deep" }, { reasoning: { enabled: false } }],
    [
      "zai",
      { supportsReasoningEffort: false },
      { thinking: { type: "enabled", clear_thinking: false } },
      { thinking: { type: "disabled" } },
    ],
    ["qwen", {}, { enable_thinking: true, reasoning_effort: "deep" }, { enable_thinking: false }],
    [
      "qwen-chat-template",
      {},
      { chat_template_kwargs: { enable_thinking: true, preserve_thinking: true } },
      { chat_template_kwargs: { enable_thinking: false, preserve_thinking: true } },
    ],
    [
      "chat-template",
      { chatTemplateKwargs: template },
      { chat_template_kwargs: { enable: true, effort: "deep", fixed: 1 } },
      { chat_template_kwargs: { enable: false, fixed: 1 } },
    ],
    ["baseten", { chatTemplateArgs: budget }, { chat_template_args: { budget: 16_384 }, reasoning_effort: "deep" }, {}],
    ["string-thinking", {}, { thinking: "deep" }, { thinking: "none" }],
    ["ant-ling", {}, { reasoning: { effort: "deep" } }, {}],
  ])("%s", async (thinkingFormat, compat, on, off) => {
    const facts = withCompat({ thinkingFormat, ...compat }, map);
    const base = new Set(Object.keys((await request({}, facts)).body));
    const added = async (thinkingLevel: "high" | "off") =>
      Object.fromEntries(
        Object.entries((await request({ thinkingLevel }, facts)).body).filter(([name]) => !base.has(name)),
      );
    expect(await added("high")).toEqual(on);
    expect(await added("off")).toEqual(off);
    expect((await request({ thinkingLevel: "high" }, { ...facts, reasoning: false })).body).toEqual(
      (await request({}, facts)).body,
    );
  });

  test("off is said where the model has a word for it", async () => {
    const { body } = await request({ thinkingLevel: "off" }, { thinkingLevelMap: { off: "none" } });
    expect(body.reasoning_effort).toBe("none");
  });

  test("a budget field caps thinking", async () => {
    const field = withCompat({ thinkingTokenBudgetField: "thinking_budget" });
    expect((await request({ thinkingLevel: "low" }, field)).body.thinking_budget).toBe(2048);
    const alias = withCompat({ supportsThinkingTokenBudget: true });
    const options: StreamOptions = { thinkingLevel: "low", thinkingBudgets: { low: 99_000 }, maxTokens: 3000 };
    expect((await request(options, alias)).body.thinking_token_budget).toBe(1976);
    expect((await request({ thinkingLevel: "off" }, alias)).body.thinking_token_budget).toBeUndefined();
  });
});

describe("compat", () => {
  test("limits, store and streaming usage", async () => {
    const facts = withCompat({ maxTokensField: "max_tokens", supportsStore: false, supportsUsageInStreaming: false });
    expect((await request({ maxTokens: 99 }, facts)).body).toEqual({
      model: "test-model",
      stream: true,
      max_tokens: 99,
      messages: [{ role: "user", content: "Hi" }],
    });
  });

  test("the developer role is for reasoning models", async () => {
    const facts = withCompat({ supportsDeveloperRole: true });
    expect((await request({}, facts, conversation)).body.messages[0]).toEqual({
      role: "developer",
      content: "Be kind",
    });
    const { body } = await request({}, { ...facts, reasoning: false }, conversation);
    expect(body.messages[0]?.role).toBe("system");
  });

  test("tool results: a name, an assistant message behind them, tools in the history", async () => {
    const facts = withCompat({ requiresToolResultName: true, requiresAssistantAfterToolResult: true });
    const { body } = await request({}, facts, conversation);
    expect(body.messages.slice(3, 5)).toEqual([
      { role: "tool", tool_call_id: "call_1", content: "here", name: "read" },
      { role: "assistant", content: "The tool results are in." },
    ]);
    const { tools: _tools, ...untooled } = conversation;
    expect((await request({}, {}, untooled)).body.tools).toBeUndefined();
    const demanding = withCompat({ requiresToolsWithToolHistory: true });
    expect((await request({}, demanding, untooled)).body.tools).toEqual([]);
    expect((await request({}, demanding)).body.tools).toBeUndefined();
  });

  test("assistant messages: content that is not null, reasoning that is never absent, thinking as text", async () => {
    const plain = { ...answered, content: answered.content.slice(1) };
    const context = { messages: [...question.messages, plain, ...conversation.messages.slice(2)] };
    const sent = async (compat: object, options: StreamOptions = {}) =>
      (await request(options, withCompat(compat as Record<string, unknown>), context)).body.messages[1];
    expect(await sent({ requiresNonNullAssistantContent: true })).toMatchObject({ content: "" });
    const demanding = { requiresReasoningContentOnAssistantMessages: true };
    expect(await sent(demanding, { thinkingLevel: "low" })).toMatchObject({ reasoning_content: "" });
    expect(await sent(demanding, { thinkingLevel: "off" })).not.toHaveProperty("reasoning_content");
    const { body } = await request({}, withCompat({ requiresThinkingAsText: true }), conversation);
    expect(body.messages[2]).toMatchObject({ content: "<thinking>\nplan\n</thinking>" });
    expect(body.messages[2]).not.toHaveProperty("reasoning_content");
  });

  test("routing, tool stream, priority and sampling parameters; the caller's own fields win", async () => {
    const compat = {
      openRouterRouting: { only: ["x"] },
      vercelGatewayRouting: { order: ["y"] },
      zaiToolStream: true,
      vllmPriority: -1,
    };
    const samplingParams = { top_k: 5, max_completion_tokens: 7 };
    const facts = { compat, samplingParams, samplingParamsByThinkingLevel: { low: { top_k: 9 } } };
    expect((await request({ thinkingLevel: "low" }, facts, conversation)).body).toMatchObject({
      provider: { only: ["x"] },
      providerOptions: { gateway: { order: ["y"] } },
      tool_stream: true,
      priority: -1,
      top_k: 9,
      max_completion_tokens: 7,
    });
    expect((await request({}, facts)).body).not.toHaveProperty("tool_stream");
  });
});

describe("prompt cache", () => {
  const options: StreamOptions = { sessionId: "s".repeat(70) };
  test("the session names the cache where the server is known to read it", async () => {
    const key = async (compat: object, more: StreamOptions = {}) =>
      (await request({ ...options, ...more }, withCompat(compat as Record<string, unknown>))).body.prompt_cache_key;
    expect(await key({})).toBeUndefined();
    expect(await key({}, { cacheRetention: "long" })).toBe("s".repeat(64));
    expect(await key({ supportsLongCacheRetention: false }, { cacheRetention: "long" })).toBeUndefined();
    expect(await key({ promptCacheKeyMode: "enabled" })).toBe("s".repeat(64));
    expect(await key({ promptCacheKeyMode: "enabled" }, { cacheRetention: "none" })).toBeUndefined();
    expect(await key({ promptCacheKeyMode: "disabled" }, { cacheRetention: "long" })).toBeUndefined();
    expect((await request({ cacheRetention: "long" })).body.prompt_cache_retention).toBe("24h");
  });

  test("Anthropic's marks: system prompt, last tool, newest text", async () => {
    const compat = { cacheControlFormat: "anthropic" };
    const { body } = await request({ cacheRetention: "long" }, { compat }, conversation);
    const cache_control = { type: "ephemeral", ttl: "1h" };
    expect(body.messages[0]?.content).toEqual([{ type: "text", text: "Be kind", cache_control }]);
    expect(body.messages.at(-1)).toMatchObject({ content: [{ type: "text", cache_control }, { type: "image_url" }] });
    expect(body.tools).toMatchObject([{ cache_control }]);
    expect(JSON.stringify(body).match(/cache_control/g)?.length).toBe(3);
    expect(body).not.toHaveProperty("prompt_cache_retention");
    const uncached = await request({ cacheRetention: "none" }, { compat }, conversation);
    expect(JSON.stringify(uncached.body)).not.toContain("cache_control");
  });

  test.each([
    ["openai", { session_id: "s", "x-client-request-id": "s", "x-session-affinity": "s" }],
    ["openai-nosession", { "x-client-request-id": "s", "x-session-affinity": "s" }],
    ["openrouter", { "x-session-id": "s" }],
  ])("session headers in the form %s", async (sessionAffinityFormat, expected) => {
    const facts = withCompat({ sendSessionAffinityHeaders: true, sessionAffinityFormat });
    const { headers } = await request({ sessionId: "s" }, facts);
    const names = ["session_id", "x-client-request-id", "x-session-affinity", "x-session-id"];
    expect(Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)))).toEqual(expected);
  });
});

describe("reasoning goes back in the field it came in", () => {
  test.each([
    ["thinking", "reasoning_content", "Let me see"],
    ["odd-reasoning-field", "reasoning", "Hm"],
    ["odd-reasoning-text-field", "reasoning_text", "Hm"],
  ])("%s", async (name, field, text) => {
    server.reply({ body: fixture(api, name) });
    const { message } = await eventsOf(testModel(api, `${server.url}/v1`));
    const { body } = await request({}, {}, { messages: [...question.messages, message, ...question.messages] });
    expect(body.messages[1]).toMatchObject({ role: "assistant", [field]: text });
    expect(Object.keys(body.messages[1] ?? {}).filter((key) => key.startsWith("reasoning"))).toEqual([field]);
  });

  test("OpenRouter's records go back whole", async () => {
    server.reply({ body: fixture(api, "odd-reasoning-details") });
    const { message } = await eventsOf(testModel(api, `${server.url}/v1`));
    const { body } = await request({}, {}, { messages: [...question.messages, message, ...question.messages] });
    expect(body.messages[1]?.reasoning_details).toEqual([
      { type: "reasoning.text", index: 0, text: "Hm", signature: "sig" },
      { type: "reasoning.encrypted", index: 1, data: "ZW5j" },
    ]);
  });
});

describe("chatCompat", () => {
  test.each([
    ["https://api.openai.com/v1", { supportsDeveloperRole: true, supportsStore: true }],
    ["https://openrouter.ai/api/v1", { thinkingFormat: "openrouter", sendSessionAffinityHeaders: true }],
    ["https://api.deepseek.com", { thinkingFormat: "deepseek", maxTokensField: "max_tokens", supportsStore: false }],
    ["https://api.z.ai/api/coding/paas/v4", { thinkingFormat: "zai", supportsReasoningEffort: false }],
    ["https://api.mistral.ai/v1", { requiresToolResultName: true }],
    ["http://localhost:11434/v1", { supportsDeveloperRole: false, thinkingFormat: "openai", supportsStore: true }],
  ])("%s", (baseUrl, expected) => {
    expect(chatCompat(testModel(api, baseUrl))).toMatchObject(expected);
  });

  test("a model's own word wins over its URL", () => {
    const model = testModel(api, "https://api.z.ai/v4", { compat: { thinkingFormat: "qwen" } });
    expect(chatCompat(model)).toMatchObject({ thinkingFormat: "qwen", supportsStore: false });
  });
});
