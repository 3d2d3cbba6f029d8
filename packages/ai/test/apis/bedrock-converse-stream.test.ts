// What Amazon Bedrock gets to see: bodies by family of models, points of caching, tokens and signatures.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AwsV4Signer } from "aws4fetch";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Context, complete, type Model, type StreamOptions } from "../../src/index.js";
import { answer as answered, conversation, foreign, result, tools, user } from "../conversations.js";
import { fixture, question, testModel } from "../fixtures.js";
import { requestsOf } from "../requests.js";

const api = "bedrock-converse-stream";
const { request, answer, failure } = requestsOf(api);
const claude: Partial<Model> = { id: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" };
const newest: Partial<Model> = {
  id: "anthropic.claude-opus-5-5",
  thinkingLevelMap: { off: null, xhigh: "xhigh", max: "max" },
};
type Message = { role: string; content: Record<string, unknown>[] };
const own = (context: Context, id: string): Context => ({
  ...context,
  messages: context.messages.map((message) => (message.role === "assistant" ? { ...message, model: id } : message)),
});
const messagesOf = async (context: Context, facts: Partial<Model> = {}) =>
  (await request({ cacheRetention: "none" }, facts, context)).body.messages as Message[];
const point = { cachePoint: { type: "default" } };

test("the whole body of a conversation with tools, thinking and images", async () => {
  const { body, path, headers } = await request(
    { thinkingLevel: "low", temperature: 0.5 },
    claude,
    own(conversation(api, { thinking: "c2ln" }), claude.id as string),
  );
  expect(path).toBe("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
  expect(headers.authorization).toBe("Bearer key-for-tests");
  expect(body).toEqual({
    system: [{ text: "Be kind" }, point],
    messages: [
      {
        role: "user",
        content: [{ text: "Read a.png like" }, { image: { format: "jpeg", source: { bytes: "aW1nMQ==" } } }],
      },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "plan", signature: "c2ln" } } },
          { text: "Reading" },
          { toolUse: { toolUseId: "call00001", name: "read", input: { path: "a.png" } } },
        ],
      },
      {
        role: "user",
        content: [
          {
            toolResult: {
              toolUseId: "call00001",
              content: [{ text: "cannot show all" }, { image: { format: "png", source: { bytes: "aW1nMg==" } } }],
              status: "error",
            },
          },
          point,
        ],
      },
    ],
    inferenceConfig: { maxTokens: 32_000 },
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: "read",
            description: "Reads",
            inputSchema: { json: { type: "object", properties: { path: { type: "string" } } } },
          },
        },
        point,
      ],
    },
    additionalModelRequestFields: {
      thinking: { type: "enabled", budget_tokens: 2048, display: "summarized" },
      anthropic_beta: ["interleaved-thinking-2025-05-14"],
    },
  });
});

