// What the Responses API gets to see, and how its items go out and come back.

import { describe, expect, test } from "vitest";
import type { Context, Model, StreamOptions } from "../../src/index.js";
import { answer as answered, conversation, foreign, result, tools, user } from "../conversations.js";
import { fixture, question } from "../fixtures.js";
import { requestsOf } from "../requests.js";

const api = "openai-responses";
const { request, answer } = requestsOf(api, "/v1");
const inputOf = async (context: Context, facts: Partial<Model> = {}, options: StreamOptions = {}) =>
  (await request(options, facts, context)).body.input as Record<string, unknown>[];
const event = (type: string, body: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
const completed = event("response.completed", {
  response: { id: "r", usage: { input_tokens: 20, output_tokens: 12 } },
});

const signatures = {
  thinking: '{"id":"rs_1","encrypted_content":"ZW5j"}',
  text: '{"id":"msg_1","phase":"commentary"}',
  call: "fc_1",
};

test("the whole body of a conversation with tools, reasoning and images", async () => {
  const { body, path, headers } = await request(
    { thinkingLevel: "high", temperature: 0.5, sessionId: "s".repeat(70) },
    {},
    conversation(api, signatures),
  );
  expect(path).toBe("/v1/responses");
  expect(headers).toMatchObject({
    authorization: "Bearer key-for-tests",
    "session-id": "s".repeat(70),
    "x-client-request-id": "s".repeat(70),
  });
  expect(body).toEqual({
    model: "test-model",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 32_000,
    temperature: 0.5,
    reasoning: { effort: "high", summary: "auto" },
    prompt_cache_key: "s".repeat(64),
    input: [
      { role: "developer", content: "Be kind" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Read a.png like" },
          { type: "input_image", detail: "auto", image_url: "data:image/jpeg;base64,aW1nMQ==" },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "plan" }],
        encrypted_content: "ZW5j",
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "Reading", annotations: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "call00001", name: "read", arguments: '{"path":"a.png"}' },
      {
        type: "function_call_output",
        call_id: "call00001",
        output: [
          { type: "input_text", text: "cannot show all" },
          { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aW1nMg==" },
        ],
      },
    ],
    tools: [
      {
        type: "function",
        name: "read",
        description: "Reads",
        parameters: { type: "object", properties: { path: { type: "string" } } },
      },
    ],
  });
});

describe("thinking", () => {
  const map = { minimal: null, high: "deep" };
  test.each<[string, StreamOptions["thinkingLevel"], Partial<Model>, unknown]>([
    ["a level without a word of its own", "low", {}, { effort: "low", summary: "auto" }],
    ["a level with one", "high", { thinkingLevelMap: map }, { effort: "deep", summary: "auto" }],
    ["a level the model does not have", "minimal", { thinkingLevelMap: map }, { summary: "auto" }],
    ["off", "off", {}, { effort: "none" }],
    ["off with a word of its own", "off", { thinkingLevelMap: { off: "zero" } }, { effort: "zero" }],
    ["off, which the model cannot do", "off", { thinkingLevelMap: { off: null } }, undefined],
    ["no level", undefined, {}, undefined],
    ["a model without reasoning", "high", { reasoning: false }, undefined],
  ])("%s", async (_title, thinkingLevel, facts, reasoning) => {
    expect((await request({ thinkingLevel }, facts)).body.reasoning).toEqual(reasoning);
  });

  test("a model without reasoning is not asked for it, and has a system prompt", async () => {
    const { body } = await request({}, { reasoning: false }, { ...question, systemPrompt: "Be kind" });
    expect(body).not.toHaveProperty("include");
    expect(body.input).toMatchObject([{ role: "system" }, { role: "user" }]);
  });
});

