// Contexts as prompts of the providers' common interface.

import { describe, expect, test } from "vitest";
import { type AssistantMessage, type Context, emptyUsage, type Message } from "../../src/index.js";
import { makePrompt, type PromptTarget, validToolCallId, wellFormed } from "../../src/language-model/prompt.js";
import { testModel } from "../fixtures.js";

const model = testModel("api", "http://x");
const target = (extra: Partial<PromptTarget> = {}): PromptTarget => ({
  model,
  key: JSON.stringify(extra),
  longestToolCallId: 64,
  imagesInToolResults: true,
  ...extra,
});
const assistant = (content: AssistantMessage["content"], from: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  api: "api",
  provider: "test",
  model: "test-model",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 1,
  ...from,
});
const promptOf = (messages: Message[], to = target(), systemPrompt?: string) =>
  makePrompt({ messages, ...(systemPrompt ? { systemPrompt } : {}) }, to).prompt;
const png = { type: "image" as const, data: "aW1n", mimeType: "image/png" };
const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: { path: "a" } };
const result = (content: Extract<Message, { role: "toolResult" }>["content"], isError = false): Message => ({
  role: "toolResult",
  toolCallId: "c1",
  toolName: "read",
  content,
  isError,
  timestamp: 1,
});

describe("makePrompt", () => {
  test("system prompt, text and images of a user", () => {
    const content = [{ type: "text" as const, text: "Look" }, png];
    expect(promptOf([{ role: "user", content, timestamp: 1 }], target(), "Be kind")).toEqual([
      { role: "system", content: "Be kind" },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "file", mediaType: "image/png", data: "aW1n" },
        ],
      },
    ]);
  });

  test("empty content gets a placeholder, empty blocks among others are left out", () => {
    const messages: Message[] = [
      { role: "user", content: " \r\n", timestamp: 1 },
      assistant([{ type: "text", text: "\n" }]),
      assistant([{ type: "text", text: " " }, call]),
      result([{ type: "text", text: "\r\n" }]),
    ];
    expect(promptOf(messages)).toEqual([
      { role: "user", content: [{ type: "text", text: "(empty)" }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } }] },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "(no output)" } },
        ],
      },
    ]);
  });

  test("a model that takes text only gets one note for all images of a message", () => {
    const to = target({ model: { ...model, input: ["text"] } });
    const [message] = promptOf([{ role: "user", content: [png, png], timestamp: 1 }], to);
    expect(message?.content).toEqual([{ type: "text", text: "[image left out: this model takes text only]" }]);
  });

  test("images of tool results: in the result where the API can, behind all results where it cannot", () => {
    const messages = [
      assistant([call, { ...call, id: "c2" }]),
      result([{ type: "text", text: "a picture" }, png], true),
      { ...result([png]), toolCallId: "c2" } as Message,
      { role: "user", content: "and?", timestamp: 1 } as Message,
    ];
    const native = makePrompt({ messages }, target());
    expect(native.failedWithImages).toEqual(["c1"]);
    expect(native.prompt.slice(1, 3).map((message) => message.content)).toMatchObject([
      [
        {
          output: {
            type: "content",
            value: [
              { type: "text", text: "a picture" },
              { type: "image-data", data: "aW1n", mediaType: "image/png" },
            ],
          },
        },
      ],
      [{ output: { type: "content", value: [{ type: "image-data" }] } }],
    ]);
    const behind = makePrompt({ messages }, target({ imagesInToolResults: false }));
    expect(behind.failedWithImages).toEqual([]);
    expect(behind.prompt.slice(1)).toMatchObject([
      { role: "tool", content: [{ output: { type: "error-text", value: "a picture" } }] },
      { role: "tool", content: [{ output: { type: "text", value: "(see the image)" } }] },
      { role: "user", content: [{ type: "text" }, { type: "file" }, { type: "file" }] },
      { role: "user", content: [{ type: "text", text: "and?" }] },
    ]);
  });

  test("a server that demands it gets an assistant message between results and user", () => {
    const to = target({ imagesInToolResults: false, assistantAfterToolResult: "Seen." });
    const roles = (messages: Message[]) => promptOf(messages, to).map(({ role }) => role);
    const user: Message = { role: "user", content: "and?", timestamp: 1 };
    expect(roles([assistant([call]), result([{ type: "text", text: "x" }]), user])).toEqual([
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(roles([assistant([call]), result([png])])).toEqual(["assistant", "tool", "assistant", "user"]);
    expect(
      roles([assistant([call]), result([{ type: "text", text: "x" }]), assistant([{ type: "text", text: "y" }])]),
    ).toEqual(["assistant", "tool", "assistant"]);
  });

  test("own thinking goes back as the API says, thinking from elsewhere is text without its signature", () => {
    const content: AssistantMessage["content"] = [
      { type: "thinking", thinking: "secret plan", thinkingSignature: "sig" },
      { type: "thinking", thinking: "", thinkingSignature: "enc", redacted: true },
      { ...call, thoughtSignature: "thought" },
    ];
    const to = target({
      thinkingPart: ({ thinking, thinkingSignature }) => ({
        type: "reasoning",
        text: thinking,
        providerOptions: { x: { signature: thinkingSignature ?? "" } },
      }),
      assistantFields: () => ({ extra: 1 }),
      fieldsKey: "server",
    });
    const toolCall = { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } };
    expect(promptOf([assistant(content)], to)[0]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "secret plan", providerOptions: { x: { signature: "sig" } } },
        { type: "reasoning", text: "", providerOptions: { x: { signature: "enc" } } },
        { ...toolCall, providerOptions: { wire: { signature: "thought" } } },
      ],
      providerOptions: { server: { extra: 1 } },
    });
    for (const from of [{ api: "other" }, { provider: "other" }, { model: "other" }])
      expect(promptOf([assistant(content, from)], to)[0]).toEqual({
        role: "assistant",
        content: [{ type: "text", text: "secret plan" }, toolCall],
      });
  });

  test("ids of calls and results are made valid together", () => {
    const foreign = { ...call, id: "call_1|fc_abc/def==" };
    const messages = [assistant([foreign]), { ...result([]), toolCallId: foreign.id } as Message];
    const [asked, answered] = promptOf(messages, target({ longestToolCallId: 20 }));
    const id = (asked!.content[0] as { toolCallId: string }).toolCallId;
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,20}$/);
    expect(answered?.content).toMatchObject([{ toolCallId: id }]);
  });

  test("what was converted once is used again, for the same target only", () => {
    const context: Context = {
      messages: [{ role: "user", content: "x", timestamp: 1 }, assistant([call]), result([])],
    };
    const [first, again] = [makePrompt(context, target()).prompt, makePrompt(context, target()).prompt];
    for (const [index, message] of first.entries()) expect(again[index]).toBe(message);
    const textOnly = makePrompt(context, target({ key: "other" } as Partial<PromptTarget>)).prompt;
    expect(textOnly[0]).not.toBe(first[0]);
    expect(textOnly).toEqual(first);
  });

  test("lone surrogates are replaced in text and in arguments", () => {
    const messages: Message[] = [
      { role: "user", content: "a\ud83d", timestamp: 1 },
      assistant([{ ...call, arguments: { path: "b\ude00", list: ["😀", "\ud83d"] } }]),
    ];
    expect(promptOf(messages, target(), "s\ud83d")).toMatchObject([
      { content: "s\ufffd" },
      { content: [{ text: "a\ufffd" }] },
      { content: [{ input: { path: "b\ufffd", list: ["😀", "\ufffd"] } }] },
      { role: "tool" },
    ]);
  });
});

describe("validToolCallId", () => {
  test("leaves a valid id alone and tells changed ids apart", () => {
    expect(validToolCallId("call_1-A", 64)).toBe("call_1-A");
    const ids = ["a.b", "a/b", "a b", "", "x".repeat(65), `${"x".repeat(65)}y`].map((id) => validToolCallId(id, 64));
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test("wellFormed keeps pairs", () => {
  expect(wellFormed("😀")).toBe("😀");
  expect(wellFormed("\ud83d😀\ude00")).toBe("\ufffd😀\ufffd");
});