describe("thinking", () => {
  const gptOss = { id: "openai.gpt-oss-120b-1:0" };
  const adaptive = { type: "adaptive", display: "summarized" };
  test.each<[string, StreamOptions["thinkingLevel"], Partial<Model>, unknown]>([
    ["a newer Claude", "xhigh", newest, { thinking: adaptive, output_config: { effort: "xhigh" } }],
    [
      "a newer Claude at a level without a word",
      "medium",
      newest,
      { thinking: adaptive, output_config: { effort: "medium" } },
    ],
    ["off, which it cannot do", "off", newest, undefined],
    ["an older Claude's off", "off", claude, { thinking: { type: "disabled" } }],
    ["gpt-oss", "high", gptOss, { reasoning_effort: "high" }],
    ["gpt-oss off", "off", gptOss, undefined],
    [
      "a newer OpenAI model",
      "xhigh",
      { id: "openai.gpt-5.5", thinkingLevelMap: { xhigh: "xhigh" } },
      { reasoning: { effort: "xhigh" } },
    ],
    [
      "Nova 2",
      "medium",
      { id: "us.amazon.nova-2-lite-v1:0" },
      { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } },
    ],
    [
      "Nova 2 at a level it does not know",
      "minimal",
      { id: "amazon.nova-2-lite-v1:0" },
      { reasoningConfig: { type: "enabled", maxReasoningEffort: "low" } },
    ],
    ["a level that is not there", "minimal", { ...gptOss, thinkingLevelMap: { minimal: null } }, undefined],
    ["a family without fields", "high", { id: "deepseek.v3.2" }, undefined],
    ["no level", undefined, claude, undefined],
    ["a model without reasoning", "high", { ...claude, reasoning: false }, undefined],
  ])("%s", async (_title, thinkingLevel, facts, fields) => {
    expect((await request({ thinkingLevel }, facts)).body.additionalModelRequestFields).toEqual(fields);
  });

  test("a temperature is left out while Claude thinks", async () => {
    const temperature = async (thinkingLevel: StreamOptions["thinkingLevel"], facts: Partial<Model>) => {
      const { body } = await request({ thinkingLevel, temperature: 0.5 }, facts);
      return (body.inferenceConfig as { temperature?: number }).temperature;
    };
    expect(await temperature("low", claude)).toBeUndefined();
    expect(await temperature("off", claude)).toBe(0.5);
    expect(await temperature("high", { id: "openai.gpt-oss-20b" })).toBe(0.5);
  });

  test("redacted thinking, signed thinking and thinking of others", async () => {
    const frames = [
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: "ZW5j" } } }],
      ["contentBlockStop", { contentBlockIndex: 0 }],
      ["contentBlockDelta", { contentBlockIndex: 1, delta: { reasoningContent: { signature: "c2ln" } } }],
      ["contentBlockStop", { contentBlockIndex: 1 }],
      ["contentBlockDelta", { contentBlockIndex: 2, delta: { text: "Hi" } }],
      ["contentBlockStop", { contentBlockIndex: 2 }],
      ["messageStop", { stopReason: "end_turn" }],
    ].map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    const { message } = await answer(frames.join(""), claude);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "", thinkingSignature: "ZW5j", redacted: true },
      { type: "thinking", thinking: "", thinkingSignature: "c2ln" },
      { type: "text", text: "Hi" },
    ]);
    expect((await messagesOf({ messages: [user("Go"), message, user("More")] }, claude))[1]?.content).toEqual([
      { reasoningContent: { redactedContent: "ZW5j" } },
      { reasoningContent: { reasoningText: { text: "", signature: "c2ln" } } },
      { text: "Hi" },
    ]);
    const unsigned = (id: string) =>
      answered(
        api,
        [
          { type: "thinking", thinking: "plan" },
          { type: "text", text: "Hi" },
        ],
        { model: id },
      );
    const back = async (id: string) =>
      (await messagesOf({ messages: [user("Go"), unsigned(id), user("More")] }, { id }))[1]?.content;
    expect(await back(claude.id as string)).toEqual([{ text: "plan" }, { text: "Hi" }]);
    expect(await back("deepseek.v3.2")).toEqual([{ text: "Hi" }]);
  });
});

describe("messages", () => {
  test("take turns: what users say in a row, and results before it, are blocks of one", async () => {
    const call = answered(api, [
      { type: "toolCall", id: "a", name: "read", arguments: {} },
      { type: "toolCall", id: "b", name: "read", arguments: {} },
    ]);
    const messages = [user("one"), user("two"), call, result("a", "x"), result("b", "y"), user("three")];
    const sent = await messagesOf({ tools, messages });
    expect(sent.map(({ role, content }) => [role, ...content.map((block) => Object.keys(block)[0])])).toEqual([
      ["user", "text", "text"],
      ["assistant", "toolUse", "toolUse"],
      ["user", "toolResult", "toolResult", "text"],
    ]);
    expect(await messagesOf({ tools, messages })).toEqual(sent);
  });

  test("calls in the history without tools to call: their names are there", async () => {
    const { tools: _tools, ...untooled } = foreign;
    const { body } = await request({}, {}, untooled);
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: "read", inputSchema: { json: { type: "object" } } } }],
    });
    expect((await request()).body).not.toHaveProperty("toolConfig");
  });

  test("models that take no images in results get them behind", async () => {
    const sent = await messagesOf(conversation(api, { thinking: "x" }), { id: "qwen.qwen3-vl" });
    expect(sent.at(-1)?.content.map((block) => Object.keys(block)[0])).toEqual(["toolResult", "text", "image"]);
  });

  test("ids for Mistral's models are nine letters and digits", async () => {
    const sent = JSON.stringify(await messagesOf(foreign, { id: "mistral.devstral-2-123b" }));
    expect(sent.match(/"toolUseId":"[a-zA-Z0-9]{9}"/g)?.length).toBe(2);
  });
});

