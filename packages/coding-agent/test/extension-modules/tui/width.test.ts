// The widths: what counts, and that nothing is ever wider than it may be.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  sliceByColumn,
  stripTerminalSequences,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "../../../src/extension-modules/tui/width.js";

const seed = 20_260;
/** Words, wide characters, joined emoji, accents, styles and links, as lines of a terminal have them. */
const piece = fc.constantFrom(
  ..."abc defgh ijklmnopq".split(" "),
  " ",
  "  ",
  "中文",
  "한글",
  "👨‍👩‍👧",
  "🇩🇪",
  "e\u0301",
  "\u001b[31m",
  "\u001b[1;4m",
  "\u001b[0m",
  "\u001b[48;2;1;2;3m",
  "\u001b]8;;http://x.test\u0007link\u001b]8;;\u0007",
);
const line = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));
const width = fc.integer({ min: 2, max: 30 });

describe("visibleWidth", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["\u001b[31mred\u001b[0m", 3],
    ["中文", 4],
    ["👨‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["a\tb", 5],
    ["e\u0301", 1],
    ["\u001b]8;;http://x\u0007link\u001b]8;;\u0007", 4],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", 4],
    ["\u001b_pi:c\u0007", 0],
    ["a\nb", 2],
    ["\u200b", 0],
  ])("counts the columns of %j", (text, columns) => {
    expect(visibleWidth(text)).toBe(columns);
  });
});

describe("truncateToWidth", () => {
  it.each<[string, number, string | undefined, string]>([
    ["hello", 5, undefined, "hello"],
    ["hello world", 8, undefined, "hello..."],
    ["hello world", 8, "", "hello wo"],
    ["hello world", 8, "…", "hello w…"],
    ["hello", 2, undefined, ".."],
    ["hello", 0, undefined, ""],
    ["hello", -3, undefined, ""],
    ["中文字符", 5, undefined, "中..."],
    ["a\tbcdef", 5, undefined, "a ..."],
  ])("shows %j in %d columns", (text, columns, ellipsis, shown) => {
    expect(stripTerminalSequences(truncateToWidth(text, columns, ellipsis))).toBe(shown);
  });

  it("ends styles before the ellipsis and links with what is kept", () => {
    expect(truncateToWidth("\u001b[31mhello world\u001b[0m", 8)).toMatch(
      /^\u001b\[31mhello(?:\u001b\[39m)?\u001b\[0m\.\.\./,
    );
    expect(truncateToWidth("\u001b]8;;http://x\u0007link text\u001b]8;;\u0007", 5)).toContain("li\u001b]8;;\u0007");
  });

  it("fills up to the width when asked to", () => {
    expect(truncateToWidth("hi", 6, "...", true)).toBe("hi    ");
  });

  it("is never wider, and keeps a beginning of the text", () => {
    fc.assert(
      fc.property(line, width, (text, columns) => {
        const cut = truncateToWidth(text, columns, "");
        expect(visibleWidth(cut)).toBeLessThanOrEqual(columns);
        expect(stripTerminalSequences(text).startsWith(stripTerminalSequences(cut))).toBe(true);
        expect(visibleWidth(truncateToWidth(text, columns, "...", true))).toBeGreaterThanOrEqual(columns);
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe("wrapTextWithAnsi", () => {
  it.each<[string, number, string[]]>([
    ["hello world foo", 5, ["hello", "world", "foo"]],
    ["hello   world", 7, ["hello", "world"]],
    ["abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["", 5, [""]],
    ["a\n\nb", 5, ["a", "", "b"]],
    ["a\r\nb", 5, ["a", "b"]],
    ["中文字符", 3, ["中", "文", "字", "符"]],
    ["  ab\nc", 8, ["  ab", "c"]],
  ])("breaks %j at %d columns", (text, columns, lines) => {
    expect(wrapTextWithAnsi(text, columns)).toEqual(lines);
  });

  it("takes styles over the ends of lines, its own breaks and those of the text", () => {
    expect(wrapTextWithAnsi("\u001b[31mhello world\u001b[0m", 6)[1]).toMatch(/^\u001b\[31mworld/);
    expect(wrapTextWithAnsi("\u001b[31ma\nb\u001b[0m", 6)[1]).toMatch(/^\u001b\[31mb/);
    expect(wrapTextWithAnsi("\u001b[1;38;5;9ma\u001b[22m\nb\u001b[39m\nc", 6)).toEqual([
      "\u001b[1;38;5;9ma\u001b[22m",
      "\u001b[38;5;9mb\u001b[39m",
      "c",
    ]);
  });

  it("gives lines that fit and together have all of the text but spaces", () => {
    fc.assert(
      fc.property(line, width, (text, columns) => {
        const lines = wrapTextWithAnsi(text, columns);
        for (const one of lines) expect(visibleWidth(one)).toBeLessThanOrEqual(columns);
        const letters = (of: string) => stripTerminalSequences(of).replaceAll(" ", "").normalize();
        expect(letters(lines.join(""))).toBe(letters(text));
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe("sliceByColumn", () => {
  it.each<[string, number, number, boolean, string]>([
    ["hello world", 2, 4, false, "llo "],
    ["中文字符", 1, 4, false, "文字"],
    ["中文字符", 1, 4, true, "文字"],
    ["abc", 5, 2, false, ""],
  ])("gives of %j from column %d on %d columns", (text, start, length, strict, slice) => {
    expect(sliceByColumn(text, start, length, strict)).toBe(slice);
  });

  it("keeps the style in force, and is not wider than asked for when strict", () => {
    expect(sliceByColumn("\u001b[31mhello\u001b[0m", 1, 2)).toMatch(/^\u001b\[31mel/);
    fc.assert(
      fc.property(line, fc.nat(20), width, (text, start, length) => {
        expect(visibleWidth(sliceByColumn(text, start, length, true))).toBeLessThanOrEqual(length);
      }),
      { seed, numRuns: 200 },
    );
  });
});