describe("compat", () => {
  const long: StreamOptions = { sessionId: "s", cacheRetention: "long" };
  const fieldsOf = async (names: string[], compat: Record<string, unknown>, options: StreamOptions) => {
    const { body, headers } = await request(options, { compat }, { ...question, tools, systemPrompt: "x" });
    return Object.fromEntries(names.map((name) => [name, body[name] ?? headers[name]]));
  };
  test.each<[string, Record<string, unknown>, StreamOptions, Record<string, unknown>]>([
    ["supportsLongCacheRetention", {}, long, { prompt_cache_retention: "24h", prompt_cache_options: undefined }],
    [
      "supportsLongCacheRetention: false",
      { supportsLongCacheRetention: false },
      long,
      { prompt_cache_retention: undefined },
    ],
    [
      "supportsExplicitPromptCacheMode",
      { supportsExplicitPromptCacheMode: true },
      long,
      { prompt_cache_options: { ttl: "30m" }, prompt_cache_retention: undefined, prompt_cache_key: "s" },
    ],
    [
      "promptCacheKeyMode: disabled",
      { promptCacheKeyMode: "disabled" },
      { sessionId: "s" },
      { prompt_cache_key: undefined },
    ],
    ["promptCacheKeyMode: enabled", { promptCacheKeyMode: "enabled" }, { sessionId: "s" }, { prompt_cache_key: "s" }],
    [
      "no caching",
      {},
      { sessionId: "s", cacheRetention: "none" },
      { prompt_cache_key: undefined, "session-id": undefined, "x-client-request-id": undefined },
    ],
    [
      "sessionAffinityFormat: openai-nosession",
      { sessionAffinityFormat: "openai-nosession" },
      { sessionId: "s" },
      { "session-id": undefined, "x-client-request-id": "s" },
    ],
    [
      "sessionAffinityFormat: openrouter",
      { sessionAffinityFormat: "openrouter" },
      { sessionId: "s" },
      { "x-session-id": "s", "x-client-request-id": undefined, prompt_cache_key: "s" },
    ],
    ["supportsMaxOutputTokens: false", { supportsMaxOutputTokens: false }, {}, { max_output_tokens: undefined }],
    ["the smallest limit", {}, { maxTokens: 3 }, { max_output_tokens: 16 }],
    [
      "supportsReasoningEffort: false",
      { supportsReasoningEffort: false },
      { thinkingLevel: "low" },
      { reasoning: { summary: "auto" } },
    ],
    [
      "supportsDeveloperRole: false",
      { supportsDeveloperRole: false },
      {},
      { input: [expect.objectContaining({ role: "system" }), expect.anything()] },
    ],
    ["supportsStrictMode", { supportsStrictMode: true }, {}, { tools: [expect.objectContaining({ strict: false })] }],
  ])("%s", async (_title, compat, options, expected) => {
    expect(await fieldsOf(Object.keys(expected), compat, options)).toEqual(expected);
  });

  test("supportsStrictMode: a tool that wants its arguments to fit gets that", async () => {
    const strict = [{ ...tools[0]!, constrainedSampling: { type: "json_schema" as const } }];
    const sent = async (compat: Record<string, unknown>) =>
      (await request({}, { compat }, { ...question, tools: strict })).body.tools;
    expect(await sent({ supportsStrictMode: true })).toMatchObject([{ strict: true }]);
    expect(JSON.stringify(await sent({}))).not.toContain("strict");
  });

  test("sampling parameters come last and win", async () => {
    const facts = {
      samplingParams: { top_p: 0.9, store: true },
      samplingParamsByThinkingLevel: { low: { top_p: 0.5 } },
    };
    expect((await request({ thinkingLevel: "low" }, facts)).body).toMatchObject({ top_p: 0.5, store: true });
  });

  describe("supportsMidConvoEffort", () => {
    const low = { thinkingLevel: "low" as const };
    const high = { thinkingLevel: "high" as const };
    const outline = async (context: Context, options: StreamOptions) => {
      const { body } = await request(options, { compat: { supportsMidConvoEffort: true } }, context);
      const items = (body.input as { role?: string; type?: string; reasoning?: { effort: string } }[]).map(
        ({ role, type, reasoning }) => reasoning?.effort ?? role ?? type,
      );
      return [(body.reasoning as { effort: string }).effort, ...items];
    };
    const text = (from: object) => answered(api, [{ type: "text", text: "Yes" }], from);

    test("a change stands before the user's turn it is for, and stays there", async () => {
      const begun = [user("1"), text(low), user("2"), user("3")];
      expect(await outline({ messages: begun }, high)).toEqual(["low", "user", "assistant", "high", "user", "user"]);
      const later = [...begun, text(high), user("4")];
      const expected = ["low", "user", "assistant", "high", "user", "user", "assistant"];
      expect(await outline({ messages: later }, high)).toEqual([...expected, "user"]);
      expect(await outline({ messages: later }, low)).toEqual([...expected, "low", "user"]);
    });

    test("a change in the middle of a turn stands before the answer", async () => {
      const call = answered(api, [{ type: "toolCall", id: "c", name: "read", arguments: {} }], low);
      const messages = [user("1"), call, result("c", "x")];
      const expected = ["low", "user", "function_call", "function_call_output", "high"];
      expect(await outline({ messages }, high)).toEqual(expected);
      expect(await outline({ messages: [...messages, text(high), user("2")] }, high)).toEqual([
        ...expected,
        "assistant",
        "user",
      ]);
    });

    test("without it the request's effort changes", async () => {
      const { body } = await request(high, {}, { messages: [user("1"), text(low), user("2")] });
      expect(body.reasoning).toMatchObject({ effort: "high" });
      expect(JSON.stringify(body.input)).not.toContain("configuration_update");
    });
  });
});