describe("prompt cache", () => {
  const nova = { id: "amazon.nova-pro-v1:0" };
  const marks = async (options: StreamOptions, facts: Partial<Model>) =>
    JSON.stringify((await request(options, facts, { ...question, systemPrompt: "x", tools })).body).match(
      /\{"cachePoint":[^}]*\}\}/g,
    ) ?? [];
  const short = '{"cachePoint":{"type":"default"}}';
  const long = '{"cachePoint":{"type":"default","ttl":"1h"}}';
  test.each<[string, StreamOptions, Partial<Model>, string[]]>([
    ["Claude", {}, claude, [short, short, short]],
    ["Claude, long", { cacheRetention: "long" }, claude, [long, long, long]],
    [
      "an older Claude knows no hour",
      { cacheRetention: "long" },
      { id: "anthropic.claude-opus-4-1-20250805-v1:0" },
      [short, short, short],
    ],
    ["a Claude without a cache", {}, { id: "anthropic.claude-3-haiku-20240307-v1:0" }, []],
    ["Nova has none among tools", {}, nova, [short, short]],
    ["a model that caches by itself", {}, { id: "openai.gpt-5.5" }, []],
    ["none", { cacheRetention: "none" }, claude, []],
  ])("%s", async (_title, options, facts, expected) => {
    expect(await marks(options, facts)).toEqual(expected);
  });
});

test("supportsStrictMode: a tool that wants its arguments to fit gets that", async () => {
  const strict = [{ ...tools[0]!, constrainedSampling: { type: "json_schema" as const } }];
  const sent = async (compat: Record<string, unknown>) =>
    JSON.stringify((await request({}, { compat }, { ...question, tools: strict })).body.toolConfig);
  expect(await sent({ supportsStrictMode: true })).toContain('"strict":true');
  expect(await sent({})).not.toContain("strict");
});

