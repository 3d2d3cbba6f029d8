// Conversations that every API has to be able to send: with tools, thinking and images, from elsewhere, with holes.

import { type AssistantMessage, type Context, emptyUsage, type Message, type Tool } from "../src/index.js";

export const tools: Tool[] = [
  { name: "read", description: "Reads", parameters: { type: "object", properties: { path: { type: "string" } } } },
];

export function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }], timestamp: 1 };
}

/** An answer of the model of the tests, unless told otherwise. */
export function answer(
  api: string,
  content: AssistantMessage["content"],
  facts: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: "assistant",
    content,
    api,
    provider: "test",
    model: "test-model",
    usage: emptyUsage(),
    stopReason: content.some((block) => block.type === "toolCall") ? "toolUse" : "stop",
    timestamp: 1,
    ...facts,
  };
}

export function result(toolCallId: string, text: string, facts: { isError?: boolean; image?: string } = {}): Message {
  const image = facts.image ? [{ type: "image" as const, data: facts.image, mimeType: "image/png" }] : [];
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [...(text ? [{ type: "text" as const, text }] : []), ...image],
    isError: facts.isError ?? false,
    timestamp: 1,
  };
}

/** A question with an image, an answer with signed thinking, text and a call, and a failed result with an image. */
export function conversation(api: string, signatures: { thinking: string; text?: string; call?: string }): Context {
  return {
    systemPrompt: "Be kind",
    tools,
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Read a.png like" },
          { type: "image", data: "aW1nMQ==", mimeType: "image/jpeg" },
        ],
        timestamp: 1,
      },
      answer(api, [
        { type: "thinking", thinking: "plan", thinkingSignature: signatures.thinking },
        { type: "text", text: "Reading", ...(signatures.text && { textSignature: signatures.text }) },
        {
          type: "toolCall",
          id: "call00001",
          name: "read",
          arguments: { path: "a.png" },
          ...(signatures.call && { thoughtSignature: signatures.call }),
        },
      ]),
      result("call00001", "cannot show all", { isError: true, image: "aW1nMg==" }),
    ],
  };
}

/** What another model of another API said, in its ways: signatures and ids that mean nothing here. */
export const foreign: Context = {
  tools,
  messages: [
    user("Go"),
    answer(
      "elsewhere",
      [
        { type: "thinking", thinking: "foreign plan", thinkingSignature: "foreign-signature" },
        { type: "thinking", thinking: "", thinkingSignature: "foreign-signature", redacted: true },
        { type: "text", text: "Going", textSignature: "foreign-signature" },
        {
          type: "toolCall",
          id: `fc|${"x".repeat(80)}/ä`,
          name: "read",
          arguments: { path: "a" },
          thoughtSignature: "foreign-signature",
        },
      ],
      { provider: "elsewhere", model: "other" },
    ),
    result(`fc|${"x".repeat(80)}/ä`, "gone"),
  ],
};

/** One of two calls has no result, a failed answer stands between, and there is a result that nobody asked for. */
export function withHoles(api: string): Context {
  return {
    tools,
    messages: [
      user("Go"),
      answer(api, [
        { type: "toolCall", id: "call00001", name: "read", arguments: { path: "a" } },
        { type: "toolCall", id: "call00002", name: "read", arguments: { path: "b" } },
      ]),
      result("call00002", "b is here"),
      result("call00009", "nobody asked"),
      answer(api, [{ type: "text", text: "half of an ans" }], { stopReason: "aborted" }),
      user("And now?"),
    ],
  };
}
