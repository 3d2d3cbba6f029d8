import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputCleaner } from "../../src/lib/clean-output.js";
import { isWellFormed } from "./well-formed.js";

const esc = "\x1b";

function cleanWhole(output: string | Uint8Array): string {
  const cleaner = new OutputCleaner();
  return cleaner.write(Buffer.from(output)) + cleaner.end();
}

describe("OutputCleaner, of a whole output", () => {
  test.each([
    ["plain text\twith tab\n", "plain text\twith tab\n"],
    [`a${esc}[31mred${esc}[0m\r\nb\0c\n`, "ared\nbc\n"],
    [`${esc}[1;38;5;12mx${esc}[2 qy${esc}(Bz`, "xyz"],
    [`${esc}]8;;https://x.test${esc}\\link${esc}]8;;\x07!`, "link!"],
    [`${esc}]0;title\x07text${esc}Pq#0;2;0${esc}\\end`, "textend"],
    [`${esc}7${esc}[2J${esc}[?25lx${esc}8`, "x"],
    ["progress 1%\rprogress 2%\n", "progress 1%progress 2%\n"],
    ["caf\u00e9 \u{1f600} \u0600 \u2028\n", "caf\u00e9 \u{1f600} \u0600 \u2028\n"],
    ["\x07\x08\x0b\x0c\x7f\x85\x9f", ""],
    [`cut off ${esc}[31`, "cut off "],
    [`never ended ${esc}]text`, "never ended text"],
  ])("%j is %j", (dirty, clean) => {
    expect(cleanWhole(dirty)).toBe(clean);
  });

  test("puts U+FFFD in place of bytes that are no UTF-8", () => {
    expect(cleanWhole(Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82]))).toBe("a\ufffdb\ufffd");
  });
});

describe("OutputCleaner", () => {
  test("gives the same text in any pieces as in one", () => {
    const part = fc.oneof(
      fc.constantFrom(`${esc}[31m`, `${esc}]0;t\x07`, `${esc}]8;;u${esc}\\`, "\r\n", esc, "\x9b1m", "[", "\n"),
      fc.string({ unit: "grapheme", maxLength: 4 }),
      fc.uint8Array({ maxLength: 3 }),
    );
    const bytes = fc.array(part).map((parts) => Buffer.concat(parts.map((p) => Buffer.from(p as string))));
    fc.assert(
      fc.property(bytes, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (whole, sizes) => {
        const cleaner = new OutputCleaner();
        let text = "";
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const end = at + sizes[turn % sizes.length]!;
          text += cleaner.write(whole.subarray(at, end));
          at = end;
        }
        text += cleaner.end();
        expect(text).toBe(cleanWhole(whole));
        expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(isWellFormed(text)).toBe(true);
      }),
      { seed: 3, numRuns: 1000 },
    );
  });

  test("gives what is whole at once and holds back what is not", () => {
    const cleaner = new OutputCleaner();
    expect(cleaner.write(Buffer.from(`one${esc}[3`))).toBe("one");
    expect(cleaner.write(Buffer.from("1mtwo"))).toBe("two");
    expect(cleaner.write(Buffer.from([0xe2, 0x82]))).toBe("");
    expect(cleaner.write(Buffer.from([0xac]))).toBe("\u20ac");
  });

  test("does not hold back for ever what only looks like the start of a sequence", () => {
    const cleaner = new OutputCleaner();
    expect(cleaner.write(Buffer.from(`${esc}]${"x".repeat(5000)}`))).toBe("x".repeat(5000));
  });
});
