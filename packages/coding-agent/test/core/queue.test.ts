import { describe, expect, test } from "vitest";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { Queues } from "../../src/core/queue.js";
import type { QueueMode } from "../../src/modes/rpc/rpc-types.js";
import { user } from "./messages.js";

function queues(steering: QueueMode = "one-at-a-time", followUp: QueueMode = "one-at-a-time") {
  const events: AgentSessionEvent[] = [];
  const made = new Queues(
    (event) => {
      events.push(event);
      return undefined;
    },
    { steering, followUp },
  );
  return { queues: made, events };
}

describe("Queues", () => {
  test("every change is announced with both queues whole", async () => {
    const { queues: both, events } = queues();
    await both.add("steering", user("s1"));
    await both.add("followUp", user("f1"));
    await both.add("steering", user("s2"));
    await both.source("steering").take();
    expect(await both.clear()).toEqual({ steering: ["s2"], followUp: ["f1"] });
    expect(events).toEqual([
      { type: "queue_update", steering: ["s1"], followUp: [] },
      { type: "queue_update", steering: ["s1"], followUp: ["f1"] },
      { type: "queue_update", steering: ["s1", "s2"], followUp: ["f1"] },
      { type: "queue_update", steering: ["s2"], followUp: ["f1"] },
      { type: "queue_update", steering: [], followUp: [] },
    ]);
  });

  test("one is taken at a time, or all of them, as the mode is at that moment", async () => {
    const { queues: both } = queues();
    const source = both.source("followUp");
    const [a, b, c] = [user("a"), user("b"), user("c")];
    for (const message of [a, b, c]) await both.add("followUp", message);
    expect(await source.take()).toEqual([a]);
    both.modes.followUp = "all";
    expect(await source.take()).toEqual([b, c]);
    expect(source.isEmpty()).toBe(true);
    expect(both.length).toBe(0);
  });

  test("a message is out of the queue at once, whoever is slow to hear of it", async () => {
    const both = new Queues(() => new Promise(() => {}), { steering: "all", followUp: "all" });
    void both.add("steering", user("a"));
    expect(both.length).toBe(1);
    void both.source("steering").take();
    expect(both.length).toBe(0);
  });

  test("nothing taken, cleared or dropped is nothing announced", async () => {
    const { queues: both, events } = queues();
    expect(await both.source("steering").take()).toEqual([]);
    expect(await both.clear()).toEqual({ steering: [], followUp: [] });
    await both.add("steering", user("a"));
    both.drop();
    expect(both.length).toBe(0);
    expect(events).toHaveLength(1);
  });

  test("a message of images shows as an empty text, and leaves the queue like any other", async () => {
    const { queues: both, events } = queues();
    const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
    const text = (words: string) => ({ type: "text" as const, text: words });
    await both.add("steering", { role: "user", content: [image], timestamp: 0 });
    await both.add("steering", { role: "user", content: [text("a"), image, text("b")], timestamp: 0 });
    await both.add("followUp", { role: "user", content: "plain", timestamp: 0 });
    expect(both.texts()).toEqual({ steering: ["", "ab"], followUp: ["plain"] });
    expect(await both.source("steering").take()).toHaveLength(1);
    expect(events.at(-1)).toEqual({ type: "queue_update", steering: ["ab"], followUp: ["plain"] });
  });
});
