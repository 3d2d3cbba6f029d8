import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandGlob, pathFilter, readPathList, selectFiles } from "../../src/resources/path-patterns.js";
import { workspace } from "./workspace.js";

const base = "/home/.pi";
const files = ["/home/.pi/skills/a/SKILL.md", "/home/.pi/skills/b/c/SKILL.md", "/home/.pi/skills/d.md", "/else/e.md"];

test("readPathList: takes marks apart, and knows no built-in extensions", () => {
  expect(readPathList(["a", "!b", "+c", "-d", "", "!", "builtin:x", "-builtin:mcp", "*.ts"])).toEqual({
    named: ["a", "*.ts"],
    excluded: ["b"],
    added: ["c"],
    removed: ["d"],
  });
});

describe("pathFilter", () => {
  const passing = async (...list: string[]) => {
    const passes = await pathFilter(readPathList(list), base);
    return files.map((file, at) => (passes(file) ? "abde"[at] : "")).join("");
  };

  test.each([
    [[], "abde"],
    [["!skills/**"], "e"],
    [["!./skills/a"], "bde"],
    [["!**/a"], "bde"],
    [["!**/e.md"], "abd"],
    [["!../../else/*.md"], "abd"],
    [["!d.md", "!a"], "be"],
    [["!*.md"], ""],
    [["-skills/a"], "bde"],
    [["-skills/a/SKILL.md", "-/else/e.md"], "bd"],
    [["-skills"], "abde"],
    [["!**", "+skills/a"], "a"],
    [["!**", "+skills/a", "+skills/d.md", "-skills/a"], "d"],
  ] as const)("%j", async (list, expected) => {
    expect(await passing(...list)).toBe(expected);
  });

  test("a base with characters of globs is meant literally", async () => {
    const odd = "/x/[a]{b}*(c)";
    const passes = await pathFilter(readPathList(["!sub/*.md"]), odd);
    expect([`${odd}/sub/a.md`, "/x/a/sub/a.md", `${odd}/other/a.md`].map(passes)).toEqual([false, true, true]);
  });

  test("-path has the last word, +path the one before, for any list", async () => {
    const pattern = fc.constantFrom("skills/a", "skills/b/c", "skills/d.md", "**", "*.md", "skills/*");
    const entry = fc.tuple(fc.constantFrom("!", "+", "-"), pattern).map(([mark, path]) => mark + path);
    await fc.assert(
      fc.asyncProperty(fc.array(entry), async (list) => {
        const passes = await pathFilter(readPathList(list), base);
        const a = files[0] as string;
        if (list.includes("-skills/a")) expect(passes(a)).toBe(false);
        else if (list.includes("+skills/a")) expect(passes(a)).toBe(true);
        else expect(passes(a)).toBe(!["!skills/a", "!**", "!*.md", "!skills/*"].some((one) => list.includes(one)));
      }),
      { seed: 21, numRuns: 200 },
    );
  });
});

describe("selectFiles", () => {
  const selected = async (list: string[], all = true) =>
    (await selectFiles(files, list, base, { all })).map((file) => "abde"[files.indexOf(file)]).join("");

  test("plain names narrow, marks alone do not", async () => {
    expect(await selected(["skills/a"])).toBe("a");
    expect(await selected(["skills"])).toBe("abd");
    expect(await selected(["skills/*"])).toBe("ad");
    expect(await selected(["skills", "!skills/d.md"])).toBe("ab");
    expect(await selected(["+skills/a"])).toBe("abde");
    expect(await selected(["skills/d.md", "+skills/a"])).toBe("ad");
  });

  test("with nothing to begin with, only what is named is selected", async () => {
    expect(await selected(["!skills/a"], false)).toBe("");
    expect(await selected(["+skills/a"], false)).toBe("a");
    expect(await selected(["skills/*", "-skills/a"], false)).toBe("d");
  });
});

test("expandGlob: files and folders in order, without hidden ones, node_modules and endless links", async () => {
  const { root, write } = workspace();
  for (const path of ["p/a/x.md", "p/b/deep/y.md", "p/z.md", "p/node_modules/n.md", "p/.hidden/h.md"]) write(path, "");
  symlinkSync(join(root, "p"), join(root, "p", "b", "loop"));
  const found = async (pattern: string) => (await expandGlob(pattern, root)).map((path) => path.slice(root.length + 1));
  expect(await found("./p/*")).toEqual(["p/a", "p/b", "p/z.md"]);
  expect(await found("p/**/y.md")).toEqual(["p/b/deep/y.md"]);
  expect(await found("p/{a,b}/*.md")).toEqual(["p/a/x.md"]);
  expect(await found("p/node_modules/*.md")).toEqual(["p/node_modules/n.md"]);
  expect(await found("nowhere/*")).toEqual([]);
});
