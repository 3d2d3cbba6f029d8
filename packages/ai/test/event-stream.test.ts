// Streams that their maker pushes events into.

import { expect, test } from "vitest";
import { type AssistantMessageEvent, createAssistantMessageEventStream, MessageBuilder } from "../src/index.js";

const begin = () => MessageBuilder.begin({ model: { id: "m", api: "a", provider: "p" }, timestamp: 1 });

test("delivers events in order, before and after a reader waits, and ends at done", async () => {
  const stream = createAssistantMessageEventStream();
  const builder = begin();
  stream.push(builder.start());
  const types: string[] = [];
  const reading = (async () => {
    for await (const event of stream) types.push(event.type);
  })();
  stream.push(builder.startText());
  await new Promise((resolve) => setImmediate(resolve));
  for (const event of builder.done("stop")) stream.push(event);
  stream.push(builder.start());
  await reading;
  expect(types).toEqual(["start", "text_start", "text_end", "done"]);
  expect(await stream.result()).toBe(builder.message);
});

test("end gives the result when no last event did", async () => {
  const stream = createAssistantMessageEventStream();
  const { message } = begin();
  stream.end(message);
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  expect(events).toEqual([]);
  expect(await stream.result()).toBe(message);
});
