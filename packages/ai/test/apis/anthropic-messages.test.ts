// What the Anthropic messages API gets to see: bodies, headers, thinking both ways.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AssistantMessage,
  type Context,
  complete,
  emptyUsage,
  type Model,
  type StreamOptions,
  stream,
} from "../../src/index.js";
import { type ReplayRequest, type ReplayServer, startReplayServer } from "../../src/testing/index.js";
import { eventsOf, fixture, question, testModel } from "../fixtures.js";

let server: ReplayServer;
beforeAll(async () => {
  server = await startReplayServer();
});
afterAll(() => server.close());

const api = "anthropic-messages";
const tools = [
  { name: "read", description: "Reads", parameters: { type: "object", properties: { path: { type: "string" } } } },
  { name: "list", description: "Lists", parameters: { type: "object", properties: {} } },
];

async function request(
  options: StreamOptions = {},
  facts: Partial<Model> = {},
  context: Context = question,
): Promise<ReplayRequest & { body: Record<string, unknown> }> {
  server.reply({ body: fixture(api, "text") });
  const message = await complete(testModel(api, server.url, facts), context, { apiKey: "key-for-tests", ...options });
  expect(message.errorMessage).toBeUndefined();
  return server.requests.at(-1) as ReplayRequest & { body: Record<string, unknown> };
}

const answered: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "plan", thinkingSignature: "c2ln" },
    { type: "thinking", thinking: "", thinkingSignature: "ZW5j", redacted: true },
    { type: "text", text: "Reading" },
    { type: "toolCall", id: "toolu_1", name: "read", arguments: { path: "a.png" } },
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
  tools,
  messages: [
    { role: "user", content: "Read a.png", timestamp: 1 },
    answered,
    {
      role: "toolResult",
      toolCallId: "toolu_1",
      toolName: "read",
      content: [
        { type: "text", text: "cannot show all" },
        { type: "image", data: "aW1n", mimeType: "image/png" },
      ],
      isError: true,
      timestamp: 1,
    },
  ],
};

test("the whole body of a conversation with tools, thinking and an image", async () => {
  const { body, path, headers } = await request({ thinkingLevel: "low" }, {}, conversation);
  expect(path).toBe("/v1/messages");
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": "key-for-tests",
    "anthropic-beta": "interleaved-thinking-2025-05-14",
  });
  expect(body).toEqual({
    model: "test-model",
    max_tokens: 32_000,
    stream: true,
    thinking: { type: "enabled", budget_tokens: 2048, display: "summarized" },
    system: [{ type: "text", text: "Be kind", cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Read a.png" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "plan", signature: "c2ln" },
          { type: "redacted_thinking", data: "ZW5j" },
          { type: "text", text: "Reading" },
          { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.png" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            is_error: true,
            content: [
              { type: "text", text: "cannot show all" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aW1n" } },
            ],
            cache_control: { type: "ephemeral" },
          },
        ],
      },
    ],
    tools: [
      {
        name: "read",
        description: "Reads",
        input_schema: { type: "object", properties: { path: { type: "string" } } },
        eager_input_streaming: true,
      },
      {
        name: "list",
        description: "Lists",
        input_schema: { type: "object", properties: {} },
        eager_input_streaming: true,
        cache_control: { type: "ephemeral" },
      },
    ],
  });
});

test("a base URL may name the version", async () => {
  server.reply({ body: fixture(api, "text") });
  await complete(testModel(api, `${server.url}/proxy/v1/`), question, { apiKey: "k" });
  expect(server.requests.at(-1)?.path).toBe("/proxy/v1/messages");
});

