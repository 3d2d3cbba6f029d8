import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  FrontmatterError,
  loadFrontmatterParser,
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

describe("loadFrontmatterParser", () => {
  test("reads YAML; what is no mapping counts as empty", async () => {
    const parse = await loadFrontmatterParser();
    expect(parse("---\na: [1, x]\nb: |\n  two\n  lines\n---\nBody")).toEqual({
      frontmatter: { a: [1, "x"], b: "two\nlines\n" },
      body: "Body",
    });
    expect(parse("---\n- a\n---\nBody")).toEqual({ frontmatter: {}, body: "Body" });
    expect(parse("Body")).toEqual({ frontmatter: {}, body: "Body" });
  });

  test("tells the line in the whole text", async () => {
    const parse = await loadFrontmatterParser();
    const fault = (() => {
      try {
        return parse("---\nname: a\ndescription: use: this\n---\n");
      } catch (error) {
        return error;
      }
    })() as FrontmatterError;
    expect(fault).toBeInstanceOf(FrontmatterError);
    expect([fault.message, fault.line]).toEqual(["Nested mappings are not allowed in compact mappings", 3]);
  });

  test("refuses aliases that would never end", async () => {
    const parse = await loadFrontmatterParser();
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let at = 1; at < 9; at++)
      lines.push(
        `a${at}: &a${at} [${Array(10)
          .fill(`*a${at - 1}`)
          .join(", ")}]`,
      );
    expect(() => parse(`---\n${lines.join("\n")}\n---\n`)).toThrow(FrontmatterError);
  });
});
