import { describe, expect, test } from "vitest";
import { stackOf, textOf } from "../../src/lib/error-text.js";

describe("textOf", () => {
  test.each<[unknown, string]>([
    [new TypeError("bad"), "bad"],
    ["a text", "a text"],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
    [Object.create(null), "Something was thrown that has no text"],
    [{ toString: () => Promise.reject }, "Something was thrown that has no text"],
  ])("of %o is %j", (thrown, text) => {
    expect(textOf(thrown)).toBe(text);
  });
});

describe("stackOf", () => {
  test("is the stack of an error, else what it says", () => {
    const error = new Error("bad");
    expect(stackOf(error)).toBe(error.stack);
    error.stack = "";
    expect(stackOf(error)).toBe("bad");
    expect(stackOf(5)).toBe("5");
  });
});
