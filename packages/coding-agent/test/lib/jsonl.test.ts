import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeRecord, LineSplitter, type SplitLine } from "../../src/lib/jsonl.js";
import { isWellFormed, toWellFormed } from "./well-formed.js";

const line = (text: string): SplitLine => ({ oversized: false, text });

function split(chunks: readonly Uint8Array[], maxBytes?: number): SplitLine[] {
  const splitter = new LineSplitter({ maxBytes });
  const lines = chunks.flatMap((chunk) => splitter.push(chunk));
  return [...lines, ...splitter.end()];
}

describe("LineSplitter", () => {
  test("splits at LF only and drops one CR before it", () => {
    expect(split([Buffer.from("a\u2028b\u2029c\r\nd\re\r\r\n\nf")])).toEqual([
      line("a\u2028b\u2029c"),
      line("d\re\r"),
      line(""),
      line("f"),
    ]);
  });

  test("gives nothing at the end when the last line was ended", () => {
    expect(split([Buffer.from("a\n")])).toEqual([line("a")]);
    expect(split([])).toEqual([]);
  });

  test("decodes whole lines however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" })),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        (texts, sizes) => {
          const wanted = texts.map((text) => toWellFormed(text.replaceAll(/[\r\n]/g, "_")));
          const bytes = Buffer.from(wanted.map((text) => `${text}\n`).join(""));
          const chunks: Buffer[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const end = at + sizes[turn % sizes.length]!;
            chunks.push(bytes.subarray(at, end));
            at = end;
          }
          expect(split(chunks)).toEqual(wanted.map(line));
        },
      ),
      { seed: 1, numRuns: 200 },
    );
  });

  test("reports a line above the limit once, at once, and goes on after its LF", () => {
    const splitter = new LineSplitter({ maxBytes: 10 });
    expect(splitter.push(Buffer.from("ok\n12345678"))).toEqual([line("ok")]);
    expect(splitter.push(Buffer.from("901"))).toEqual([{ oversized: true }]);
    expect(splitter.push(Buffer.from("more and more"))).toEqual([]);
    expect(splitter.push(Buffer.from("end\nnext\n"))).toEqual([line("next")]);
    expect(splitter.push(Buffer.from("12345678901\n1234567890\n"))).toEqual([{ oversized: true }, line("1234567890")]);
    expect(splitter.end()).toEqual([]);
  });

  test("does not report an oversized line again at the end", () => {
    expect(split([Buffer.from("123"), Buffer.from("456")], 4)).toEqual([{ oversized: true }]);
  });

  test("copies the bytes it keeps, for chunks whose memory is used again", () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.from("abc");
    splitter.push(chunk);
    chunk.fill("x");
    expect(splitter.push(Buffer.from("\n"))).toEqual([line("abc")]);
  });

  test("takes a line of 5 MB in small chunks", () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    const lines = split([...Array.from({ length: 80 }, () => chunk), Buffer.from("\n")]);
    expect(lines).toEqual([line("x".repeat(80 * 64 * 1024))]);
  });
});

describe("encodeRecord", () => {
  test("escapes the separators that some readers take for line ends", () => {
    expect(encodeRecord({ text: "a\u2028b\u2029c\nd" })).toBe('{"text":"a\\u2028b\\u2029c\\nd"}\n');
  });

  test("makes one line of valid UTF-8 that reads back as the same value", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
        (text) => {
          const record = encodeRecord({ text });
          expect(isWellFormed(record)).toBe(true);
          expect(record.split(/[\n\r\u2028\u2029]/)).toHaveLength(2);
          expect(JSON.parse(record)).toEqual({ text });
        },
      ),
      { seed: 2, numRuns: 500 },
    );
  });

  test("refuses what JSON has no form for", () => {
    expect(() => encodeRecord(undefined)).toThrow("Cannot encode a value of type undefined as JSON");
  });
});
