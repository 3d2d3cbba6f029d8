import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  FrontmatterError,
  readFrontmatter,
  readPlainLines,
  splitFrontmatter,
  stripFrontmatter,
} from "../../src/lib/frontmatter.js";

describe("splitFrontmatter", () => {
  test("takes the YAML between the marks off, whatever the line ends", () => {
    expect(splitFrontmatter("---\nname: a\n---\n\nBody\n")).toEqual({ yaml: "name: a\n", body: "Body" });
    expect(splitFrontmatter("\uFEFF---\r\nname: a\r\n---\r\nBody")).toEqual({ yaml: "name: a\n", body: "Body" });
    expect(splitFrontmatter("---\n---\nBody")).toEqual({ yaml: "", body: "Body" });
    expect(splitFrontmatter("---\nname: a\n---")).toEqual({ yaml: "name: a\n", body: "" });
  });

  test("without marks at the very beginning, or without an end, all is body", () => {
    for (const text of ["Body\n---\nname: a\n---", "---\nname: a\nBody", "----\nname: a\n----", "---name\n---"])
      expect(splitFrontmatter(text)).toEqual({ body: text });
  });

  test("a body that is marked off again comes back whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (body) => {
        const plain = body.replace(/\r\n?/g, "\n").trim();
        expect(stripFrontmatter(`---\nname: x\n---\n${body}`)).toBe(plain);
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});

describe("readFrontmatter", () => {
  test("reads YAML; what is no mapping counts as empty", async () => {
    expect(await readFrontmatter("---\na: [1, x]\nb: |\n  two\n  lines\n---\nBody")).toEqual({
      frontmatter: { a: [1, "x"], b: "two\nlines\n" },
      body: "Body",
    });
    expect(await readFrontmatter("---\n- a\n---\nBody")).toEqual({ frontmatter: {}, body: "Body" });
    expect(await readFrontmatter("Body")).toEqual({ frontmatter: {}, body: "Body" });
  });

  test("tells the line in the whole text", async () => {
    const fault = await readFrontmatter("---\nname: a\ndescription: use: this\n---\n").catch((error) => error);
    expect(fault).toBeInstanceOf(FrontmatterError);
    expect([fault.message, fault.line]).toEqual(["Nested mappings are not allowed in compact mappings", 3]);
  });

  test("refuses aliases that would never end", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let at = 1; at < 9; at++)
      lines.push(
        `a${at}: &a${at} [${Array(10)
          .fill(`*a${at - 1}`)
          .join(", ")}]`,
      );
    await expect(readFrontmatter(`---\n${lines.join("\n")}\n---\n`)).rejects.toThrow(FrontmatterError);
  });
});

describe("readPlainLines", () => {
  test("reads the usual front matter", () => {
    const source =
      'name: pdf-tools\ndescription: Reads PDFs (and more), don\'t you think?\nargument-hint: "[a]"\nx: false\n';
    expect(readPlainLines(source)).toEqual({
      name: "pdf-tools",
      description: "Reads PDFs (and more), don't you think?",
      "argument-hint": "[a]",
      x: false,
    });
  });

  test("leaves everything it may not understand to YAML", () => {
    for (const line of [
      "a: b: c",
      "a: b:",
      "a: b # c",
      "a: 1",
      "a: ~",
      "a: Null",
      "a: [b]",
      "a: |",
      "a:",
      "a: 'it''s'",
      'a: "\\n"',
      "a:\tb",
      "- a",
      " a: b",
      "a: b\n  c",
      "a: b\na: c",
      "# a",
      "null: a",
      "a: *b",
      "a: \u00a0b",
    ])
      expect(readPlainLines(line)).toBeUndefined();
  });

  test("never differs from YAML", () => {
    const part = fc.oneof(
      fc.constantFrom(
        ..."ab:# -'\"[]{},&*!|>%@`\\\t\n01.~?/".split(""),
        "true",
        "null",
        ": ",
        " #",
        "---",
        "name: ",
        "\nb: ",
      ),
      fc.string({ unit: "binary", maxLength: 2 }),
    );
    const text = fc
      .tuple(
        fc.constantFrom("a: x", 'a: "', "a: '", "a: "),
        fc.array(part, { maxLength: 6 }),
        fc.constantFrom("", '"', "'"),
      )
      .map(([start, parts, end]) => start + parts.join("") + end);
    let read = 0;
    fc.assert(
      fc.property(text, (source) => {
        const plain = readPlainLines(source);
        if (plain === undefined) return;
        read += 1;
        expect(plain).toEqual(parse(source));
      }),
      { seed: 15, numRuns: 5000 },
    );
    expect(read).toBeGreaterThan(200);
  });
});
