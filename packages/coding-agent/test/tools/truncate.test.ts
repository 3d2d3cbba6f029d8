import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countLines,
  endWithin,
  formatSize,
  truncateHead,
  truncateLine,
  truncateTail,
} from "../../src/tools/truncate.js";
import { isWellFormed } from "../lib/well-formed.js";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n");

describe("truncateHead", () => {
  test("leaves a text within the limits as it is", () => {
    expect(truncateHead("a\nb\n")).toEqual({
      content: "a\nb\n",
      truncated: false,
      truncatedBy: null,
      totalLines: 2,
      totalBytes: 4,
      outputLines: 2,
      outputBytes: 4,
      lastLinePartial: false,
      firstLineExceedsLimit: false,
      maxLines: 2000,
      maxBytes: 51_200,
    });
  });

  test("keeps the first 2,000 lines", () => {
    const result = truncateHead(numbered(3000));
    expect(result.content).toBe(numbered(2000));
    expect([result.truncatedBy, result.totalLines, result.outputLines]).toEqual(["lines", 3000, 2000]);
    expect(result.outputBytes).toBe(Buffer.byteLength(result.content));
  });

  test("keeps whole lines within the bytes", () => {
    const result = truncateHead("aé\nbb\ncc", { maxBytes: 6 });
    expect([result.content, result.truncatedBy, result.outputBytes]).toEqual(["aé\nbb", "bytes", 6]);
  });

  test("keeps nothing when the first line is too long", () => {
    const result = truncateHead(`${"x".repeat(60)}\nnext`, { maxBytes: 50 });
    expect([result.content, result.firstLineExceedsLimit, result.outputLines]).toEqual(["", true, 0]);
  });
});

describe("truncateTail", () => {
  test("keeps the last 2,000 lines, with the LF at the end", () => {
    const result = truncateTail(`${numbered(3000)}\n`);
    expect(result.content.split("\n").length).toBe(2001);
    expect(result.content.startsWith("line 1001\n")).toBe(true);
    expect([result.truncatedBy, result.totalLines, result.outputLines]).toEqual(["lines", 3000, 2000]);
  });

  test("keeps whole lines within the bytes", () => {
    const result = truncateTail("aaa\nbb\ncé\n", { maxBytes: 7 });
    expect([result.content, result.truncatedBy, result.outputLines, result.lastLinePartial]).toEqual([
      "bb\ncé\n",
      "bytes",
      2,
      false,
    ]);
  });

  test("keeps the end of a last line that is too long, in whole characters", () => {
    const result = truncateTail(`first\n${"😀".repeat(20)}`, { maxBytes: 10 });
    expect([result.content, result.lastLinePartial, result.outputBytes]).toEqual(["😀😀", true, 8]);
  });
});

test("truncateHead and truncateTail keep within the limits, in whole lines and characters", () => {
  const text = fc
    .array(fc.oneof({ weight: 2, arbitrary: fc.constant("\n") }, fc.string({ unit: "binary", maxLength: 8 })))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 4, max: 40 }), (whole, maxLines, maxBytes) => {
      for (const truncate of [truncateHead, truncateTail]) {
        const result = truncate(whole, { maxLines, maxBytes });
        expect(result.totalBytes).toBe(Buffer.byteLength(whole));
        expect(result.totalLines).toBe(countLines(whole));
        expect(result.outputBytes).toBe(Buffer.byteLength(result.content));
        expect(result.outputBytes).toBeLessThanOrEqual(maxBytes);
        expect(result.outputLines).toBeLessThanOrEqual(maxLines);
        expect(isWellFormed(result.content)).toBe(true);
        expect(result.truncated).toBe(result.totalLines > maxLines || result.totalBytes > maxBytes);
        if (!result.truncated) expect(result.content).toBe(whole);
        if (truncate === truncateTail) expect(whole.endsWith(result.content)).toBe(true);
        else expect(whole.startsWith(result.content)).toBe(true);
        if (truncate === truncateTail && !result.lastLinePartial) {
          const before = whole.slice(0, whole.length - result.content.length);
          expect(before === "" || before.endsWith("\n")).toBe(true);
        }
      }
    }),
    { seed: 4, numRuns: 1000 },
  );
});

test("truncateLine cuts one line, never inside a pair", () => {
  expect(truncateLine("abc", 3)).toEqual({ text: "abc", wasTruncated: false });
  expect(truncateLine("abcd", 3)).toEqual({ text: "abc... [truncated]", wasTruncated: true });
  expect(truncateLine("ab😀d", 3)).toEqual({ text: "ab... [truncated]", wasTruncated: true });
});

test("endWithin gives the longest end in whole characters", () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((bytes) => endWithin("é€😀", bytes))).toEqual(["", "", "", "😀", "😀", "😀", "€😀"]);
});

test("formatSize counts in steps of 1,024", () => {
  expect([0, 1023, 1024, 51_200, 5_033_165].map(formatSize)).toEqual(["0B", "1023B", "1.0KB", "50.0KB", "4.8MB"]);
});
