// What no HTTP request can carry, in a text and in a call: one clear error, which nobody tries again.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complete, isRetryable, type Model, type StreamOptions } from "../src/index.js";
import { addressFault, isHeaderName, isHeaderValue, splitLogin } from "../src/sendable.js";
import { type ReplayServer, startReplayServer } from "../src/testing/index.js";
import { cases, wireApis } from "./api-traits.js";
import { fixture, question, testModel, wireBytes } from "./fixtures.js";

test("isHeaderName and isHeaderValue agree with the platform's Headers", () => {
  const takes = (name: string, value: string) => {
    try {
      return Boolean(new Headers([[name, value]]));
    } catch {
      return false;
    }
  };
  const character = fc
    .oneof(fc.integer({ min: 0, max: 0x17f }), fc.constantFrom(0x20ac, 0xd800))
    .map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(character, (sign) => {
      expect(isHeaderName(`x${sign}y`)).toBe(takes(`x${sign}y`, "v"));
      // Headers take control characters that node:http refuses; what either refuses no request can carry.
      if (isHeaderValue(`x${sign}y`)) expect(takes("x", `x${sign}y`)).toBe(true);
      if (!takes("x", `x${sign}y`)) expect(isHeaderValue(`x${sign}y`)).toBe(false);
    }),
    { seed: 7, numRuns: 600 },
  );
  expect([isHeaderName(""), isHeaderValue(""), isHeaderValue("a\tb"), isHeaderValue("a\u007f")]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test.each([
  ["https://a.example/v1", undefined],
  ["http://127.0.0.1:8080", undefined],
  ["file:///etc/passwd", "is no http or https address"],
  ["file:", "is no http or https address"],
  ["localhost:8080/v1", "is no http or https address"],
  ["my place", "is no http or https address"],
  ["", "is empty"],
  ["https://{PLACE_1}.example/v1", "needs the variable PLACE_1, which is not set"],
  ["https://a.example/%7BPLACE%7D/v1", "needs the variable PLACE, which is not set"],
])("addressFault(%j)", (address, fault) => {
  expect(addressFault(address)).toBe(fault);
});

test.each([
  ["https://user:pass@host/v1", "https://host/v1", "user:pass"],
  ["http://user@host:1/a@b?c=d@e", "http://host:1/a@b?c=d@e", "user:"],
  ["https://a%40b:p%3Aq%2F@host", "https://host", "a@b:p:q/"],
  ["https://u:p@ss@host/", "https://host/", "u:p@ss"],
  ["HTTPS:\\\\u:p@host\\v1", "HTTPS:\\\\host\\v1", "u:p"],
  ["https://host/a@b", "https://host/a@b", undefined],
  ["no address @ all", "no address @ all", undefined],
])("splitLogin(%j)", (address, rest, login) => {
  const found = splitLogin(address);
  expect(found.address).toBe(rest);
  expect(found.login && Buffer.from(found.login.slice("Basic ".length), "base64").toString()).toBe(login);
});

describe("a call that cannot be sent", () => {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await startReplayServer();
  });
  afterAll(() => server.close());

  const faults: [string, { model?: Partial<Model>; options?: StreamOptions }, string, string][] = [
    [
      "another scheme",
      { model: { baseUrl: "file:///secret-place" } },
      "invalid_request",
      "is no http or https address",
    ],
    ["no address", { model: { baseUrl: "secret-place" } }, "invalid_request", "is no http or https address"],
    [
      "a variable",
      { model: { baseUrl: "https://h/{SECRET_PLACE}" } },
      "invalid_request",
      "needs the variable SECRET_PLACE",
    ],
    [
      "a header's name",
      { options: { headers: { "bad name": "secret-value" } } },
      "invalid_request",
      '"bad name" is no name',
    ],
    [
      "a header's value",
      { options: { headers: { "x-own": "secret-\r\nvalue" } } },
      "invalid_request",
      'the value of header "x-own"',
    ],
    [
      "a model's header",
      { model: { headers: { "x-own": "secret-€" } } },
      "invalid_request",
      'the value of header "x-own"',
    ],
    ["a key with a line end", { options: { apiKey: "secret-key\n" } }, "auth", "the key has characters"],
    ["a key of other letters", { options: { apiKey: "sеcret-key-кл" } }, "auth", "the key has characters"],
  ];
  test.each(cases.flatMap((way) => faults.map((fault) => [way.api, way.transport, ...fault, way.send] as const)))(
    "%s over %s: %s",
    async (api, _transport, _title, { model, options }, kind, text, send) => {
      const called = testModel(api, server.url, model);
      const requestRetries = { count: 3, longestWaitMs: 0 };
      const message = await complete(called, question, {
        apiKey: "key-for-tests",
        requestRetries,
        ...send,
        ...options,
      });
      expect(message).toMatchObject({ stopReason: "error", error: { kind } });
      expect(message.errorMessage).toMatch(/^Cannot call model "test-model"/);
      expect(message.errorMessage).toContain(text);
      expect(message.errorMessage).not.toMatch(/secret-|sеcret/);
      expect(isRetryable(message.error!.kind)).toBe(false);
      expect(server.requests).toEqual([]);
    },
  );
});

describe("a user and password in a base URL", () => {
  const basic = `Basic ${Buffer.from("user:pa:ss word").toString("base64")}`;

  test.each(cases)("go as a header: $api over $transport", async ({ api, send }) => {
    const server = await startReplayServer();
    server.reply({ body: [wireBytes(api, fixture(api, "text"))] });
    const baseUrl = server.url.replace("://", "://user:pa%3Ass%20word@");
    const message = await complete(testModel(api, baseUrl), question, { apiKey: "key-for-tests", ...send });
    await server.close();
    expect(message.errorMessage).toBeUndefined();
    expect(server.requests[0]?.headers.authorization).toBe(basic);
  });

  test("a header of one's own wins, and no failure shows any of it", async () => {
    const server = await startReplayServer();
    const api = wireApis.find((name) => name === "openai-completions") as string;
    const baseUrl = server.url.replace("://", "://user:pa%3Ass%20word@");
    server.reply({ status: 400, body: `{"error":"you sent ${basic} for pa:ss word"}` }, { status: 400, body: "{}" });
    expect((await complete(testModel(api, baseUrl), question)).errorMessage).toBe(
      '400: "you sent [key] for [key]"'.replaceAll('"', ""),
    );
    await complete(testModel(api, baseUrl), question, { headers: { Authorization: "Bearer own" } });
    await server.close();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([basic, "Bearer own"]);
  });
});
