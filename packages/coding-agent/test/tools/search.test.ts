import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createFindTool } from "../../src/tools/find.js";
import { createGrepTool } from "../../src/tools/grep.js";
import { createLsTool } from "../../src/tools/ls.js";
import { runTool, textOf } from "./run-tool.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();
beforeEach(() => {
  folder.write("src/a.js", "needle one\nother\n");
  folder.write("src/b.txt", "no\nNEEDLE two\n");
  folder.write("README.md", "read me\n");
  folder.write(".hidden", "needle hidden\n");
});

const ls = (params: object) => textOf(createLsTool({ cwd: folder.path }), params);
const find = (params: object) => textOf(createFindTool({ cwd: folder.path }), params);
const grep = (params: object) => textOf(createGrepTool({ cwd: folder.path }), params);

describe("ls", () => {
  test("lists names in order, whatever their case, folders marked", async () => {
    expect(await ls({})).toBe(".hidden\nREADME.md\nsrc/");
    symlinkSync("src", join(folder.path, "link"));
    symlinkSync("nowhere", join(folder.path, "Broken"));
    expect(await ls({})).toBe(".hidden\nBroken\nlink/\nREADME.md\nsrc/");
    expect(await ls({ path: "src" })).toBe("a.js\nb.txt");
  });

  test("says where it was cut", async () => {
    const result = await runTool(createLsTool({ cwd: folder.path }), { limit: 1 });
    expect(result).toEqual({
      content: [
        {
          type: "text",
          text: ".hidden\n\n[The limit of 1 names is reached; there are more. Raise limit or narrow the search]",
        },
      ],
      details: { limitReached: 1 },
    });
    expect(await ls({ limit: 3 })).toBe(".hidden\nREADME.md\nsrc/");
  });

  test("says what it cannot list", async () => {
    await expect(ls({ path: "nodir" })).rejects.toThrow('Cannot list "nodir": ENOENT: no such file or directory');
    await expect(ls({ path: "README.md" })).rejects.toThrow('Cannot list "README.md": ENOTDIR: not a directory');
    folder.write("empty/x/y", "");
    expect(await ls({ path: "empty/x/../../src/.." })).toContain("empty/");
  });
});

describe("find", () => {
  test.each([
    ["*.js", "src/a.js"],
    ["a.*", "src/a.js"],
    ["?.txt", "src/b.txt"],
    ["src/**", "src/a.js\nsrc/b.txt"],
    ["src/*.{js,txt}", "src/a.js\nsrc/b.txt"],
    ["**/*.txt", "src/b.txt"],
    ["./src/*.js", "src/a.js"],
    ["*.{md,js}", "README.md\nsrc/a.js"],
    ["[ab].js", "src/a.js"],
    ["*", ".hidden\nREADME.md\nsrc/a.js\nsrc/b.txt"],
    ["*.none", "No files found matching the pattern"],
    ["lib/*.js", "No files found matching the pattern"],
    ["!*.js", "No files found matching the pattern"],
  ])("%s", async (pattern, wanted) => {
    expect(await find({ pattern })).toBe(wanted);
  });

  test("searches below a folder, with paths relative to it", async () => {
    expect(await find({ pattern: "*", path: "src" })).toBe("a.js\nb.txt");
  });

  test("respects .gitignore outside a repository, whatever the pattern says, and leaves out .git", async () => {
    folder.write(".gitignore", "*.log\nbuild/\n");
    folder.write("x.log", "");
    folder.write("build/out.js", "");
    folder.write(".git/config.js", "");
    expect(await find({ pattern: "*.log" })).toBe("No files found matching the pattern");
    expect(await find({ pattern: "**/*.js" })).toBe("src/a.js");
    expect(await find({ pattern: "**" })).toBe(".gitignore\n.hidden\nREADME.md\nsrc/a.js\nsrc/b.txt");
  });

  test("says where it was cut", async () => {
    expect(await find({ pattern: "*", limit: 1 })).toMatch(/^\.hidden\n\n\[The limit of 1 files is reached.*\]$/);
    expect(await find({ pattern: "*", limit: 4 })).not.toContain("[");
  });

  test("says what it cannot search", async () => {
    await expect(find({ pattern: "*", path: "nodir" })).rejects.toThrow('Cannot search "nodir": ENOENT');
    await expect(find({ pattern: "*", path: "README.md" })).rejects.toThrow(
      'Cannot search "README.md": it is not a folder',
    );
  });

  test.each([
    ["[", 'missing closing: "]"'],
    ["src/{a", 'missing closing: "}"'],
    ["@(a", 'missing closing: ")"'],
    ["[z-a].js", "range out of order in character class"],
  ])("names the glob %s as not valid", async (pattern, fault) => {
    const message = `Cannot search ".": the glob "${pattern}" is not valid: ${fault}`;
    await expect(find({ pattern })).rejects.toThrow(new Error(message));
    await expect(grep({ pattern: "needle", glob: pattern })).rejects.toThrow(new Error(message));
  });

  test("refuses NUL characters", async () => {
    await expect(find({ pattern: "a\0b" })).rejects.toThrow('"a\\0b": a glob cannot hold a NUL character');
    await expect(find({ pattern: "a", path: "\0" })).rejects.toThrow('"\\0": a path cannot hold a NUL character');
    await expect(ls({ path: "\0" })).rejects.toThrow('"\\0": a path cannot hold a NUL character');
    await expect(grep({ pattern: "a\0b" })).rejects.toThrow('"a\\0b": a pattern cannot hold a NUL character');
    await expect(grep({ pattern: "a", glob: "\0" })).rejects.toThrow('"\\0": a glob cannot hold a NUL character');
  });

  test("leaves out folders it may not read", async () => {
    folder.write("closed/c.js", "");
    chmodSync(join(folder.path, "closed"), 0);
    expect(await find({ pattern: "a.js" })).toBe("src/a.js");
    chmodSync(join(folder.path, "closed"), 0o755);
  });
});