describe("items", () => {
  test("reasoning, texts with their phases and calls come with what they need to go back", async () => {
    const { message, lines } = await answer(
      [
        event("response.created", { response: { id: "resp_1", model: "m" } }),
        event("response.output_item.added", { output_index: 0, item: { type: "reasoning", id: "rs_1", summary: [] } }),
        event("response.reasoning_summary_text.delta", { output_index: 0, summary_index: 0, delta: "One" }),
        event("response.reasoning_summary_text.delta", { output_index: 0, summary_index: 1, delta: "Two" }),
        event("response.output_item.done", {
          output_index: 0,
          item: { type: "reasoning", id: "rs_1", encrypted_content: "ZW5j" },
        }),
        event("response.output_item.added", { output_index: 1, item: { type: "message", id: "msg_1" } }),
        event("response.output_text.delta", { output_index: 1, content_index: 0, delta: "Reading" }),
        event("response.output_item.done", {
          output_index: 1,
          item: { type: "message", id: "msg_1", phase: "commentary" },
        }),
        event("response.output_item.added", {
          output_index: 2,
          item: { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "" },
        }),
        event("response.function_call_arguments.done", { output_index: 2, arguments: '{"path":"a"}' }),
        event("response.output_item.done", {
          output_index: 2,
          item: {
            type: "function_call",
            id: "fc_1",
            call_id: "call_1",
            name: "read",
            namespace: "files",
            arguments: '{"path":"a"}',
          },
        }),
        completed,
      ].join(""),
    );
    expect(message.content).toEqual([
      {
        type: "thinking",
        thinking: "One\n\nTwo",
        thinkingSignature: '{"id":"rs_1","encrypted_content":"ZW5j"}',
      },
      { type: "text", text: "Reading", textSignature: '{"id":"msg_1","phase":"commentary"}' },
      {
        type: "toolCall",
        id: "call_1",
        name: "read",
        namespace: "files",
        arguments: { path: "a" },
        thoughtSignature: "fc_1",
      },
    ]);
    expect(lines.at(-1)).toBe("done toolUse");
    const input = await inputOf({ tools, messages: [user("Go"), message, result("call_1", "x")] });
    expect(input.slice(1, 4)).toEqual([
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "One\n\nTwo" }],
        encrypted_content: "ZW5j",
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "Reading", annotations: [] }],
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "read",
        namespace: "files",
        arguments: '{"path":"a"}',
      },
    ]);
  });

  test("reasoning that says nothing is kept for its encrypted content", async () => {
    const { message, lines } = await answer(
      event("response.output_item.done", {
        output_index: 0,
        item: { type: "reasoning", id: "rs_1", encrypted_content: "ZW5j" },
      }) +
        event("response.output_text.delta", { output_index: 1, delta: "Hi" }) +
        completed,
    );
    expect(lines.slice(1, 4)).toEqual(["thinking_start 0", 'thinking_end 0 ""', "text_start 1"]);
    expect((await inputOf({ messages: [user("Go"), message, user("More")] }))[1]).toEqual({
      type: "reasoning",
      id: "rs_1",
      summary: [],
      encrypted_content: "ZW5j",
    });
  });

  test("reasoning that is not encrypted stays here, and what came with it loses its id", async () => {
    const content = conversation(api, { ...signatures, thinking: '{"id":"rs_1"}' });
    const input = await inputOf(content);
    expect(JSON.stringify(input)).not.toMatch(/rs_1|msg_1|fc_1|"plan"/);
    expect(input[2]).toEqual({
      role: "assistant",
      phase: "commentary",
      content: [{ type: "output_text", text: "Reading" }],
    });
  });

  test("reasoning that nothing follows is left out", async () => {
    const cutOff = answered(api, [{ type: "thinking", thinking: "plan", thinkingSignature: signatures.thinking }], {
      stopReason: "length",
    });
    const input = await inputOf({ messages: [user("Go"), cutOff, user("More")] });
    expect(input.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  test("another model's answer is text and calls", async () => {
    const input = await inputOf(foreign);
    expect(input.slice(1, 4)).toEqual([
      { role: "assistant", content: [{ type: "output_text", text: "foreign plan" }] },
      { role: "assistant", content: [{ type: "output_text", text: "Going" }] },
      {
        type: "function_call",
        call_id: expect.stringMatching(/^fc_x+_[0-9a-f]{8}$/),
        name: "read",
        arguments: '{"path":"a"}',
      },
    ]);
  });

  test("texts that come whole are read, once", async () => {
    const { message } = await answer(
      event("response.reasoning_text.done", { output_index: 0, content_index: 0, text: "Hm" }) +
        event("response.output_item.done", { output_index: 0, item: { type: "reasoning", id: "rs_1" } }) +
        event("response.output_text.done", { output_index: 1, content_index: 0, text: "Hello" }) +
        event("response.output_item.done", { output_index: 1, item: { type: "message" } }) +
        completed,
    );
    expect(message.content).toEqual([
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Hello" },
    ]);
  });
});

describe("ends", () => {
  const failure = async (text: string) => {
    const { message } = await answer(text);
    return [message.stopReason, message.error?.kind, message.error?.code];
  };
  test("a response that failed tells why", async () => {
    const failed = (error: object) => event("response.failed", { response: { id: "r", error } });
    expect(await failure(failed({ code: "server_error", message: "x" }))).toEqual(["error", "server", "server_error"]);
    expect(await failure(failed({ code: "rate_limit_exceeded", message: "x" }))).toEqual([
      "error",
      "rate_limit",
      "rate_limit_exceeded",
    ]);
    expect(await failure(event("response.failed", { response: { id: "r" } }))).toEqual(["error", "server", undefined]);
  });

  test("a refusal is a failure, whatever the response says", async () => {
    const refusal = event("response.refusal.delta", { output_index: 0, delta: "I cannot" }) + completed;
    const { message } = await answer(refusal);
    expect(message).toMatchObject({ stopReason: "error", error: { kind: "refusal" }, content: [{ text: "I cannot" }] });
  });

  test("a line that is no JSON makes the answer incomplete", async () => {
    expect(await failure(`${fixture(api, "cut")}data: {"type\n\n${completed}`)).toEqual([
      "error",
      "incomplete",
      undefined,
    ]);
  });

  test("an unknown event, a null and a [DONE] mean nothing", async () => {
    const { message } = await answer(
      `${event("response.new_thing", { x: 1 })}data: null\n\n${fixture(api, "text")}data: [DONE]\n\n`,
    );
    expect(message).toMatchObject({ stopReason: "stop", content: [{ text: "Hello, world" }] });
  });
});
