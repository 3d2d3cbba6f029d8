// What the Gemini API gets to see, and how signatures go out and come back.

import { describe, expect, test } from "vitest";
import type { Context, Model, StreamOptions } from "../../src/index.js";
import { answer as answered, conversation, foreign, result, tools, user, withHoles } from "../conversations.js";
import { fixture } from "../fixtures.js";
import { requestsOf } from "../requests.js";

const api = "google-generative-ai";
const { request, answer } = requestsOf(api, "/v1beta");
const gemini3: Partial<Model> = { id: "gemini-4-carbon" };
const gemini2: Partial<Model> = { id: "gemini-2.5-flash" };
const chunk = (parts: object[], more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, ...more }] })}\n\n`;
const stop = chunk([], { finishReason: "STOP" });
type Content = { role: string; parts: Record<string, unknown>[] };
const contentsOf = async (context: Context, facts: Partial<Model> = gemini3) =>
  (await request({}, facts, context)).body.contents as Content[];
/** The conversation as the model with this id had it. */
const own = (context: Context, id: string): Context => ({
  ...context,
  messages: context.messages.map((message) => (message.role === "assistant" ? { ...message, model: id } : message)),
});

test("the whole body of a conversation with tools, thoughts and images", async () => {
  const signed = conversation(api, { thinking: "dGhpbms=", text: "dGV4dA==", call: "Y2FsbA==" });
  const { body, path, headers } = await request(
    { thinkingLevel: "high", temperature: 0.5, sessionId: "s", cacheRetention: "long" },
    gemini3,
    own(signed, "gemini-4-carbon"),
  );
  expect(path).toBe("/v1beta/models/gemini-4-carbon:streamGenerateContent?alt=sse");
  expect(headers).toMatchObject({ "x-goog-api-key": "key-for-tests" });
  expect(body).toEqual({
    systemInstruction: { parts: [{ text: "Be kind" }] },
    contents: [
      {
        role: "user",
        parts: [{ text: "Read a.png like" }, { inlineData: { mimeType: "image/jpeg", data: "aW1nMQ==" } }],
      },
      {
        role: "model",
        parts: [
          { text: "plan", thought: true, thoughtSignature: "dGhpbms=" },
          { text: "Reading", thoughtSignature: "dGV4dA==" },
          { functionCall: { id: "call00001", name: "read", args: { path: "a.png" } }, thoughtSignature: "Y2FsbA==" },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "call00001",
              name: "read",
              response: { error: "cannot show all" },
              parts: [{ inlineData: { mimeType: "image/png", data: "aW1nMg==" } }],
            },
          },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: "read",
            description: "Reads",
            parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
          },
        ],
      },
    ],
    generationConfig: {
      maxOutputTokens: 32_000,
      temperature: 0.5,
      thinkingConfig: { includeThoughts: true, thinkingLevel: "high" },
    },
  });
});

describe("thinking", () => {
  const map = { off: null, minimal: null, low: "LOW" };
  test.each<[string, StreamOptions, Partial<Model>, unknown]>([
    ["a level", { thinkingLevel: "medium" }, gemini3, { includeThoughts: true, thinkingLevel: "medium" }],
    [
      "a level with a word of its own",
      { thinkingLevel: "low" },
      { ...gemini3, thinkingLevelMap: map },
      { includeThoughts: true, thinkingLevel: "LOW" },
    ],
    [
      "a level the model does not have",
      { thinkingLevel: "minimal" },
      { ...gemini3, thinkingLevelMap: map },
      { includeThoughts: true },
    ],
    ["off", { thinkingLevel: "off" }, gemini3, { thinkingBudget: 0 }],
    ["off, which the model cannot do", { thinkingLevel: "off" }, { ...gemini3, thinkingLevelMap: map }, undefined],
    ["an older model's budget", { thinkingLevel: "low" }, gemini2, { includeThoughts: true, thinkingBudget: 2048 }],
    [
      "a budget of the caller",
      { thinkingLevel: "low", thinkingBudgets: { low: 99 } },
      gemini2,
      { includeThoughts: true, thinkingBudget: 99 },
    ],
    [
      "a budget leaves room for the answer",
      { thinkingLevel: "high", maxTokens: 2024 },
      gemini2,
      { includeThoughts: true, thinkingBudget: 1000 },
    ],
    ["an older model's off", { thinkingLevel: "off" }, gemini2, { thinkingBudget: 0 }],
    ["no level", {}, gemini3, undefined],
    ["a model without reasoning", { thinkingLevel: "high" }, { ...gemini3, reasoning: false }, undefined],
  ])("%s", async (_title, options, facts, expected) => {
    const { generationConfig } = (await request(options, facts)).body as { generationConfig: Record<string, unknown> };
    expect(generationConfig.thinkingConfig).toEqual(expected);
  });
});

describe("signatures", () => {
  test("of thoughts, texts and calls come with their blocks and go back with them", async () => {
    const { message } = await answer(
      [
        chunk([{ text: "Let me", thought: true }]),
        chunk([{ text: " see", thought: true, thoughtSignature: "c2lnMQ==" }]),
        chunk([{ text: "Reading" }]),
        chunk([{ text: "", thoughtSignature: "c2lnMg==" }]),
        chunk([{ functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "c2lnMw==" }]),
        chunk([{ functionCall: { name: "read", args: { path: "b" } } }]),
        stop,
      ].join(""),
      gemini3,
    );
    expect(message.content).toEqual([
      { type: "thinking", thinking: "Let me see", thinkingSignature: "c2lnMQ==" },
      { type: "text", text: "Reading", textSignature: "c2lnMg==" },
      {
        type: "toolCall",
        id: expect.stringMatching(/^call_[0-9a-f]{32}$/),
        name: "read",
        arguments: { path: "a" },
        thoughtSignature: "c2lnMw==",
      },
      { type: "toolCall", id: expect.any(String), name: "read", arguments: { path: "b" } },
    ]);
    const ids = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const results = ids.map((id) => result(id, "x"));
    const contents = await contentsOf({ tools, messages: [user("Go"), message, ...results, user("And?")] });
    expect(contents[1]?.parts).toEqual([
      { text: "Let me see", thought: true, thoughtSignature: "c2lnMQ==" },
      { text: "Reading", thoughtSignature: "c2lnMg==" },
      { functionCall: { id: ids[0], name: "read", args: { path: "a" } }, thoughtSignature: "c2lnMw==" },
      { functionCall: { id: ids[1], name: "read", args: { path: "b" } } },
    ]);
    expect(contents.slice(2).map(({ role, parts }) => [role, parts.length])).toEqual([
      ["user", 2],
      ["user", 1],
    ]);
  });

  test("a call without one gets the documented stand-in, on models that want one", async () => {
    const signatureOf = async (facts: Partial<Model>) =>
      (await contentsOf(foreign, facts))[1]?.parts.find((part) => part.functionCall)?.thoughtSignature;
    expect(await signatureOf(gemini3)).toBe("skip_thought_signature_validator");
    expect(await signatureOf(gemini2)).toBeUndefined();
    expect(await signatureOf({ id: "gemma-4-31b-it" })).toBeUndefined();
    expect((await contentsOf(foreign))[1]?.parts.slice(0, 2)).toEqual([{ text: "foreign plan" }, { text: "Going" }]);
    const both = (await contentsOf(withHoles(api)))[1]?.parts.map((part) => part.thoughtSignature);
    expect(both).toEqual(["skip_thought_signature_validator", undefined]);
  });

  test("thinking without one goes back as text", async () => {
    const plan = answered(api, [{ type: "thinking", thinking: "plan" }], { model: "gemini-4-carbon" });
    expect((await contentsOf({ messages: [user("Go"), plan, user("More")] }))[1]?.parts).toEqual([{ text: "plan" }]);
  });
});

describe("tool results", () => {
  test("a result with an image that failed keeps both, and what is kept of it does not change", async () => {
    const context = conversation(api, { thinking: "dGhpbms=" });
    const response = async () => (await contentsOf(context))[2]?.parts[0]?.functionResponse;
    const first = await response();
    expect(first).toMatchObject({ response: { error: "cannot show all" }, parts: [{}] });
    expect(await response()).toEqual(first);
  });

  test("older models get the images behind the results", async () => {
    const contents = await contentsOf(conversation(api, { thinking: "dGhpbms=" }), gemini2);
    expect(contents.slice(2)).toEqual([
      {
        role: "user",
        parts: [{ functionResponse: { id: "call00001", name: "read", response: { error: "cannot show all" } } }],
      },
      {
        role: "user",
        parts: [
          { text: "Images from the tool results above:" },
          { inlineData: { mimeType: "image/png", data: "aW1nMg==" } },
        ],
      },
    ]);
  });

  test("users' messages stay apart", async () => {
    const contents = await contentsOf({ messages: [user("one"), user("two")] });
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "one" }] },
      { role: "user", parts: [{ text: "two" }] },
    ]);
  });
});

describe("ends", () => {
  test.each([
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["PROHIBITED_CONTENT", "refusal"],
    ["MALFORMED_FUNCTION_CALL", "incomplete"],
    ["NEW_REASON", "other"],
  ])("%s is a failure of kind %s", async (finishReason, kind) => {
    const { message } = await answer(chunk([{ text: "x" }], { finishReason }));
    expect(message).toMatchObject({ stopReason: "error", rawStopReason: finishReason, error: { kind } });
  });

  test("a prompt that was blocked is refused", async () => {
    const { message } = await answer('data: {"promptFeedback":{"blockReason":"BLOCKLIST"}}\n\n');
    expect(message).toMatchObject({ stopReason: "error", rawStopReason: "BLOCKLIST", error: { kind: "refusal" } });
  });

  test("calls repeat no id", async () => {
    const call = { functionCall: { id: "one", name: "read", args: {} } };
    const { message } = await answer(chunk([call, call]) + stop);
    const [first, second] = message.content as { id: string }[];
    expect(first?.id).toBe("one");
    expect(second?.id).toMatch(/^call_/);
    expect(message.stopReason).toBe("toolUse");
  });

  test("an answer cut off has the usage of the chunks that came", async () => {
    const usage = { promptTokenCount: 30, cachedContentTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 2 };
    const counted = `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "0123456789" }] } }], usageMetadata: usage })}\n\n`;
    const whole = (await answer(counted)).message;
    expect(whole).toMatchObject({
      error: { kind: "incomplete" },
      usage: { input: 20, cacheRead: 10, output: 5, reasoning: 2, totalTokens: 35 },
    });
    expect(whole.usage.estimated).toBeUndefined();
    // What came after the last count is estimated: eight characters are two tokens.
    const { message } = await answer(counted + chunk([{ text: "01234567" }]));
    expect(message.usage).toMatchObject({ input: 20, output: 7, totalTokens: 37, estimated: true });
    expect(message.usage.cost).toEqual({
      input: expect.closeTo(0.00006, 12),
      output: expect.closeTo(0.000105, 12),
      cacheRead: expect.closeTo(0.000003, 12),
      cacheWrite: 0,
      total: expect.closeTo(0.000168, 12),
    });
  });
});

test("a model may be named by its whole path; a bearer token takes the key's place", async () => {
  expect((await request({}, { id: "tunedModels/mine" })).path).toBe(
    "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse",
  );
  const { headers } = await request({ headers: { Authorization: "Bearer t" } });
  expect([headers.authorization, headers["x-goog-api-key"]]).toEqual(["Bearer t", undefined]);
});

test("errors are told as their body and known by their status", async () => {
  const body = {
    error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" },
  };
  const { message } = await answer(`data: ${JSON.stringify(body)}\n\n`);
  expect(message.error).toEqual({ kind: "auth", code: "INVALID_ARGUMENT" });
  expect(message.errorMessage).toBe(JSON.stringify(body));
  expect((await answer(fixture(api, "overloaded"))).message.error).toEqual({ kind: "overloaded", code: "UNAVAILABLE" });
});