describe("thinking", () => {
  const enabled = (budget_tokens: number) => ({ type: "enabled", budget_tokens, display: "summarized" });
  test.each<[string, StreamOptions, Partial<Model>, unknown]>([
    ["minimal", { thinkingLevel: "minimal" }, {}, enabled(1024)],
    ["medium", { thinkingLevel: "medium" }, {}, enabled(8192)],
    ["high", { thinkingLevel: "high" }, {}, enabled(16_384)],
    ["high leaves room for the answer", { thinkingLevel: "high", maxTokens: 10_000 }, {}, enabled(8976)],
    ["a budget of the caller", { thinkingLevel: "low", thinkingBudgets: { low: 5000 } }, {}, enabled(5000)],
    ["no room at all", { thinkingLevel: "high", maxTokens: 1500 }, {}, { type: "disabled" }],
    ["off", { thinkingLevel: "off" }, {}, { type: "disabled" }],
    ["off, which the model cannot do", { thinkingLevel: "off" }, { thinkingLevelMap: { off: null } }, undefined],
    ["no level", {}, {}, undefined],
    ["a model without reasoning", { thinkingLevel: "high" }, { reasoning: false }, undefined],
    ["off without reasoning", { thinkingLevel: "off" }, { reasoning: false }, undefined],
  ])("%s", async (_title, options, facts, thinking) => {
    const { body } = await request(options, facts);
    expect(body.thinking).toEqual(thinking);
    expect(body.max_tokens).toBe(options.maxTokens ?? 32_000);
    expect(body.output_config).toBeUndefined();
  });

  test.each([
    ["low", {}, "low"],
    ["minimal", {}, "low"],
    ["xhigh", { xhigh: "extra" }, "extra"],
    ["max", { max: "max" }, "max"],
  ] as const)("adaptive %s", async (thinkingLevel, thinkingLevelMap, effort) => {
    const { body, headers } = await request(
      { thinkingLevel },
      { compat: { forceAdaptiveThinking: true }, thinkingLevelMap },
    );
    expect(body.thinking).toEqual({ type: "adaptive", display: "summarized" });
    expect(body.output_config).toEqual({ effort });
    expect(headers["anthropic-beta"]).toBeUndefined();
  });

  test("the provider's package does not overrule the model's facts", async () => {
    // Its table says that this model has 64,000 tokens at most and cannot think by budget.
    const facts = { id: "claude-sonnet-5", maxTokens: 128_000 };
    const { body } = await request({ thinkingLevel: "low" }, facts);
    expect(body).toMatchObject({ max_tokens: 128_000, thinking: enabled(2048) });
    expect((await request({ temperature: 0.5 }, { ...facts, reasoning: false })).body.temperature).toBe(0.5);
  });

  test("a temperature is left out while thinking, and for models that take none", async () => {
    expect((await request({ temperature: 0.5 })).body.temperature).toBe(0.5);
    expect((await request({ temperature: 0.5, thinkingLevel: "off" })).body.temperature).toBe(0.5);
    expect((await request({ temperature: 0.5, thinkingLevel: "low" })).body.temperature).toBeUndefined();
    const compat = { supportsTemperature: false };
    expect((await request({ temperature: 0.5 }, { compat })).body.temperature).toBeUndefined();
  });

  test("comes with its signature, and redacted as what it is", async () => {
    server.reply({ body: fixture(api, "thinking") }).reply({ body: fixture(api, "redacted-thinking") });
    const model = testModel(api, server.url);
    expect((await eventsOf(model)).message.content[0]).toEqual({
      type: "thinking",
      thinking: "Let me see",
      thinkingSignature: "c2lnbmF0dXJl",
    });
    const { message, lines } = await eventsOf(model);
    expect(lines.slice(1, 3)).toEqual(["thinking_start 0", 'thinking_end 0 ""']);
    expect(message.content[0]).toEqual({
      type: "thinking",
      thinking: "",
      thinkingSignature: "ZW5jcnlwdGVk",
      redacted: true,
    });
  });

  test("without a signature goes back as text, or as it is where the server takes that", async () => {
    const content: AssistantMessage["content"] = [
      { type: "thinking", thinking: "plan" },
      { type: "text", text: "Done" },
    ];
    const context = { messages: [...question.messages, { ...answered, content }, ...question.messages] };
    const sent = async (facts: Partial<Model>) =>
      ((await request({}, facts, context)).body.messages as { content: unknown[] }[])[1]?.content[0];
    expect(await sent({})).toEqual({ type: "text", text: "plan" });
    expect(await sent({ compat: { allowEmptySignature: true } })).toEqual({
      type: "thinking",
      thinking: "plan",
      signature: "",
    });
  });
});

describe("prompt cache", () => {
  const marks = (body: unknown) => JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g) ?? [];
  test("long lives an hour, where the server can", async () => {
    const hour = '"cache_control":{"type":"ephemeral","ttl":"1h"}';
    expect(marks((await request({ cacheRetention: "long" }, {}, conversation)).body)).toEqual([hour, hour, hour]);
    const compat = { supportsLongCacheRetention: false };
    const short = '"cache_control":{"type":"ephemeral"}';
    expect(marks((await request({ cacheRetention: "long" }, { compat }, conversation)).body)).toEqual([
      short,
      short,
      short,
    ]);
  });

  test("none marks nothing; a server without marks on tools gets none there", async () => {
    expect(marks((await request({ cacheRetention: "none" }, {}, conversation)).body)).toEqual([]);
    const { body } = await request({}, { compat: { supportsCacheControlOnTools: false } }, conversation);
    expect(marks(body.tools)).toEqual([]);
    expect(marks(body).length).toBe(2);
  });

  test("session affinity where the server wants it", async () => {
    const options = { sessionId: "s1" };
    expect((await request(options)).headers["x-session-affinity"]).toBeUndefined();
    const compat = { sendSessionAffinityHeaders: true };
    expect((await request(options, { compat })).headers["x-session-affinity"]).toBe("s1");
    const openRouter = { ...compat, sessionAffinityFormat: "openrouter" };
    expect((await request(options, { compat: openRouter })).headers["x-session-id"]).toBe("s1");
    const uncached = await request({ ...options, cacheRetention: "none" }, { compat });
    expect(uncached.headers["x-session-affinity"]).toBeUndefined();
  });
});

