// What Mistral's API gets to see: thinking inside the content, ids of nine characters.

import { expect, test } from "vitest";
import type { Model, StreamOptions } from "../../src/index.js";
import { conversation, foreign, tools, user } from "../conversations.js";
import { fixture, question } from "../fixtures.js";
import { requestsOf } from "../requests.js";

const api = "mistral-conversations";
const { request, answer, model } = requestsOf(api);
type Wire = Record<string, unknown> & { tool_calls?: { id: string }[] };

test("the whole body of a conversation with tools, thinking and images", async () => {
  const { body, path, headers } = await request(
    { thinkingLevel: "high", temperature: 0.5, sessionId: "s", cacheRetention: "long" },
    {},
    conversation(api, { thinking: "anything" }),
  );
  expect(path).toBe("/v1/chat/completions");
  expect(headers.authorization).toBe("Bearer key-for-tests");
  expect(body).toEqual({
    model: "test-model",
    stream: true,
    max_tokens: 32_000,
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
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "plan" }], closed: true },
          { type: "text", text: "Reading" },
        ],
        tool_calls: [{ id: "call00001", type: "function", function: { name: "read", arguments: '{"path":"a.png"}' } }],
      },
      { role: "tool", tool_call_id: "call00001", name: "read", content: "cannot show all" },
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

test.each<[StreamOptions["thinkingLevel"], Partial<Model>, unknown]>([
  ["low", {}, "low"],
  ["high", { thinkingLevelMap: { high: "deep" } }, "deep"],
  ["minimal", { thinkingLevelMap: { minimal: null } }, undefined],
  ["off", {}, undefined],
  ["off", { thinkingLevelMap: { off: "none" } }, "none"],
  ["off", { thinkingLevelMap: { off: null } }, undefined],
  [undefined, {}, undefined],
  ["high", { reasoning: false }, undefined],
])("thinking %s of %j asks for %s", async (thinkingLevel, facts, effort) => {
  expect((await request({ thinkingLevel }, facts)).body.reasoning_effort).toBe(effort);
});

test("ids are nine letters and digits, the same on a call and its result", async () => {
  const { body } = await request({}, {}, foreign);
  const messages = body.messages as Wire[];
  const id = messages[1]?.tool_calls?.[0]?.id;
  expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(messages[2]?.tool_call_id).toBe(id);
});

test("an answer's own thinking goes back as it came", async () => {
  const { message } = await answer(fixture(api, "thinking"));
  const { body } = await request({}, {}, { messages: [user("Go"), message, user("More")] });
  expect((body.messages as Wire[])[1]?.content).toEqual([
    { type: "thinking", thinking: [{ type: "text", text: "Let me see" }], closed: true },
    { type: "text", text: "Done" },
  ]);
});

test("supportsStrictMode: a tool that wants its arguments to fit gets that", async () => {
  const strict = [{ ...tools[0]!, constrainedSampling: { type: "json_schema" as const } }];
  const sent = async (compat: Record<string, unknown>) =>
    (await request({}, { compat }, { ...question, tools: strict })).body.tools;
  expect(await sent({ supportsStrictMode: true })).toMatchObject([{ function: { strict: true } }]);
  expect(JSON.stringify(await sent({}))).not.toContain("strict");
});

test("a base URL may name the version", async () => {
  expect((await request({}, { baseUrl: `${model().baseUrl}/v1/` })).path).toBe("/v1/chat/completions");
});

test.each([
  ["model_length", { stopReason: "length" }],
  ["error", { stopReason: "error", error: { kind: "server" } }],
  ["bored", { stopReason: "error", error: { kind: "other" } }],
])("finish reason %s", async (reason, expected) => {
  const text = fixture(api, "text").replace('"finish_reason":"stop"', `"finish_reason":"${reason}"`);
  expect((await answer(text)).message).toMatchObject({ ...expected, rawStopReason: reason });
});
