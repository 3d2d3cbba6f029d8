import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findSyntaxError, locate, positionOf, readJsonFile } from "../../src/resources/json-file.js";
import { workspace } from "./workspace.js";

describe("findSyntaxError", () => {
  test.each([
    ['{"a": b}', 6],
    ['{"a": 1,}', 8],
    ['{"a": 1 "b": 2}', 8],
    ["{a: 1}", 1],
    ['{"a": tru}', 9],
    ['{"a": "x\ny"}', 8],
    ['{"a": 01}', 7],
    ["[1, 2}", 5],
    ['{"a": 1}}', 8],
    ["// comment\n{}", 0],
    ['{"a": "\\q"}', 8],
    ['{"a": {"b": [1, 2', 17],
    ['{"a": "unend', 12],
    ['{"a"', 4],
    ["{", 1],
    ['{"a": 1.x}', 8],
    ['{"a": -}', 7],
    ['{"in JSON at position 3": Unexpected end of JSON input}', 26],
  ])("finds %j at %i", (text, offset) => {
    expect(findSyntaxError(text)).toBe(offset);
  });

  test("finds a character nothing could follow, wherever it stands in whatever is JSON otherwise", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const offset = at % (text.length + 1);
        const broken = `${text.slice(0, offset)}\u0001${text.slice(offset)}`;
        expect(findSyntaxError(broken)).toBe(offset);
      }),
      { seed: 20260103, numRuns: 300 },
    );
  });
});

test("locate finds the key of a member, and an item of a list", () => {
  const text = '{\n  "a": {"b": [1, {"c": "x:,{}"}]},\n  "b": 2, "c": [[], {}]\n}';
  expect(positionOf(text, locate(text, ["a", "b"]))).toEqual({ line: 2, column: 9 });
  expect(positionOf(text, locate(text, ["a", "b", 1, "c"]))).toEqual({ line: 2, column: 19 });
  expect(positionOf(text, locate(text, ["a", "b", 1]))).toEqual({ line: 2, column: 18 });
  expect(positionOf(text, locate(text, ["b"]))).toEqual({ line: 3, column: 3 });
  expect(positionOf(text, locate(text, ["c", 1]))).toEqual({ line: 3, column: 21 });
  expect(locate(text, ["nowhere"])).toBe(0);
});

describe("readJsonFile", () => {
  test("a missing or empty file is just absent", () => {
    const { root, write } = workspace();
    expect(readJsonFile(`${root}/missing.json`, "settings")).toMatchObject({ diagnostics: [] });
    expect(readJsonFile(write("empty.json", " \n"), "settings")).toMatchObject({ diagnostics: [] });
  });

  test("a byte order mark is passed over", () => {
    expect(readJsonFile(workspace().write("bom.json", '\uFEFF{"a":1}'), "settings").value).toEqual({ a: 1 });
  });

  test.each([
    ['{\n  "a": 1,\n  "b" 2\n}', 'The file is no JSON: unexpected "2"; the file is ignored', { line: 3, column: 7 }],
    ['{"a": [1, 2', "The file is no JSON: unexpected end; the file is ignored", { line: 1, column: 12 }],
    ["[]", "The file holds no JSON object; the file is ignored", {}],
  ])("%j is a diagnostic", (text, message, position) => {
    const path = workspace().write("broken.json", text);
    const file = readJsonFile(path, "settings");
    expect(file.value).toBeUndefined();
    expect(file.diagnostics).toEqual([{ severity: "error", source: "settings", message, path, ...position }]);
  });
});
