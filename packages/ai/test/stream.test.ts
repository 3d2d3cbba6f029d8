// One call under guard, whatever its API does.

import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type ApiImplementation,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  complete,
  MessageBuilder,
  type Model,
  registerApi,
  stream,
} from "../src/index.js";
import { hold, scriptedModel, text, thinking, toolCall } from "../src/testing/index.js";
import { lineOf, question, testModel } from "./fixtures.js";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0)) step();
  vi.useRealTimers();
});

/** A model whose API is the given function. */
function modelOf(implementation: ApiImplementation["stream"]): Model {
  undo.push(registerApi("under-test", () => Promise.resolve({ stream: implementation })));
  return testModel("under-test", "");
}

async function linesOf(events: AssistantMessageEventStream): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of events) lines.push(lineOf(event));
  return lines;
}

/** An implementation that never answers and does not look at its signal. */
const deaf: ApiImplementation["stream"] = () => ({
  [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
});

describe("stream", () => {
  test("an unknown API is an error event that names it", async () => {
    const events = stream(testModel("carrier-pigeon", ""), question);
    expect(await linesOf(events)).toEqual(["start", "error error"]);
    expect(await events.result()).toMatchObject({
      stopReason: "error",
      error: { kind: "invalid_request" },
      errorMessage: 'Cannot call model "test-model": unknown API "carrier-pigeon"',
      content: [],
    });
  });

  test("a loader that fails is an error event, and is tried again", async () => {
    let loads = 0;
    const working: ApiImplementation = {
      async *stream(model) {
        const builder = MessageBuilder.begin({ model });
        yield builder.start();
        yield* builder.done("stop");
      },
    };
    undo.push(
      registerApi("under-test", () =>
        ++loads === 1 ? Promise.reject(new Error("no disk")) : Promise.resolve(working),
      ),
    );
    const model = testModel("under-test", "");
    expect(await complete(model, question)).toMatchObject({ stopReason: "error", errorMessage: "no disk" });
    expect((await complete(model, question)).stopReason).toBe("stop");
    expect((await complete(model, question)).stopReason).toBe("stop");
    expect(loads).toBe(2);
  });

  test("an API that throws at once is an error event", async () => {
    const model = modelOf(() => {
      throw new Error("broken");
    });
    expect(await complete(model, question)).toMatchObject({ stopReason: "error", errorMessage: "broken" });
  });

  test("an API that throws in the middle keeps what came and closes its blocks", async () => {
    const model = modelOf(async function* ({ id, api, provider }) {
      const builder = MessageBuilder.begin({ model: { id, api, provider } });
      yield builder.start();
      yield builder.startText();
      yield builder.appendText("half");
      throw Object.assign(new Error("gone"), { code: "ECONNRESET" });
    });
    const events = stream(model, question);
    expect(await linesOf(events)).toEqual([
      "start",
      "text_start 0",
      'text_delta 0 "half"',
      'text_end 0 "half"',
      "error error",
    ]);
    expect(await events.result()).toMatchObject({ error: { kind: "transport" }, content: [{ text: "half" }] });
  });

  test("an API that ends without a last event is incomplete", async () => {
    const model = modelOf(async function* (target) {
      yield MessageBuilder.begin({ model: target }).start();
    });
    expect(await complete(model, question)).toMatchObject({ stopReason: "error", error: { kind: "incomplete" } });
  });

  test("a missing start is added; nothing follows the last event", async () => {
    const model = modelOf(async function* (target) {
      const builder = MessageBuilder.begin({ model: target });
      yield* builder.done("stop");
      yield builder.startText();
    });
    expect(await linesOf(stream(model, question))).toEqual(["start", "done stop"]);
  });

  test("keys of the call appear in no error text", async () => {
    const model = modelOf(() => {
      throw new Error("refused sk-12345678 and tok-12345678");
    });
    const options = { apiKey: "sk-12345678", headers: { authorization: "Bearer tok-12345678" } };
    expect((await complete(model, question, options)).errorMessage).toBe("refused [key] and [key]");
  });

  test("keys of the call appear in no code and no reason to stop", async () => {
    const model = modelOf(async function* (target) {
      const builder = MessageBuilder.begin({ model: target });
      yield builder.start();
      builder.message.rawStopReason = "sk-12345678";
      yield* builder.fail("error", { kind: "other", code: "no sk-12345678" }, "x");
    });
    expect(await complete(model, question, { env: { SOME_API_KEY: "sk-12345678" } })).toMatchObject({
      rawStopReason: "[key]",
      error: { kind: "other", code: "no [key]" },
    });
  });

  test("nothing happens before the first pull", async () => {
    const scripted = scriptedModel();
    undo.push(() => scripted.dispose());
    scripted.reply("hi");
    const events = stream(scripted.model, question);
    await new Promise((resolve) => setImmediate(resolve));
    expect(scripted.requests).toEqual([]);
    await events.result();
    expect(scripted.requests.length).toBe(1);
  });

  test("an API is read no faster than the consumer pulls", async () => {
    let made = 0;
    const model = modelOf(async function* (target) {
      const builder = MessageBuilder.begin({ model: target });
      yield builder.start();
      yield builder.startText();
      for (; made < 1000; made++) yield builder.appendText("x");
    });
    const iterator = stream(model, question)[Symbol.asyncIterator]();
    for (let pulls = 0; pulls < 5; pulls++) await iterator.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBeLessThanOrEqual(3);
    await iterator.return?.();
  });

  test("result with a reader does not take its events; without one it reads them", async () => {
    const scripted = scriptedModel();
    undo.push(() => scripted.dispose());
    scripted.reply("one").reply("two");
    const read = stream(scripted.model, question);
    const result = read.result();
    expect((await linesOf(read)).at(-1)).toBe("done stop");
    expect((await result).content).toEqual([{ type: "text", text: "one" }]);
    const unread = stream(scripted.model, question);
    expect(await unread.result()).toBe(await unread.result());
    expect((await unread.result()).content).toEqual([{ type: "text", text: "two" }]);
  });

  test("durationMs is the time of the whole call", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const model = modelOf(async function* (target) {
      const builder = MessageBuilder.begin({ model: target });
      yield builder.start();
      vi.advanceTimersByTime(1234);
      yield* builder.done("stop");
    });
    expect((await complete(model, question)).durationMs).toBe(1234);
  });
});

