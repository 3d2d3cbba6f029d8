// Texts of failures: short, one line, no secrets.

import { describe, expect, test } from "vitest";
import { bodyText, errorRecordText, redactSecrets, secretsOf, shortenBody } from "../src/error-text.js";

test("shortenBody leaves a short text alone, cuts a long one between characters, and names a web page", () => {
  expect(shortenBody(' {"a":1}\n')).toBe('{"a":1}');
  const long = `${"x".repeat(1999)}😀${"y".repeat(100)}`;
  expect(shortenBody(long)).toBe(`${"x".repeat(1999)} … (2101 characters)`);
  expect(shortenBody("<!doctype html><html><title>\n Gone\n away </title></html>")).toBe(
    'a web page instead of an answer: "Gone away"',
  );
  expect(shortenBody("<html><body>x</body></html>")).toBe("a web page instead of an answer");
});

test("redactSecrets replaces keys wherever they stand, and no short word", () => {
  expect(redactSecrets("k=sk-12345678 sk-12345678!", ["sk-12345678", "k"])).toBe("k=[key] [key]!");
});

test("secretsOf finds keys in the environment of the call, not where they are or whose they are", () => {
  const env = {
    AWS_SECRET_ACCESS_KEY: "abcdefgh1",
    AWS_SESSION_TOKEN: "abcdefgh2",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/var/token",
    DB_PASSWORD: "abcdefgh3",
    EMPTY_KEY: undefined,
    HOME: "/home/somebody",
  };
  expect(secretsOf({ env })).toEqual(["abcdefgh1", "abcdefgh2", "abcdefgh3"]);
});

test("secretsOf finds the key and the keys in headers", () => {
  const headers = {
    Authorization: "Bearer abcdefgh1",
    "x-api-key": "abcdefgh2",
    "x-title": "no secret",
    "x-portkey-auth": "abcdefgh3",
  };
  expect(secretsOf({ apiKey: "abcdefgh0", headers })).toEqual([
    "abcdefgh0",
    "Bearer abcdefgh1",
    "abcdefgh1",
    "abcdefgh2",
    "abcdefgh2",
    "abcdefgh3",
    "abcdefgh3",
  ]);
});

describe("redactSecrets: what servers make of a key", () => {
  const odd = 'SEC"RE\\T/+KEY12345';
  test.each<[string, string]>([
    ["as it is", odd],
    ["in JSON", JSON.stringify(odd).slice(1, -1)],
    ["in JSON within JSON", JSON.stringify(JSON.stringify({ odd })).slice(9, -4)],
    ["in an address", encodeURIComponent(odd)],
  ])("%s", (_, form) => {
    const text = redactSecrets(`bad ${form}!`, [odd]);
    expect(text).toContain("[key]");
    expect(text).not.toContain("KEY12345");
  });

  test.each([4, 7, 12])("a key that was cut after %i characters", (length) => {
    const secret = "SECRETKEY12345";
    const cut = shortenBody(`${"x".repeat(2000 - length)}${secret}${"y".repeat(9000)}`);
    expect(redactSecrets(cut, [secret])).toBe(`${"x".repeat(2000 - length)}[key] … (${11_014 - length} characters)`);
  });

  test("a lone surrogate in a key does no harm", () => {
    expect(redactSecrets("a \ud800keykeykey b", ["\ud800keykeykey"])).toBe("a [key] b");
  });
});

test.each([
  ["plain words", "plain words", "plain words"],
  ["", "(no body)", "(no body)"],
  [undefined, "(no body)", "(no body)"],
  [null, "null", "null"],
  [{ error: { message: "m" } }, '{"error":{"message":"m"}}', '{"message":"m"}'],
  [{ error: "m" }, '{"error":"m"}', "m"],
  [{ error: "" }, '{"error":""}', "(no body)"],
  [{ error: null, detail: 1 }, '{"error":null,"detail":1}', '{"error":null,"detail":1}'],
  [{ detail: "m" }, '{"detail":"m"}', '{"detail":"m"}'],
])("bodyText and errorRecordText of %j", (body, whole, record) => {
  expect([bodyText(body), errorRecordText(body)]).toEqual([whole, record]);
});

test("secretsOf finds what a model brings along: headers, and the password of its base URL alone and encoded", () => {
  const basic = Buffer.from("me:password").toString("base64");
  const model = { baseUrl: "https://me:password@host", headers: { "x-token": "abcdefgh1", "x-other": "abcdefgh2" } };
  expect(secretsOf({ apiKey: "abcdefgh0" }, model)).toEqual([
    "abcdefgh0",
    ...["abcdefgh1", "abcdefgh1"],
    ...[`Basic ${basic}`, basic, "password"],
  ]);
});
