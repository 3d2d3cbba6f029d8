// What every wire API has to send, walked over the registry: hooks, images, and histories with faults.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Context, complete, type Message } from "../src/index.js";
import { type ReplayServer, startReplayServer } from "../src/testing/index.js";
import { cases, traitsOf } from "./api-traits.js";
import { answer as answered, foreign, result, tools, user, withHoles } from "./conversations.js";
import { eventsOf, fixture, question, testModel, wireBytes } from "./fixtures.js";

let server: ReplayServer;
beforeAll(async () => {
  server = await startReplayServer();
});
afterAll(() => server.close());

const answeredElsewhere = answered(
  "elsewhere",
  [{ type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.png" } }],
  { provider: "elsewhere", model: "other" },
);
const messages: Message[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Compare" },
      { type: "image", data: "aW1hZ2Ux", mimeType: "image/png" },
    ],
    timestamp: 1,
  },
  answeredElsewhere,
  {
    role: "toolResult",
    toolCallId: "call_1",
    toolName: "read",
    content: [{ type: "image", data: "aW1hZ2Uy", mimeType: "image/png" }],
    isError: false,
    timestamp: 3,
  },
];
const conversationWithImages: Context = { messages };

describe.each(cases)("$api over $transport", ({ api, send }) => {
  const options = { apiKey: "sk-secret-of-this-test", ...send };
  const model = () => testModel(api, server.url);
  const traits = traitsOf(api);
  const answer = (name: string) => server.reply({ body: [wireBytes(api, fixture(api, name))] });

  test("hooks: the payload can be replaced, the response is shown", async () => {
    answer("text");
    const seen: unknown[] = [];
    await complete(model(), question, {
      ...options,
      headers: { "x-extra": "1" },
      onPayload: async (payload) => {
        seen.push((payload as { stream?: boolean }).stream);
        return { replaced: true };
      },
      onResponse: ({ status, headers }) => void seen.push(status, headers["content-type"]),
    });
    expect(seen).toEqual([traits.asksForStream ? true : undefined, 200, "text/event-stream"]);
    const request = server.requests.at(-1);
    expect(request?.body).toEqual({ replaced: true });
    expect(request?.headers["x-extra"]).toBe("1");
  });

  test("hooks: headers can be added and taken out, and every part is shown before it counts", async () => {
    answer("text");
    const parts: unknown[] = [];
    const { message } = await eventsOf(model(), question, {
      ...options,
      headers: { "x-extra": "1", "x-more": "2" },
      onHeaders: ({ "x-extra": _, ...headers }) => ({ ...headers, "x-added": "yes" }),
      onStreamEvent: async (part) => void parts.push(part),
    });
    const request = server.requests.at(-1);
    expect(request?.headers).toMatchObject({ "x-more": "2", "x-added": "yes" });
    expect(request?.headers).not.toHaveProperty("x-extra");
    expect(parts.length).toBeGreaterThan(1);
    expect(message.stopReason).toBe("stop");
  });

  test("a hook that throws is an error event", async () => {
    const onPayload = () => {
      throw new Error("hook is broken");
    };
    const { message } = await eventsOf(model(), question, { ...options, onPayload });
    expect(message).toMatchObject({ stopReason: "error", errorMessage: "hook is broken", error: { kind: "other" } });
  });

  test("images in messages and in tool results reach a model that takes them, and no other", async () => {
    answer("text");
    answer("text");
    await complete(model(), conversationWithImages, options);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).toContain("aW1hZ2Ux");
    expect(sent).toContain("aW1hZ2Uy");
    await complete(testModel(api, server.url, { input: ["text"] }), conversationWithImages, options);
    const textOnly = JSON.stringify(server.requests.at(-1)?.body);
    expect(textOnly).not.toContain("aW1hZ2");
    expect(textOnly.match(/image left out/g)?.length).toBe(2);
  });

  test("history of another model: signatures stay here, ids are made valid, thinking is text or left out", async () => {
    answer("text");
    await complete(model(), foreign, options);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).not.toContain("foreign-signature");
    expect(sent).not.toContain("fc|");
    expect(sent).toContain("Going");
    expect(sent).toContain("gone");
    const ids = sent.match(traits.callId)?.map((match) => match.split('"')[3]) ?? [];
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("history with holes: a call without a result gets one, failed answers and lost results are left out", async () => {
    answer("text");
    await complete(model(), withHoles(api), options);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).toContain("No result: the tool call was interrupted");
    expect(sent).toContain("b is here");
    expect(sent).toContain("And now?");
    expect(sent).not.toContain("nobody asked");
    expect(sent).not.toContain("half of an ans");
  });

  test("a long history is sent whole, the same the second time, and nothing of it is changed", async () => {
    const messages = Array.from({ length: 400 }, (_, at) => [
      user(`question ${at}`),
      answered(api, [
        { type: "thinking", thinking: `thought ${at}`, thinkingSignature: "c2ln" },
        { type: "toolCall", id: `call_${at}`, name: "read", arguments: { path: `p${at}` } },
      ]),
      result(`call_${at}`, `result ${at}`, at % 2 ? {} : { isError: true, image: "aW1hZ2U=" }),
    ]).flat();
    const before = JSON.stringify(messages);
    const sent = async () => {
      answer("text");
      await complete(model(), { systemPrompt: "Be kind", messages, tools }, { ...options, cacheRetention: "none" });
      return JSON.stringify(server.requests.at(-1)?.body);
    };
    const first = await sent();
    for (const text of ["question 0", "result 0", "question 399", "result 399"]) expect(first).toContain(text);
    expect(await sent()).toBe(first);
    expect(JSON.stringify(messages)).toBe(before);
  });

  test("lone surrogates are not sent", async () => {
    answer("text");
    await complete(model(), { messages: [{ role: "user", content: "a\ud83d b", timestamp: 1 }] }, options);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("a\ufffd b");
  });
});