describe("grep", () => {
  test.each([
    [{ pattern: "needle" }, ".hidden:1: needle hidden\nsrc/a.js:1: needle one"],
    [{ pattern: "needle", ignoreCase: true, path: "src" }, "a.js:1: needle one\nb.txt:2: NEEDLE two"],
    [{ pattern: "needle", path: "src/a.js" }, "a.js:1: needle one"],
    [{ pattern: "n..dle", glob: "*.js" }, "src/a.js:1: needle one"],
    [{ pattern: "needle", glob: "src/**" }, "src/a.js:1: needle one"],
    [{ pattern: "needle", context: 1, path: "src" }, "a.js:1: needle one\na.js-2- other"],
    [{ pattern: "n.*e", literal: true }, "No matches found"],
    [{ pattern: "-e", literal: true }, "No matches found"],
  ])("%j", async (params, wanted) => {
    expect(await grep(params)).toBe(wanted);
  });

  test("respects .gitignore, with a glob too", async () => {
    folder.write(".gitignore", "*.log\n");
    folder.write("x.log", "needle\n");
    expect(await grep({ pattern: "needle", glob: "*.log" })).toBe("No matches found");
  });

  test("says where it was cut", async () => {
    folder.write("src/a.js", "needle\n".repeat(3));
    const result = await runTool(createGrepTool({ cwd: folder.path }), { pattern: "needle", path: "src", limit: 2 });
    expect(result).toEqual({
      content: [
        {
          type: "text",
          text: "a.js:1: needle\na.js:2: needle\n\n[The limit of 2 matches is reached; there are more. Raise limit or narrow the search]",
        },
      ],
      details: { limitReached: 2 },
    });
    folder.write("src/a.js", `needle ${"x".repeat(600)}\n`);
    expect(await grep({ pattern: "needle", path: "src" })).toBe(
      `a.js:1: needle ${"x".repeat(493)}... [truncated]\n\n[Some lines are cut at 500 characters; use read to see them]`,
    );
  });

  test("keeps within 50 KB", async () => {
    folder.write("src/a.js", `needle ${"é".repeat(400)}\n`.repeat(100));
    const result = await runTool(createGrepTool({ cwd: folder.path }), { pattern: "needle", path: "src" });
    const { text } = result.content[0] as { text: string };
    expect(text).toMatch(/\n\n\[The limit of 50\.0KB is reached\]$/);
    expect(Buffer.byteLength(text)).toBeLessThan(51_300);
    expect(result.details).toMatchObject({ truncation: { truncatedBy: "bytes" } });
  });

  test("says what is wrong with a pattern or a path", async () => {
    await expect(grep({ pattern: "(" })).rejects.toThrow(/^Cannot search "\.": regex parse error:/);
    await expect(grep({ pattern: "x", path: "nodir" })).rejects.toThrow('Cannot search "nodir": ENOENT');
  });

  test("refuses pipes and devices, which never end, and passes over them in a folder", async () => {
    execFileSync("mkfifo", [join(folder.path, "src/pipe")]);
    for (const path of ["src/pipe", "/dev/zero"])
      await expect(grep({ pattern: "x", path })).rejects.toThrow(`Cannot search "${path}": it is not a regular file`);
    await expect(find({ pattern: "*", path: "src/pipe" })).rejects.toThrow("it is not a folder");
    expect(await grep({ pattern: "needle", path: "src" })).toBe("a.js:1: needle one");
  });

  test("says that a pattern is too long", async () => {
    await expect(grep({ pattern: "x".repeat(3_000_000) })).rejects.toThrow(
      'Cannot search ".": Cannot start ripgrep: the pattern is too long for the system',
    );
  });

  test("finds lines that are not UTF-8 and a match in a line of any length", async () => {
    folder.write("src/a.js", Buffer.concat([Buffer.from("needle "), Buffer.from([0xff, 0x0a])]));
    expect(await grep({ pattern: "needle", path: "src" })).toBe("a.js:1: needle \ufffd");
    folder.write("src/a.js", `needle ${"x".repeat(17 * 1024 * 1024)}\n`);
    expect(await grep({ pattern: "needle", path: "src" })).toBe("a.js: [a match in a line too long to show]");
  });
});