describe("abort", () => {
  test("ends a call at once whose API does not listen", async () => {
    const controller = new AbortController();
    const events = stream(modelOf(deaf), question, { signal: controller.signal });
    const lines = linesOf(events);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await lines).toEqual(["start", "error aborted"]);
  });

  test("stops the API through its signal, and lets it clean up", async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const pause = hold();
    const model = modelOf(async function* (target, _context, options) {
      options.signal.addEventListener("abort", () => seen.push("signal"));
      try {
        yield MessageBuilder.begin({ model: target }).start();
        await pause.wait(options.signal);
        yield MessageBuilder.begin({ model: target }).start();
      } finally {
        seen.push("cleaned up");
      }
    });
    const result = complete(model, question, { signal: controller.signal });
    await pause.reached;
    controller.abort();
    expect((await result).stopReason).toBe("aborted");
    await vi.waitFor(() => expect(seen).toEqual(["signal", "cleaned up"]));
  });

  test("a reader that leaves ends the call as aborted; leaving after the end changes nothing", async () => {
    const scripted = scriptedModel();
    undo.push(() => scripted.dispose());
    scripted.reply("abc", hold()).reply("abc");
    const left = stream(scripted.model, question);
    for await (const event of left) if (event.type === "text_delta") break;
    expect(await left.result()).toMatchObject({ stopReason: "aborted", content: [{ text: "abc" }] });
    const ended = stream(scripted.model, question);
    for await (const event of ended) if (event.type === "done") break;
    expect((await ended.result()).stopReason).toBe("stop");
  });

  test("leaves no listener on the caller's signal", async () => {
    const scripted = scriptedModel();
    undo.push(() => scripted.dispose());
    scripted.reply("abc");
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await complete(scripted.model, question, { signal });
    expect(added.mock.calls.length).toBe(1);
    expect(removed.mock.calls[0]?.slice(0, 2)).toEqual(added.mock.calls[0]?.slice(0, 2));
  });

  test("an abort that nobody asked for is a lost connection", async () => {
    const model = modelOf(() => {
      throw new DOMException("gave up", "AbortError");
    });
    expect(await complete(model, question)).toMatchObject({ stopReason: "error", error: { kind: "transport" } });
  });
});

