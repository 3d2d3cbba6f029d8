import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyEdits } from "../../src/tools/edit-matching.js";

const edit = (text: string, oldText: string, newText: string) => applyEdits(text, [{ oldText, newText }]).text;

describe("applyEdits", () => {
  test("replaces exact text and tells the first changed line", () => {
    expect(
      applyEdits("one\ntwo\nthree\n", [
        { oldText: "three", newText: "3" },
        { oldText: "two\n", newText: "" },
      ]),
    ).toEqual({ text: "one\n3\n", firstChangedLine: 2 });
  });

  test("takes replacement text literally", () => {
    expect(edit("price: x", "x", "$& $1 $$")).toBe("price: $& $1 $$");
  });

  test.each([
    ["CRLF in the file", "a\r\nb\r\nc\r\n", "a\nb", "a\nB\nX", "a\r\nB\r\nX\r\nc\r\n"],
    ["new lines take the file's ending", "a\r\nb\r\n", "b", "b1\nb2", "a\r\nb1\r\nb2\r\n"],
    ["the nearest ending in a mixed file", "a\nb\r\nc\n", "c", "c\nd", "a\nb\r\nc\nd\n"],
    ["unchanged lines of a mixed file", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nd", "a\r\nB\nc\r\nd\n"],
    ["CRLF that the model wrote itself", "a\nb\n", "a", "x\r\ny", "x\r\ny\nb\n"],
    [
      "white space at the ends of lines",
      "if x:  \n    y\t\nz\n",
      "if x:\n    y\n",
      "if x:\n    Y\n",
      "if x:  \n    Y\nz\n",
    ],
    ["white space in the old text", "a\nb\nc\n", "a  \nb \nc", "a\nB\nc", "a\nB\nc\n"],
    ["typographic quotes and dashes", "say \u201chi\u201d \u2013 it\u2019s\n", 'say "hi" - it\'s', "bye", "bye\n"],
    ["spaces of other widths", "a\u00a0b\u202fc", "a b c", "x", "x"],
    ["an addition after the last line", "a \r\nb\r\n", "a\nb\n", "a\nb\nc\n", "a \r\nb\r\nc\r\n"],
    ["an addition before the first line", "a \nb\n", "a\nb", "z\na\nb", "z\na \nb\n"],
    ["a deletion in between", "a \nb\nc \n", "a\nb\nc", "a\nc", "a \nc \n"],
    ["a byte-order mark", "\ufeffa\r\nb\n", "a\nb", "A\nb", "\ufeffA\r\nb\n"],
    ["an astral character before", "😀\u2019\n", "'", "!", "😀!\n"],
  ])("forgives %s", (_name, text, oldText, newText, wanted) => {
    expect(edit(text, oldText, newText)).toBe(wanted);
  });

  test.each([
    [
      "text that is not there",
      "abc",
      [["x", "y"]],
      "the edit: oldText was not found; it must match the file, whitespace and indentation included",
    ],
    [
      "text that is there twice",
      "x\ny\nx\n",
      [["x", "z"]],
      "the edit: oldText occurs 2 times (lines 1, 3); add surrounding text so that it is unique",
    ],
    ["overlapping occurrences", "aaa", [["aa", "b"]], "the edit: oldText occurs 2 times (lines 1, 1)"],
    ["two tolerant matches", "it\u2019s\nit\u2018s\n", [["it's", "x"]], "occurs 2 times (lines 1, 2)"],
    ["old text without text", "abc", [["", "y"]], "the edit has an empty oldText"],
    ["an edit without effect", "abc", [["b", "b"]], "the edit changes nothing: oldText and newText are the same"],
    ["a result without a change", "a\r\nb", [["a\nb", "a\r\nb"]], "the edits change nothing"],
    [
      "overlapping edits",
      "abcd",
      [
        ["bc", "x"],
        ["cd", "y"],
      ],
      "edits[0] and edits[1] overlap; make them one edit",
    ],
    [
      "the same edit twice",
      "abcd",
      [
        ["bc", "x"],
        ["bc", "y"],
      ],
      "edits[0] and edits[1] overlap; make them one edit",
    ],
    ["white space inside a line", "foo bar", [["foo  ", "x"]], "was not found"],
    ["white space alone", "a\n\nb", [["  ", "x"]], "was not found"],
  ] as [string, string, [string, string][], string][])("refuses %s", (_name, text, edits, reason) => {
    const list = edits.map(([oldText, newText]) => ({ oldText, newText }));
    expect(() => applyEdits(text, list)).toThrow(reason);
  });

  test("an exact match wins over tolerant ones", () => {
    expect(edit("it\u2019s\nit's\n", "it's", "x")).toBe("it\u2019s\nx\n");
  });

  test("adjacent edits do not overlap", () => {
    expect(
      applyEdits("abcd", [
        { oldText: "cd", newText: "2" },
        { oldText: "ab", newText: "1" },
      ]).text,
    ).toBe("12");
  });

  test("a tolerant edit of one line leaves every other byte of any file alone", () => {
    const lineText = fc.constantFrom("a", "b ", "  c\t", "\u201cd\u201d", "", "e \u2013 f");
    const ending = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(lineText, ending)),
        fc.array(fc.tuple(lineText, ending)),
        ending,
        (before, after, end) => {
          const join = (lines: [string, string][]) => lines.map((pair) => pair.join("")).join("");
          const text = `${join(before)}  the \u2018target\u2019 line  ${end}${join(after)}`;
          expect(edit(text, "  the 'target' line\n", "  another\n")).toBe(
            `${join(before)}  another${end}${join(after)}`,
          );
        },
      ),
      { seed: 6, numRuns: 300 },
    );
  });
});
