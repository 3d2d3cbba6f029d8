// Every condition a provider call can end in, and the kind it has.

import { describe, expect, test } from "vitest";
import { classifyProviderError, errorInfo, isRetryable, ProviderError } from "../src/index.js";
import { failureInfo, readRetryAfter } from "../src/provider-error.js";

describe("failureInfo by status", () => {
  test.each([
    [400, "invalid_request"],
    [401, "auth"],
    [402, "quota"],
    [403, "auth"],
    [404, "not_found"],
    [408, "timeout"],
    [409, "invalid_request"],
    [413, "overflow"],
    [422, "invalid_request"],
    [429, "rate_limit"],
    [500, "server"],
    [502, "server"],
    [503, "server"],
    [504, "server"],
    [520, "server"],
    [524, "server"],
    [529, "overloaded"],
  ])("%i is %s, in any language", (status, kind) => {
    expect(failureInfo({ status, body: "Ein Fehler ist aufgetreten" })).toEqual({ kind, status });
    expect(failureInfo({ status })).toEqual({ kind, status });
  });
});

describe("failureInfo by the provider's error type", () => {
  test.each([
    [429, { error: { code: "insufficient_quota", message: "x" } }, "quota", "insufficient_quota"],
    [429, { error: { type: "usage_limit_reached" } }, "quota", "usage_limit_reached"],
    [
      400,
      { error: { code: "context_length_exceeded", type: "invalid_request_error" } },
      "overflow",
      "context_length_exceeded",
    ],
    [500, { error: { type: "overloaded_error" } }, "overloaded", "overloaded_error"],
    [500, { error: { type: "exceed_context_size_error", code: 500 } }, "overflow", "500"],
    [undefined, { type: "error", error: { type: "overloaded_error" } }, "overloaded", "overloaded_error"],
    [undefined, { type: "error", error: { type: "rate_limit_error" } }, "rate_limit", "rate_limit_error"],
    [undefined, { type: "error", error: { type: "api_error" } }, "server", "api_error"],
    [undefined, { type: "error", error: { type: "authentication_error" } }, "auth", "authentication_error"],
    [undefined, { error: { code: 502, message: "Provider returned error" } }, "server", "502"],
    [429, { error: { code: 429, message: "x", status: "RESOURCE_EXHAUSTED" } }, "rate_limit", "RESOURCE_EXHAUSTED"],
    [undefined, { error: { code: 503, message: "x", status: "UNAVAILABLE" } }, "overloaded", "UNAVAILABLE"],
    [
      400,
      { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } },
      "auth",
      "INVALID_ARGUMENT",
    ],
    [undefined, { error: { code: "throttlingException", message: "x" } }, "rate_limit", "throttlingException"],
    [undefined, { error: { code: "serviceQuotaExceededException" } }, "quota", "serviceQuotaExceededException"],
    [undefined, { error: { code: 429 } }, "rate_limit", "429"],
    [
      undefined,
      { error: { type: "invalid_request_error", message: "no" } },
      "invalid_request",
      "invalid_request_error",
    ],
  ] as const)("%s %j is %s", (status, body, kind, code) => {
    expect(failureInfo({ status, body })).toEqual({ kind, code, ...(status ? { status } : {}) });
  });
});

describe("failureInfo by wording, where nothing else says", () => {
  test.each([
    [400, "prompt is too long: 213462 tokens > 200000 maximum", "overflow"],
    [400, "input length and `max_tokens` exceed context limit: 195000 + 21333 > 200000", "overflow"],
    [
      400,
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000",
      "overflow",
    ],
    [400, "Your input exceeds the context window of this model", "overflow"],
    [400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)", "overflow"],
    [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens", "overflow"],
    [400, "Please reduce the length of the messages or completion", "overflow"],
    [400, "the request exceeds the available context size, try increasing it", "overflow"],
    [400, "tokens to keep from the initial prompt is greater than the context length", "overflow"],
    [400, "prompt too long; exceeded max context length by 4 tokens", "overflow"],
    [400, "Your request exceeded model token limit: 262144", "overflow"],
    [500, "the request exceeds the available context size", "overflow"],
    [429, "Too many tokens per minute", "rate_limit"],
    [429, "You have hit your ChatGPT usage limit (plus plan).", "quota"],
    [429, "You exceeded your current quota, please check your plan and billing details", "quota"],
    [400, "Your credit balance is too low to access the Anthropic API", "quota"],
    [403, "Insufficient balance", "quota"],
    [undefined, "The server is overloaded, try again", "overloaded"],
    [undefined, "Rate limit hit", "rate_limit"],
    [undefined, "Internal server error", "server"],
    [undefined, "Something else", "other"],
    [400, "temperature must be below 2", "invalid_request"],
  ] as const)("%s %s", (status, message, kind) => {
    expect(failureInfo({ status, body: { error: { message } } }).kind).toBe(kind);
    expect(failureInfo({ status, body: message }).kind).toBe(kind);
  });
});

describe("readRetryAfter", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  test.each([
    ["seconds", { "retry-after": "7" }, 7000],
    ["a fraction of seconds", { "retry-after": "1.5" }, 1500],
    ["zero", { "retry-after": "0" }, 0],
    ["an HTTP date", { "retry-after": "Sun, 01 Mar 2026 12:01:00 GMT" }, 60_000],
    ["a date in the past", { "retry-after": "Sun, 01 Mar 2026 11:59:00 GMT" }, undefined],
    ["milliseconds, which win", { "retry-after-ms": "250", "retry-after": "7" }, 250],
    ["malformed milliseconds", { "retry-after-ms": "soon", "retry-after": "7" }, 7000],
    ["a negative number", { "retry-after": "-3" }, undefined],
    ["garbage", { "retry-after": "soon" }, undefined],
    ["garbage with a number", { "retry-after": "soon 5" }, undefined],
    ["nothing", { "retry-after": " " }, undefined],
    ["no header", {}, undefined],
    ["a day", { "retry-after": "86400" }, 86_400_000],
  ])("%s", (_title, headers, expected) => {
    expect(readRetryAfter(headers, now)).toBe(expected);
    const info = failureInfo({ status: 429, headers, now });
    expect(info).toEqual({
      kind: "rate_limit",
      status: 429,
      ...(expected === undefined ? {} : { retryAfterMs: expected }),
    });
  });
});

