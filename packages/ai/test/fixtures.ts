// Reads recorded streams, and what tests of several files say about answers.

import { readFileSync } from "node:fs";
import type { AssistantMessage, AssistantMessageEvent, Context, Model, StreamOptions } from "../src/index.js";
import { stream } from "../src/index.js";

/** The bytes of a recorded stream. */
export function fixture(api: string, name: string): string {
  return readFileSync(new URL(`fixtures/${api}/${name}.sse`, import.meta.url), "utf8");
}

/** A model of a wire API at a base URL, with prices that make every count visible in the cost. */
export function testModel(api: string, baseUrl: string, facts: Partial<Model> = {}): Model {
  return {
    id: "test-model",
    name: "Test",
    api,
    provider: "test",
    baseUrl,
    reasoning: true,
    input: ["text", "image"],
    contextWindow: 200_000,
    maxTokens: 32_000,
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    ...facts,
  };
}

export const question: Context = { messages: [{ role: "user", content: "Hi", timestamp: 1 }] };

/** All events of a call, in a form without the live message: one short line each. */
export async function eventsOf(
  model: Model,
  context: Context = question,
  options: StreamOptions = { apiKey: "key-for-tests" },
): Promise<{ lines: string[]; message: AssistantMessage; last: AssistantMessageEvent }> {
  const lines: string[] = [];
  let last: AssistantMessageEvent | undefined;
  const events = stream(model, context, options);
  for await (const event of events) {
    lines.push(lineOf(event));
    last = event;
  }
  if (!last) throw new Error("the stream had no events");
  return { lines, message: await events.result(), last };
}

/** `text_delta 0 "Hello"`: an event's type, place and news. */
export function lineOf(event: AssistantMessageEvent): string {
  switch (event.type) {
    case "start":
      return "start";
    case "text_start":
    case "thinking_start":
      return `${event.type} ${event.contentIndex}`;
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      return `${event.type} ${event.contentIndex} ${JSON.stringify(event.delta)}`;
    case "text_end":
    case "thinking_end":
      return `${event.type} ${event.contentIndex} ${JSON.stringify(event.content)}`;
    case "toolcall_start":
      return `${event.type} ${event.contentIndex} ${event.id} ${event.toolName}`;
    case "toolcall_end":
      return `${event.type} ${event.contentIndex} ${JSON.stringify(event.toolCall.arguments)}`;
    case "done":
    case "error":
      return `${event.type} ${event.reason}`;
  }
}