describe("headers", () => {
  test("a server without eager tool streaming gets the beta instead", async () => {
    const compat = { supportsEagerToolInputStreaming: false };
    const { body, headers } = await request({}, { compat }, conversation);
    expect(JSON.stringify(body.tools)).not.toContain("eager");
    expect(headers["anthropic-beta"]).toBe("fine-grained-tool-streaming-2025-05-14");
    expect((await request({}, { compat })).headers["anthropic-beta"]).toBeUndefined();
  });

  test("the caller's win over the model's, in any spelling; betas are added", async () => {
    const { headers } = await request(
      { thinkingLevel: "low", headers: { "Anthropic-Beta": "mine-1", "X-Which": "caller" } },
      { headers: { "x-which": "model", "x-model": "1" } },
    );
    expect(headers).toMatchObject({
      "x-which": "caller",
      "x-model": "1",
      "anthropic-beta": "interleaved-thinking-2025-05-14,mine-1",
    });
  });

  test("a bearer token of the caller takes the key's place; a login token is one", async () => {
    const bearer = await request({ headers: { Authorization: "Bearer abc" } });
    expect([bearer.headers.authorization, bearer.headers["x-api-key"]]).toEqual(["Bearer abc", undefined]);
    const login = await request({ apiKey: "sk-ant-oat-1" });
    expect([login.headers.authorization, login.headers["x-api-key"], login.headers["anthropic-beta"]]).toEqual([
      "Bearer sk-ant-oat-1",
      undefined,
      "oauth-2025-04-20",
    ]);
  });

  test("without a key no key is sent, whatever the environment holds", async () => {
    const { headers } = await request({ apiKey: undefined });
    expect([headers.authorization, headers["x-api-key"]]).toEqual([undefined, undefined]);
  });
});

test("an aborted answer has the usage that message_start told, and an estimate of what came after it", async () => {
  const begun = fixture(api, "cache-usage").slice(0, fixture(api, "cache-usage").indexOf("event: content_block_stop"));
  server.reply({ body: [begun, "stall"] });
  const controller = new AbortController();
  const events = stream(testModel(api, server.url), question, { apiKey: "k", signal: controller.signal });
  for await (const event of events) if (event.type === "text_delta") controller.abort();
  const message = await events.result();
  expect(message).toMatchObject({
    stopReason: "aborted",
    responseId: "msg_01",
    usage: {
      input: 100,
      output: 2,
      cacheRead: 50,
      cacheWrite: 30,
      cacheWrite1h: 20,
      totalTokens: 182,
      estimated: true,
    },
  });
  const { cost } = message.usage;
  expect([cost.input, cost.output, cost.cacheRead, cost.cacheWrite]).toEqual(
    [100 * 3, 2 * 15, 50 * 0.3, 10 * 3.75 + 20 * 6].map((price) => expect.closeTo(price / 1e6, 12)),
  );
});

describe("consecutive user messages", () => {
  const user = (...texts: string[]) => ({
    role: "user" as const,
    content: texts.map((text) => ({ type: "text" as const, text })),
    timestamp: 0,
  });

  test("stay messages of their own, with all their blocks", async () => {
    const messages = [user("Ran `true`\n(no output)"), user("next", "and more")];
    const { body } = await request({ cacheRetention: "none" }, {}, { messages });
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Ran `true`\n(no output)" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "next" },
          { type: "text", text: "and more" },
        ],
      },
    ]);
  });

  test("follow tool results, which stay together", async () => {
    const call = (id: string) => ({ type: "toolCall" as const, id, name: "list", arguments: {} });
    const result = (toolCallId: string) => ({
      role: "toolResult" as const,
      toolCallId,
      toolName: "list",
      content: [{ type: "text" as const, text: `result of ${toolCallId}` }],
      isError: false,
      timestamp: 0,
    });
    const messages = [
      user("go"),
      { ...answered, content: [call("a"), call("b")], stopReason: "toolUse" as const },
      result("a"),
      result("b"),
      user("hurry"),
    ];
    const { body } = await request({ cacheRetention: "none" }, {}, { messages, tools });
    const sent = body.messages as { role: string; content: { type: string }[] }[];
    expect(sent.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ["user", "text"],
      ["assistant", "tool_use", "tool_use"],
      ["user", "tool_result", "tool_result"],
      ["user", "text"],
    ]);
  });
});