describe("classifyProviderError of thrown faults", () => {
  const withCode = (code: string, message = code) => Object.assign(new Error(message), { code });
  test.each([
    ["ECONNRESET", "transport"],
    ["ECONNREFUSED", "transport"],
    ["EPIPE", "transport"],
    ["ETIMEDOUT", "transport"],
    ["EAI_AGAIN", "transport"],
    ["ENOTFOUND", "transport"],
    ["UND_ERR_SOCKET", "transport"],
    ["UND_ERR_ABORTED", "transport"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
    ["UND_ERR_BODY_TIMEOUT", "timeout"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
    ["ERR_INVALID_CHAR", "other"],
    ["ERR_INVALID_HTTP_TOKEN", "other"],
    ["ERR_INVALID_URL", "other"],
    ["ERR_UNESCAPED_CHARACTERS", "other"],
    ["UND_ERR_INVALID_ARG", "other"],
    ["CERT_HAS_EXPIRED", "other"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "other"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "other"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "other"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "other"],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "transport"],
  ])("%s is %s, however deep it lies", (code, kind) => {
    expect(errorInfo(withCode(code))).toEqual({ kind, code });
    const wrapped = new Error("Failed to process", { cause: new TypeError("fetch failed", { cause: withCode(code) }) });
    expect(errorInfo(wrapped)).toEqual({ kind, code });
  });

  test("the text of a dropped connection is the fault and its cause, without wrappers", () => {
    const cause = withCode("UND_ERR_SOCKET", "other side closed");
    const fault = new Error("Failed to process successful response", { cause: new TypeError("terminated", { cause }) });
    expect(classifyProviderError(fault)).toMatchObject({
      message: "terminated: other side closed",
      info: { kind: "transport" },
    });
  });

  test("the attempts on several addresses count as their first", () => {
    const attempts = new AggregateError([withCode("ECONNREFUSED", "connect ECONNREFUSED ::1:9")]);
    expect(classifyProviderError(new TypeError("fetch failed", { cause: attempts }))).toMatchObject({
      message: "fetch failed: connect ECONNREFUSED ::1:9",
      info: { kind: "transport" },
    });
  });

  test("what fetch refuses to send is no fault of the line", () => {
    for (const text of ["bad port", "unknown scheme", "redirect count exceeded"])
      expect(errorInfo(new TypeError("fetch failed", { cause: new Error(text) }))).toEqual({ kind: "other" });
  });

  test("aborts and timeouts by name", () => {
    expect(errorInfo(new DOMException("x", "AbortError"))).toEqual({ kind: "aborted" });
    expect(errorInfo(new DOMException("x", "TimeoutError"))).toEqual({ kind: "timeout" });
  });

  test("a line that is no JSON means an incomplete answer", () => {
    expect(errorInfo(Object.assign(new Error("x"), { name: "AI_JSONParseError" }))).toEqual({ kind: "incomplete" });
  });

  test("a ProviderError keeps its kind, also inside another error, and loses keys from its text", () => {
    const error = new ProviderError("bad key sk-12345678", { kind: "auth", status: 401 });
    expect(classifyProviderError(error)).toBe(error);
    const wrapped = classifyProviderError(new Error("outer", { cause: error }), ["sk-12345678"]);
    expect(wrapped).toMatchObject({ message: "bad key [key]", info: { kind: "auth", status: 401 } });
  });

  test("anything else is other, with a text", () => {
    expect(classifyProviderError("plain words")).toMatchObject({ message: "plain words", info: { kind: "other" } });
    expect(classifyProviderError(undefined)).toMatchObject({ message: "Unknown error", info: { kind: "other" } });
    const circle: Error & { cause?: unknown } = new Error("round");
    circle.cause = circle;
    expect(classifyProviderError(circle)).toMatchObject({ message: "round", info: { kind: "other" } });
  });
});

test("isRetryable: faults that may pass, and no others", () => {
  const kinds = ["overloaded", "rate_limit", "server", "transport", "incomplete", "timeout"] as const;
  const final = ["quota", "overflow", "auth", "not_found", "invalid_request", "refusal", "aborted", "other"] as const;
  expect(kinds.filter(isRetryable)).toEqual(kinds);
  expect(final.filter(isRetryable)).toEqual([]);
});
