import { existsSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolders } from "../../src/lib/make-folders.js";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "folders-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("makeFolders", () => {
  test("makes every level with the mode asked for, and nothing when all are there", () => {
    makeFolders(join(folder, "a/b/c"), 0o700);
    makeFolders(join(folder, "a/b/c"));
    const modes = ["a", "a/b", "a/b/c"].map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
  });

  test("goes through links to folders", () => {
    makeFolders(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    makeFolders(join(folder, "link/deep"));
    expect(statSync(join(folder, "real/deep")).isDirectory()).toBe(true);
  });

  test("names the file that is in the way and makes nothing", () => {
    writeFileSync(join(folder, "file"), "");
    const wanted = expect.objectContaining({ code: "ENOTDIR", message: `ENOTDIR: "${folder}/file" is not a folder` });
    expect(() => makeFolders(join(folder, "file"))).toThrow(wanted);
    expect(() => makeFolders(join(folder, "file/a/b"))).toThrow(wanted);
  });

  test("throws the system's error for links that lead nowhere or in a circle", () => {
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("loop", join(folder, "loop"));
    expect(() => makeFolders(join(folder, "dangling/a"))).toThrow("EEXIST");
    expect(() => makeFolders(join(folder, "loop/a"))).toThrow("ELOOP");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  test("ends where the system makes no folders, as below /proc", () => {
    expect(() => makeFolders("/proc/no/such/folder")).toThrow(/^E(NOENT|ACCES|PERM|ROFS): /);
  });
});
