// What every wire API has to do, walked over the registry: an API with recorded streams is tested by all of it.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AssistantMessage, complete, stream } from "../src/index.js";
import { hold, type ReplayServer, startReplayServer } from "../src/testing/index.js";
import { cases, differences, overflowBody, traitsOf, wireApis } from "./api-traits.js";
import { eventsOf, fixture, lineOf, question, testModel, wireBytes } from "./fixtures.js";

let server: ReplayServer;
beforeEach(async () => {
  server = await startReplayServer();
});
afterEach(() => server.close());

test("every API over the wire has recorded streams", () => {
  expect(wireApis.sort()).toEqual(Object.keys(differences).sort());
});

describe.each(cases)("$api over $transport", ({ api, send }) => {
  const options = { apiKey: "sk-secret-of-this-test", ...send };
  const model = () => testModel(api, server.url);
  const traits = traitsOf(api);
  const bytes = (text: string) => wireBytes(api, text);
  const answer = (name: string) => server.reply({ body: [bytes(fixture(api, name))] });

  test("text: start, one block, done; ids and reasons of the provider are kept", async () => {
    answer("text");
    const { lines, message } = await eventsOf(model(), question, options);
    expect(lines).toEqual([
      "start",
      "text_start 0",
      'text_delta 0 "Hello"',
      'text_delta 0 ", world"',
      'text_end 0 "Hello, world"',
      "done stop",
    ]);
    expect(message).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Hello, world" }],
      api,
      provider: "test",
      model: "test-model",
      ...(traits.names && {
        responseModel: expect.stringMatching(/test-1$/),
        responseId: expect.stringMatching(/1$/),
      }),
      usage: {
        input: 20,
        output: 12,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 32,
        cost: { input: 0.00006, output: 0.00018, cacheRead: 0, cacheWrite: 0, total: expect.closeTo(0.00024, 12) },
      },
      stopReason: "stop",
      rawStopReason: expect.any(String),
      durationMs: expect.any(Number),
      timestamp: expect.any(Number),
    });
  });

  test("the message begins empty and pending, and is one live object in every event", async () => {
    answer("text");
    const messages = new Set<AssistantMessage>();
    let atStart = "";
    for await (const event of stream(model(), question, options)) {
      if (event.type === "start") atStart = JSON.stringify([event.partial.content, event.partial.stopReason]);
      messages.add(event.type === "done" ? event.message : event.type === "error" ? event.error : event.partial);
    }
    expect(atStart).toBe('[[],"pending"]');
    expect(messages.size).toBe(1);
  });

  test("thinking ends before text starts", async () => {
    answer("thinking");
    const { lines, message } = await eventsOf(model(), question, options);
    expect(lines).toEqual([
      "start",
      "thinking_start 0",
      'thinking_delta 0 "Let me"',
      'thinking_delta 0 " see"',
      'thinking_end 0 "Let me see"',
      "text_start 1",
      'text_delta 1 "Done"',
      'text_end 1 "Done"',
      "done stop",
    ]);
    expect(message.content[0]).toEqual({
      type: "thinking",
      thinking: "Let me see",
      ...(traits.signs && { thinkingSignature: expect.any(String) }),
    });
  });

  test("tool call: the text before it ends first, its arguments come as text", async () => {
    answer("tool-call");
    const { lines, message } = await eventsOf(model(), question, options);
    const deltas = lines.filter((line) => line.startsWith("toolcall_delta"));
    expect(lines.filter((line) => !deltas.includes(line))).toEqual([
      "start",
      "text_start 0",
      'text_delta 0 "Reading"',
      'text_end 0 "Reading"',
      `toolcall_start 1 ${(message.content[1] as { id: string }).id} read`,
      'toolcall_end 1 {"path":"a.txt"}',
      "done toolUse",
    ]);
    const text = deltas.map((line) => JSON.parse(line.slice("toolcall_delta 1 ".length))).join("");
    expect(text).toBe('{"path":"a.txt"}');
    expect(message.content[1]).toEqual({
      type: "toolCall",
      id: expect.stringMatching(/01$/),
      name: "read",
      arguments: { path: "a.txt" },
    });
  });

  test("arguments of a call that still streams can be read", async () => {
    answer("tool-call");
    const seen: unknown[] = [];
    for await (const event of stream(model(), question, options))
      if (event.type === "toolcall_delta") {
        const block = event.partial.content[event.contentIndex];
        seen.push(block?.type === "toolCall" ? structuredClone(block.arguments) : undefined);
      }
    expect(seen.at(-1)).toEqual({ path: "a.txt" });
    expect(seen.every((value) => typeof value === "object" && value !== null)).toBe(true);
  });

  test("parallel calls keep their arguments apart", async () => {
    answer("parallel-calls");
    const { message } = await eventsOf(model(), question, options);
    expect(message).toMatchObject({
      stopReason: "toolUse",
      content: [
        { id: expect.stringMatching(/01$/), arguments: { path: "a" } },
        { id: expect.stringMatching(/02$/), arguments: { path: "b" } },
      ],
    });
  });

  test("a call without any argument text is complete", async () => {
    answer("call-without-arguments");
    const { message } = await eventsOf(model(), question, options);
    expect(message.content).toEqual([{ type: "toolCall", id: expect.any(String), name: "list", arguments: {} }]);
  });

  test("stop reasons: length is an end, refusal is a failure", async () => {
    answer("length");
    expect((await eventsOf(model(), question, options)).message).toMatchObject({
      stopReason: "length",
      content: [{ text: "Half an ans" }],
    });
    answer("refusal");
    const { message, lines } = await eventsOf(model(), question, options);
    expect(message).toMatchObject({ stopReason: "error", error: { kind: "refusal" }, usage: { input: 20 } });
    expect(lines.slice(-2)).toEqual(['text_end 0 "I"', "error error"]);
  });

  test("usage: cached tokens are counted and priced apart", async () => {
    answer("cache-usage");
    const { message } = await eventsOf(model(), question, options);
    const { cost, ...counts } = message.usage;
    expect(counts).toMatchObject({
      input: 100,
      output: 12,
      cacheRead: 50,
      cacheWrite: traits.countsCacheWrites ? 30 : 0,
      totalTokens: traits.countsCacheWrites ? 192 : 162,
    });
    expect(counts.reasoning).toBe(traits.countsReasoning ? 4 : undefined);
    // 20 of Claude's 30 cache writes live for an hour and cost twice the input rate.
    const written = counts.cacheWrite1h ? (10 * 3.75 + 20 * 6) / 1e6 : (30 * 3.75) / 1e6;
    const cacheWrite = traits.countsCacheWrites ? written : 0;
    expect(cost.cacheWrite).toBeCloseTo(cacheWrite, 12);
    expect(cost.total).toBeCloseTo((100 * 3 + 12 * 15 + 50 * 0.3) / 1e6 + cacheWrite, 12);
  });

  test("a character cut in half between two deltas is one character", async () => {
    answer("surrogates");
    const { lines, message } = await eventsOf(model(), question, options);
    expect(message.content).toEqual([{ type: "text", text: "Hi 😀!한글" }]);
    expect(lines.slice(2, 5)).toEqual(['text_delta 0 "Hi "', 'text_delta 0 "😀!"', 'text_delta 0 "한글"']);
  });

  test("bytes of a character that arrive apart are one character", async () => {
    const whole = Buffer.from(bytes(fixture(api, "surrogates")));
    const middle = whole.indexOf(Buffer.from("한")) + 1;
    const gap = hold();
    server.reply({ body: [whole.subarray(0, middle), gap, whole.subarray(middle)] });
    const result = eventsOf(model(), question, options);
    await gap.reached;
    gap.release();
    expect((await result).message.content).toEqual([{ type: "text", text: "Hi 😀!한글" }]);
  });

  if (traits.streamsArguments)
    test("abort in a call: at once, blocks closed, what came is kept, the connection is closed", async () => {
      const whole = fixture(api, "tool-call");
      const before = whole.slice(0, whole.lastIndexOf("data:", whole.indexOf('.txt\\"}')));
      const silence = hold();
      server.reply({ body: [bytes(before), silence] });
      const controller = new AbortController();
      const lines: string[] = [];
      const events = stream(model(), question, { ...options, signal: controller.signal });
      for await (const event of events) {
        lines.push(lineOf(event));
        if (event.type === "toolcall_start") {
          await silence.reached;
          controller.abort();
        }
      }
      const message = await events.result();
      expect(lines.slice(-2)).toEqual(["toolcall_end 1 {}", "error aborted"]);
      expect(message).toMatchObject({
        stopReason: "aborted",
        errorMessage: "Request was aborted",
        error: { kind: "aborted" },
        content: [
          { type: "text", text: "Reading" },
          { type: "toolCall", arguments: {}, incompleteArguments: expect.any(String) },
        ],
      });
      const request = server.requests.at(-1);
      expect(await request?.closed).toBe(true);
    });

  test("abort in a text: at once, what came is kept and estimated, the connection is closed", async () => {
    const silence = hold();
    server.reply({ body: [bytes(fixture(api, "cut")), silence] });
    const controller = new AbortController();
    const lines: string[] = [];
    const events = stream(model(), question, { ...options, signal: controller.signal });
    for await (const event of events) {
      lines.push(lineOf(event));
      if (event.type === "text_delta") controller.abort();
    }
    expect(lines.slice(-2)).toEqual(['text_end 0 "Hello"', "error aborted"]);
    const { content, usage } = await events.result();
    expect(content).toEqual([{ type: "text", text: "Hello" }]);
    // Five characters are two tokens, at four a token.
    expect(usage).toMatchObject({ output: 2, totalTokens: usage.input + 2, estimated: true });
    expect(usage.cost.output).toBeCloseTo((2 * 15) / 1e6, 12);
    expect(await server.requests.at(-1)?.closed).toBe(true);
  });

  test("abort before the start sends nothing", async () => {
    const sent = server.requests.length;
    const { lines, message } = await eventsOf(model(), question, { ...options, signal: AbortSignal.abort() });
    expect(lines).toEqual(["start", "error aborted"]);
    expect(message.stopReason).toBe("aborted");
    expect(server.requests.length).toBe(sent);
  });

  test("abort while the provider has not answered yet", async () => {
    const silence = hold();
    server.reply({ beforeHeaders: silence });
    const controller = new AbortController();
    const result = complete(model(), question, { ...options, signal: controller.signal });
    await silence.reached;
    controller.abort();
    expect(await result).toMatchObject({ stopReason: "aborted", content: [] });
    expect(await server.requests.at(-1)?.closed).toBe(true);
  });

  test("a reader that leaves closes the connection", async () => {
    const silence = hold();
    server.reply({ body: [bytes(fixture(api, "cut")), silence] });
    const events = stream(model(), question, options);
    for await (const event of events) if (event.type === "text_delta") break;
    expect(await events.result()).toMatchObject({ stopReason: "aborted", content: [{ text: "Hello" }] });
    expect(await server.requests.at(-1)?.closed).toBe(true);
  });

  test("overflow: a 400 that says the prompt is too long", async () => {
    const body = overflowBody(api);
    server.reply({ status: 400, body });
    const { message, lines } = await eventsOf(model(), question, options);
    expect(lines).toEqual(["start", "error error"]);
    expect(message.error).toMatchObject({ kind: "overflow", status: 400 });
    expect(message.errorMessage).toBe(traits.refusal(400, body));
  });

  test.each([
    [529, "overloaded"],
    [503, "server"],
    [500, "server"],
    [429, "rate_limit"],
    [401, "auth"],
    [404, "not_found"],
    [400, "invalid_request"],
  ])("status %i is %s", async (status, kind) => {
    server.reply({ status, headers: { "retry-after": "7" }, body: '{"error":{"message":"no","type":"x"}}' });
    const { message } = await eventsOf(model(), question, options);
    expect(message.error).toEqual({ kind, status, retryAfterMs: 7000, code: "x" });
    expect(message.stopReason).toBe("error");
  });

  test("an exhausted quota is no rate limit", async () => {
    server.reply({ status: 429, body: '{"error":{"message":"You exceeded it","type":"insufficient_quota"}}' });
    expect((await eventsOf(model(), question, options)).message.error?.kind).toBe("quota");
  });

  test("an error record in the stream: what came before is kept, nothing after it counts", async () => {
    server.reply({ body: [bytes(fixture(api, "overloaded") + fixture(api, "tool-call"))] });
    const { lines, message } = await eventsOf(model(), question, options);
    expect(lines.slice(-2)).toEqual(['text_end 0 "Hello"', "error error"]);
    expect(message).toMatchObject({ stopReason: "error", error: { kind: "overloaded" } });
    expect(message.errorMessage).toMatch(/overloaded/i);
  });

  test("an error record at once", async () => {
    answer("overloaded-at-once");
    const { message, lines } = await eventsOf(model(), question, options);
    expect(lines).toEqual(["start", "error error"]);
    expect(message.error?.kind).toBe("overloaded");
    expect(message.error?.status).toBeUndefined();
  });

  test("a connection that breaks is a transport fault", async () => {
    server.reply({ body: [bytes(fixture(api, "cut")), "cut"] });
    const { message, lines } = await eventsOf(model(), question, options);
    expect(lines.slice(-2)).toEqual(['text_end 0 "Hello"', "error error"]);
    expect(message.error?.kind).toBe("transport");
    expect(message.errorMessage).toMatch(/^terminated: /);
  });

  test("a stream that ends early is incomplete, an empty one too", async () => {
    answer("cut");
    expect((await eventsOf(model(), question, options)).message.error?.kind).toBe("incomplete");
    server.reply({ body: "" });
    expect((await eventsOf(model(), question, options)).message.error?.kind).toBe("incomplete");
  });

  test("nobody listens: a transport fault that names the cause", async () => {
    const unused = await startReplayServer();
    const url = unused.url;
    await unused.close();
    const { message } = await eventsOf(testModel(api, url), question, options);
    expect(message.error).toMatchObject({ kind: "transport", code: "ECONNREFUSED" });
    expect(message.errorMessage).toContain("ECONNREFUSED");
  });

  test("silence after the headers, pings and comments: a timeout, and the connection is closed", async () => {
    const silence = hold();
    server.reply({ body: [traits.noise, silence] });
    const { message } = await eventsOf(model(), question, { ...options, idleTimeoutMs: 250 });
    expect(message).toMatchObject({ stopReason: "error", error: { kind: "timeout" } });
    expect(await server.requests.at(-1)?.closed).toBe(true);
  });

  test("silence before the headers is a timeout", async () => {
    server.reply({ beforeHeaders: hold() });
    const { message } = await eventsOf(model(), question, { ...options, idleTimeoutMs: 250 });
    expect(message.error?.kind).toBe("timeout");
  });

  test("a web page instead of an answer is told in one line", async () => {
    const page = `<!DOCTYPE html><html><head><title>Bad gateway</title></head><body>${"x".repeat(9000)}</body></html>`;
    server.reply({ status: 502, headers: { "content-type": "text/html" }, body: page });
    const { message } = await eventsOf(model(), question, options);
    expect(message.error?.kind).toBe("server");
    expect(message.errorMessage).toBe(traits.refusal(502, 'a web page instead of an answer: "Bad gateway"'));
  });

  test("a body that is no event stream is a failure, not an empty answer", async () => {
    server.reply({ headers: { "content-type": "application/json" }, body: '{"error":{"type":"server_error"}}' });
    const { message } = await eventsOf(model(), question, options);
    expect(message).toMatchObject({ stopReason: "error", error: { kind: "server" } });
    server.reply({ headers: { "content-type": "text/html" }, body: "<html><title>Log in</title></html>" });
    expect((await eventsOf(model(), question, options)).message).toMatchObject({
      error: { kind: "incomplete" },
      errorMessage: 'Answer is no event stream: a web page instead of an answer: "Log in"',
    });
  });

  test("an event stream that calls itself JSON is read", async () => {
    server.reply({ headers: { "content-type": "application/json" }, body: [bytes(fixture(api, "text"))] });
    expect((await eventsOf(model(), question, options)).message).toMatchObject({
      stopReason: "stop",
      content: [{ text: "Hello, world" }],
    });
  });

  test("keys appear in no text", async () => {
    const body = JSON.stringify({ error: { type: "authentication_error", message: `bad key ${options.apiKey}` } });
    server.reply({ status: 401, body });
    const { message } = await eventsOf(model(), question, options);
    expect(message.error?.kind).toBe("auth");
    expect(JSON.stringify(message)).not.toContain(options.apiKey);
    expect(message.errorMessage).toContain("bad key [key]");
  });

  test("while nobody pulls, the provider is not read", async () => {
    const line = fixture(api, "text").match(/(?:event: .*\n)?data: .*Hello.*\n\n/)?.[0] ?? "";
    const [head = "", tail = ""] = fixture(api, "text").split(line);
    const block = bytes(line.repeat(Math.ceil(65_536 / line.length)));
    // More than kernels and streams buffer together.
    const blocks = 400;
    server.reply({ body: [bytes(head), ...Array<typeof block>(blocks).fill(block), bytes(line), bytes(tail)] });
    const before = server.bytesSent;
    const events = stream(model(), question, options);
    const iterator = events[Symbol.asyncIterator]();
    for (let count = 0; count < 3; count++) await iterator.next();
    let sent = -1;
    // The server has stopped when a turn of the event loop moves no more bytes, several times over.
    for (let still = 0; still < 20; ) {
      await new Promise((resolve) => setImmediate(resolve));
      still = server.bytesSent === sent ? still + 1 : 0;
      sent = server.bytesSent;
    }
    expect(server.bytesSent - before).toBeLessThan((blocks * 65_536) / 2);
    await iterator.return?.();
  });
});
