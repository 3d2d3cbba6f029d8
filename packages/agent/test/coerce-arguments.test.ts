import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { coerceArguments } from "../src/coerce-arguments.js";

const tool = {
  name: "edit",
  parameters: Type.Object({
    path: Type.String(),
    limit: Type.Optional(Type.Number()),
    deep: Type.Optional(Type.Boolean()),
    edits: Type.Optional(Type.Array(Type.Object({ oldText: Type.String(), newText: Type.String() }))),
  }),
};

describe("coerceArguments", () => {
  test.each<[string, unknown, unknown]>([
    ["what fits stays as it is", { path: "a", limit: 3 }, { path: "a", limit: 3 }],
    ["a number in a string", { path: "a", limit: "3" }, { path: "a", limit: 3 }],
    ["a boolean in a string", { path: "a", deep: "true" }, { path: "a", deep: true }],
    ["a number where a text is wanted", { path: 5 }, { path: "5" }],
    ["null in an optional field", { path: "a", limit: null, deep: null }, { path: "a" }],
    ["fields of no parameter", { path: "a", other: 1 }, { path: "a", other: 1 }],
  ])("%s", async (_, given, expected) => {
    expect(await coerceArguments(tool, given)).toEqual(expected);
  });

  test.each<[string, unknown, string]>([
    ["a missing field", {}, 'Invalid arguments for tool "edit":\n- arguments: must have required properties path'],
    ["a wrong type", { path: "a", limit: "many" }, 'Invalid arguments for tool "edit":\n- limit: must be number'],
    [
      "a field deep inside",
      { path: "a", edits: [{ oldText: "x", newText: "y" }, { oldText: "x" }] },
      'Invalid arguments for tool "edit":\n- edits.1: must have required properties newText',
    ],
    ["no object", [], 'Invalid arguments for tool "edit":\n- arguments: must be object'],
    ["null", null, 'Invalid arguments for tool "edit":\n- arguments: must be object'],
  ])("%s is refused by name", async (_, given, message) => {
    const echo = `\n\nReceived:\n${JSON.stringify(given, null, 2)}`;
    await expect(coerceArguments(tool, given)).rejects.toThrow(new Error(message + echo));
  });

  test("null in a required field is no way to leave it out", async () => {
    const strict = { name: "t", parameters: Type.Object({ mode: Type.Union([Type.Literal("a"), Type.Literal("b")]) }) };
    await expect(coerceArguments(strict, { mode: null })).rejects.toThrow(/^Invalid arguments for tool "t":\n- mode: /);
  });

  test("names eight faults at most", async () => {
    const many = { name: "t", parameters: Type.Object({ list: Type.Array(Type.Number()) }) };
    const failure = await coerceArguments(many, { list: Array(30).fill("x") }).catch((error: Error) => error.message);
    expect((failure as string).split("\n\nReceived:")[0]?.split("\n")).toHaveLength(9);
  });

  test("repeats no more than 2,000 characters of what it was given", async () => {
    const failure = await coerceArguments(tool, { path: 1, limit: "x".repeat(5000) }).catch((error: Error) => error);
    expect((failure as Error).message).toMatch(/x{100}…$/);
    expect((failure as Error).message.length).toBeLessThan(2200);
  });

  test("never changes what it was given", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ path: fc.anything(), limit: fc.anything(), deep: fc.anything() }, { requiredKeys: [] }),
        async (given) => {
          const args = JSON.parse(JSON.stringify(given)) as object;
          const before = JSON.stringify(args);
          await coerceArguments(tool, args).catch(() => {});
          expect(JSON.stringify(args)).toBe(before);
        },
      ),
      { seed: 7, numRuns: 200 },
    );
  });
});
