// Reads recorded streams, and what tests of several files say about answers.

import { readFileSync } from "node:fs";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import type { AssistantMessage, AssistantMessageEvent, Context, Model, StreamOptions } from "../src/index.js";
import { stream } from "../src/index.js";

// Clouds are found by variables; those of whoever runs the tests are none of the tests' business.
for (const name of Object.keys(process.env))
  if (/^(?:AWS|AZURE_OPENAI|GOOGLE|GCLOUD)_/.test(name)) delete process.env[name];

/** APIs whose answers are those of another one. */
const speaksLike: Record<string, string> = {
  "azure-openai-responses": "openai-responses",
  "google-vertex": "google-generative-ai",
};

/** Where the recorded streams of an API are. */
export function fixtureUrl(api: string, name: string): URL {
  return new URL(`fixtures/${speaksLike[api] ?? api}/${name}.sse`, import.meta.url);
}

/** A recorded stream as text. */
export function fixture(api: string, name: string): string {
  return readFileSync(fixtureUrl(api, name), "utf8");
}

/** A recorded stream, or a piece of one, as the API sends it. */
export function wireBytes(api: string, text: string): string | Uint8Array {
  return api === "bedrock-converse-stream" ? awsFrames(text) : text;
}

/** Server-sent events as frames of an AWS event stream; an event without data is left out. */
function awsFrames(text: string): Uint8Array {
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  const frames = text.split("\n\n").flatMap((event) => {
    const name = /^event: (.*)$/m.exec(event)?.[1];
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (name === undefined || data === undefined) return [];
    const kind = name.endsWith("Exception") ? "exception" : "event";
    const string = (value: string) => ({ type: "string" as const, value });
    const headers = { ":message-type": string(kind), [`:${kind}-type`]: string(name) };
    return [codec.encode({ headers, body: fromUtf8(data) })];
  });
  return Buffer.concat(frames);
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
