import { symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { canonicalPath, resolveExistingPath, resolvePath } from "../../src/tools/paths.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();

describe("resolvePath", () => {
  test("takes relative, absolute and home paths", () => {
    expect(resolvePath("a/../b", "/place")).toBe("/place/b");
    expect(resolvePath("/x", "/place")).toBe("/x");
    expect(resolvePath("~", "/place")).toBe(homedir());
    expect(resolvePath("~/x", "/place")).toBe(join(homedir(), "x"));
    expect(resolvePath("~x", "/place")).toBe("/place/~x");
  });

  test("drops an @ in front unless it is part of a name that is there", () => {
    folder.write("@scope/file", "");
    expect(resolvePath("@src/a.ts", folder.path)).toBe(join(folder.path, "src/a.ts"));
    expect(resolvePath("@scope/other", folder.path)).toBe(join(folder.path, "@scope/other"));
  });
});

test("resolveExistingPath finds the spellings of file systems", () => {
  const screenshot = folder.write("Screenshot 9.41\u202fAM.png", "");
  const accent = folder.write("cafe\u0301.txt", "");
  const apostrophe = folder.write("it\u2019s.txt", "");
  expect(resolveExistingPath("Screenshot 9.41 AM.png", folder.path)).toBe(screenshot);
  expect(resolveExistingPath("caf\u00e9.txt", folder.path)).toBe(accent);
  expect(resolveExistingPath("it's.txt", folder.path)).toBe(apostrophe);
  expect(resolveExistingPath("none.txt", folder.path)).toBe(join(folder.path, "none.txt"));
});

test("canonicalPath is the same for all names of a file, there or not", () => {
  const file = folder.write("real/file", "");
  symlinkSync("real", join(folder.path, "folder"));
  symlinkSync("real/file", join(folder.path, "link"));
  symlinkSync("folder/new", join(folder.path, "dangling"));
  symlinkSync("loop", join(folder.path, "loop"));
  const canonical = (name: string) => canonicalPath(join(folder.path, name));
  expect([canonical("link"), canonical("folder/file"), canonical("real/../real/file")]).toEqual([file, file, file]);
  const fresh = join(folder.path, "real/new");
  expect([canonical("dangling"), canonical("folder/new"), canonical("real/new")]).toEqual([fresh, fresh, fresh]);
  expect(canonical("folder/deep/er")).toBe(join(folder.path, "real/deep/er"));
  expect(canonical("loop")).toBe(join(folder.path, "loop"));
});
