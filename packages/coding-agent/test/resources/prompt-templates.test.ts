// biome-ignore-all lint/suspicious/noTemplateCurlyInString: places of templates are written like this
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  expandPromptTemplate,
  fillIn,
  loadPromptTemplates,
  type PromptTemplate,
  splitArguments,
} from "../../src/resources/prompt-templates.js";
import { workspace } from "./workspace.js";

const found = (path: string) => ({
  path,
  sourceInfo: { path, source: "auto", scope: "user" as const, origin: "top-level" as const },
});
const template = (name: string, content: string): PromptTemplate => {
  const filePath = `/prompts/${name}.md`;
  return { name, description: "", content, filePath, sourceInfo: found(filePath).sourceInfo };
};

describe("splitArguments", () => {
  test.each([
    ["", []],
    ["  a\t b\n c ", ["a", "b", "c"]],
    [`one 'two $1' "th \\"r\\" $@"`, ["one", "two $1", 'th "r" $@']],
    ["don't stop 'open end", ["don't", "stop", "'open", "end"]],
    [`"" '' x`, ["", "", "x"]],
    [`a\\ b "c\\n d" 'e"f'g "h"i`, ["a\\", "b", "c\\n d", 'e"fg', "hi"]],
    [`a"b c"d`, ['a"b', 'c"d']],
  ])("%j", (text, list) => {
    expect(splitArguments(text)).toEqual(list);
  });

  test("arguments that were quoted come back as they were", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (list) => {
        // A backslash right before the closing quote would keep the quote.
        const plain = list.map((argument) => argument.replace(/\\+(?="|$)/g, ""));
        const text = plain.map((argument) => `"${argument.replaceAll('"', '\\"')}"`).join(" ");
        expect(splitArguments(text)).toEqual(plain);
      }),
      { seed: 12, numRuns: 400 },
    );
  });
});

describe("fillIn", () => {
  const filled = (content: string, ...given: string[]) => fillIn(content, given);

  test.each([
    ["$1|$2|$10|$0", "a|b||"],
    ["$@ and $ARGUMENTS", "a b c and a b c"],
    ["${1:-x}|${4:-x y}|${@:-none}", "a|x y|a b c"],
    ["${@:2}|${@:2:1}|${@:1:2}|${@:9}|${@:0}", "b c|b|a b||a b c"],
    ["$x ${3} ${4:-} $ 5$ \\$1", "$x ${3}  $ 5$ \\a"],
  ])("%s", (content, expected) => {
    expect(filled(content, "a", "b", "c")).toBe(expected);
  });

  test("an empty argument counts as missing for defaults", () => {
    expect(filled("${1:-x}|${@:-none}", "")).toBe("x|none");
    expect(filled("${1:-x}|${@:-none}")).toBe("x|none");
  });

  test("what was put in is never looked at again", () => {
    const marks = fc.constantFrom("$1", "$2", "$@", "$ARGUMENTS", "${1:-d}", "${@:2}", "$&", "$$", "$`", "a");
    const values = fc.array(
      fc.array(marks).map((parts) => parts.join("")),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(values, (given) => {
        expect(fillIn("[$1][$@][${@:2}]", given)).toBe(
          `[${given[0] ?? ""}][${given.join(" ")}][${given.slice(1).join(" ")}]`,
        );
      }),
      { seed: 13, numRuns: 400 },
    );
  });

  test("a text without places stays as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.string()), (content, given) => {
        const plain = content.replaceAll("$", "");
        expect(fillIn(plain, given)).toBe(plain);
      }),
      { seed: 14, numRuns: 200 },
    );
  });
});

describe("expandPromptTemplate", () => {
  const templates = [template("review", "Review ${1:-all} of $@"), template("pp", "pp $@")];

  test("puts the arguments in", () => {
    expect(expandPromptTemplate("/review", templates)).toBe("Review all of ");
    expect(expandPromptTemplate(`/review "a b" c`, templates)).toBe("Review a b of a b c");
    expect(expandPromptTemplate("/pp\nnext line 'a b'", templates)).toBe("pp next line a b");
  });

  test("leaves every other text alone", () => {
    for (const text of ["/nothing a", " /pp a", "pp", "/", "/ pp", "/ppp", "a /pp"])
      expect(expandPromptTemplate(text, templates)).toBe(text);
  });
});

describe("loadPromptTemplates", () => {
  test("reads names, descriptions and hints", async () => {
    const { write } = workspace();
    const long = "A very long first line that goes on and on and on and on and on and on";
    const files = [
      write("p/review.md", '---\ndescription: review it\nargument-hint: "[focus]"\n---\nReview $1\n'),
      write("p/plain.md", "\n\nFirst line\nbody\n"),
      write("p/long.md", long),
      write("p/hint.md", "---\nargument-hint: [a]\n---\nx"),
      write("p/empty.md", ""),
    ].map(found);
    const { prompts, diagnostics } = await loadPromptTemplates(files);
    expect(diagnostics).toEqual([]);
    expect(prompts).toEqual([
      {
        name: "review",
        description: "review it",
        argumentHint: "[focus]",
        content: "Review $1",
        filePath: files[0]?.path,
        sourceInfo: files[0]?.sourceInfo,
      },
      expect.objectContaining({ name: "plain", description: "First line", content: "First line\nbody" }),
      expect.objectContaining({
        name: "long",
        description: "A very long first line that goes on and on and on and on and...",
      }),
      expect.objectContaining({ name: "hint", argumentHint: "[a]", content: "x" }),
      expect.objectContaining({ name: "empty", description: "", content: "" }),
    ]);
  });

  test("of a name the first counts; broken files are told of", async () => {
    const { root, write } = workspace();
    const [first, second, broken] = [
      write("a/x.md", "one"),
      write("b/x.md", "two"),
      write("a/broken.md", "---\ndescription: [a\n---\nx"),
    ];
    const { prompts, diagnostics } = await loadPromptTemplates([first, second, broken, `${root}/gone.md`].map(found));
    expect(prompts.map(({ content }) => content)).toEqual(["one"]);
    expect(diagnostics).toEqual([
      {
        severity: "warning",
        source: "prompts",
        message: `The template "x" is there already, from "${first}"; this one is ignored`,
        path: second,
      },
      expect.objectContaining({
        severity: "error",
        message: expect.stringContaining("Cannot read the template: its front matter is no YAML: "),
        path: broken,
        line: 3,
      }),
      expect.objectContaining({ severity: "error", path: `${root}/gone.md` }),
    ]);
  });
});