describe("credentials", () => {
  const keys = { AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "session" };

  test("a request is signed as it is sent, after hooks have changed it", async () => {
    const onPayload = (payload: unknown) => ({ ...(payload as object), changed: true });
    const { headers, body } = await request({
      apiKey: undefined,
      env: { ...keys, AWS_REGION: "eu-west-1" },
      onPayload,
    });
    expect(body.changed).toBe(true);
    expect(headers["x-amz-security-token"]).toBe("session");
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-west-1\/bedrock\/aws4_request/,
    );
    const signed = /SignedHeaders=([^,]*)/.exec(headers.authorization ?? "")?.[1]?.split(";") ?? [];
    const again = new AwsV4Signer({
      method: "POST",
      url: `http://${headers.host}/model/test-model/converse-stream`,
      headers: signed.filter((name) => name !== "host").map((name) => [name, headers[name] ?? ""]),
      body: JSON.stringify(body),
      accessKeyId: "AKIATEST",
      secretAccessKey: "secret",
      sessionToken: "session",
      region: "eu-west-1",
      service: "bedrock",
      datetime: headers["x-amz-date"],
    });
    expect((await again.sign()).headers.get("authorization")).toBe(headers.authorization);
  });

  test("a request is signed with the keys of a profile, for its region", async () => {
    const home = mkdtempSync(join(tmpdir(), "pi-aws-"));
    onTestFinished(() => rmSync(home, { recursive: true }));
    mkdirSync(join(home, ".aws"));
    writeFileSync(join(home, ".aws/credentials"), "[work]\naws_access_key_id=AKIAWORK\naws_secret_access_key=s\n");
    writeFileSync(join(home, ".aws/config"), "[profile work]\nregion = eu-central-1\n");
    const env = { HOME: home, AWS_PROFILE: "work" };
    const { headers } = await request({ apiKey: undefined, env });
    expect(headers.authorization).toMatch(/Credential=AKIAWORK\/\d{8}\/eu-central-1\/bedrock\//);
    expect(await failure({ env: { ...env, AWS_PROFILE: "other" } })).toMatchObject({
      error: { kind: "auth" },
      errorMessage: `Cannot sign the request for model "test-model": profile "other" has no access key in "${home}/.aws/credentials" or "${home}/.aws/config"; roles, single sign-on and credential processes are not supported`,
    });
  });

  test("a bearer token wins; without any the failure names the variables", async () => {
    const { headers } = await request({ apiKey: undefined, env: { ...keys, AWS_BEARER_TOKEN_BEDROCK: "b" } });
    expect(headers.authorization).toBe("Bearer b");
    expect(await failure({ env: { AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: "" } })).toMatchObject({
      error: { kind: "auth" },
      errorMessage:
        'Cannot sign the request for model "test-model": set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
    });
  });

  test.each([
    [
      "https://bedrock-runtime.us-east-1.amazonaws.com",
      { AWS_REGION: "eu-west-1" },
      "m",
      "https://bedrock-runtime.eu-west-1.amazonaws.com",
    ],
    ["https://bedrock-runtime.us-east-1.amazonaws.com/", {}, "m", "https://bedrock-runtime.us-east-1.amazonaws.com"],
    ["https://proxy.example/aws", { AWS_REGION: "eu-west-1" }, "m", "https://proxy.example/aws"],
    [
      "https://bedrock-runtime.us-east-1.amazonaws.com",
      { AWS_REGION: "eu-west-1" },
      "arn:aws:bedrock:ap-south-1:1:inference-profile/x",
      "https://bedrock-runtime.ap-south-1.amazonaws.com",
    ],
  ])("%s with %j for %s goes to %s", async (baseUrl, env, id, base) => {
    const urls: string[] = [];
    const fetch = ((url: string) => {
      urls.push(url);
      return Promise.reject(new TypeError("fetch failed"));
    }) as typeof globalThis.fetch;
    await complete(testModel(api, baseUrl, { id }), question, { apiKey: "b", env, fetch });
    expect(urls).toEqual([`${base}/model/${encodeURIComponent(id)}/converse-stream`]);
  });
});

describe("ends", () => {
  test.each([
    ["guardrail_intervened", { stopReason: "error", error: { kind: "refusal" } }],
    ["malformed_tool_use", { stopReason: "error", error: { kind: "incomplete" } }],
    ["model_context_window_exceeded", { stopReason: "length" }],
    ["stop_sequence", { stopReason: "stop" }],
    ["bored", { stopReason: "error", error: { kind: "other" } }],
  ])("%s", async (reason, expected) => {
    const { message } = await answer(fixture(api, "text").replace("end_turn", reason));
    expect(message).toMatchObject({ ...expected, rawStopReason: reason, usage: { input: 20, output: 12 } });
  });

  test.each([
    ["throttlingException", "rate_limit"],
    ["modelStreamErrorException", "server"],
    ["modelTimeoutException", "timeout"],
  ])("the exception %s is of kind %s", async (name, kind) => {
    const { message } = await answer(`${fixture(api, "cut")}event: ${name}\ndata: {"message":"no"}\n\n`);
    expect(message).toMatchObject({
      error: { kind, code: name },
      errorMessage: `{"error":{"code":"${name}","message":"no"}}`,
    });
  });

  test("bytes that are no frames make the answer incomplete", async () => {
    const noFrame = Buffer.from("0000001000000000aaaaaaaabbbbbbbb", "hex");
    const fetch = (async () => new Response(noFrame)) as typeof globalThis.fetch;
    const message = await complete(testModel(api, "http://127.0.0.1:9"), question, { apiKey: "b", fetch });
    expect(message).toMatchObject({
      error: { kind: "incomplete" },
      errorMessage: expect.stringMatching(/^Cannot read the answer: /),
    });
  });
});