describe("idle watchdog", () => {
  const fake = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  /** Lets everything run that is ready. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  /** A model that answers one event for each call of the returned function. */
  function stepModel() {
    const steps: (() => void)[] = [];
    let wanted = 0;
    const model = modelOf(async function* (target) {
      const builder = MessageBuilder.begin({ model: target });
      const next = () => new Promise<void>((resolve) => steps.push(resolve));
      yield builder.start();
      yield builder.startText();
      for (;;) {
        wanted++;
        await next();
        yield builder.appendText("x");
      }
    });
    return { model, step: () => steps.shift()?.(), wanted: () => wanted };
  }

  test("silence for the whole limit ends the call as a timeout", async () => {
    fake();
    const events = stream(modelOf(deaf), question, { idleTimeoutMs: 5000 });
    const lines = linesOf(events);
    await settle();
    vi.advanceTimersByTime(4999);
    await settle();
    vi.advanceTimersByTime(1);
    expect(await lines).toEqual(["start", "error error"]);
    expect(await events.result()).toMatchObject({
      error: { kind: "timeout" },
      errorMessage: 'No answer from "test" for 5 seconds',
    });
  });

  test("every event starts the limit anew", async () => {
    fake();
    const { model, step } = stepModel();
    const seen: AssistantMessageEvent[] = [];
    const events = stream(model, question, { idleTimeoutMs: 1000 });
    const reading = (async () => {
      for await (const event of events) seen.push(event);
    })();
    for (let round = 0; round < 4; round++) {
      await settle();
      vi.advanceTimersByTime(900);
      step();
    }
    await settle();
    expect(seen.filter((event) => event.type === "text_delta").length).toBe(4);
    vi.advanceTimersByTime(1000);
    await reading;
    expect((await events.result()).error?.kind).toBe("timeout");
  });

  test("stands still while the consumer does not pull", async () => {
    fake();
    const { model, step } = stepModel();
    const iterator = stream(model, question, { idleTimeoutMs: 1000 })[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    vi.advanceTimersByTime(60_000);
    const pending = iterator.next();
    await settle();
    vi.advanceTimersByTime(999);
    step();
    expect((await pending).value).toMatchObject({ type: "text_delta" });
    await iterator.return?.();
  });

  test("0 means never", async () => {
    fake();
    const controller = new AbortController();
    const result = complete(modelOf(deaf), question, { idleTimeoutMs: 0, signal: controller.signal });
    await settle();
    vi.advanceTimersByTime(1e9);
    await settle();
    controller.abort();
    expect((await result).stopReason).toBe("aborted");
  });

  test("a request that is not taken in time ends as a timeout, whatever the limit of silence", async () => {
    fake();
    const events = stream(modelOf(deaf), question, { idleTimeoutMs: 0, requestTimeoutMs: 2000 });
    const lines = linesOf(events);
    await settle();
    vi.advanceTimersByTime(1999);
    await settle();
    vi.advanceTimersByTime(1);
    expect(await lines).toEqual(["start", "error error"]);
    expect(await events.result()).toMatchObject({
      error: { kind: "timeout" },
      errorMessage: '"test" did not take the request within 2 seconds',
    });
  });

  test("once the request is taken its limit is over", async () => {
    fake();
    const { model, step } = stepModel();
    const iterator = stream(model, question, { requestTimeoutMs: 1000 })[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ type: "start" });
    vi.advanceTimersByTime(60_000);
    await iterator.next();
    const pending = iterator.next();
    step();
    expect((await pending).value).toMatchObject({ type: "text_delta" });
    await iterator.return?.();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("leaves no timer behind", async () => {
    fake();
    const scripted = scriptedModel();
    undo.push(() => scripted.dispose());
    scripted.reply(thinking("hm"), text("one two", 2), toolCall("read", {}));
    await complete(scripted.model, question, { idleTimeoutMs: 1000 });
    expect(vi.getTimerCount()).toBe(0);
  });
});
