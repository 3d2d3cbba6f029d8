import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeFileAtomic } from "../../src/lib/atomic-write.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "atomic-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o7777;

describe("writeFileAtomic", () => {
  test("makes a file with the mode asked for and leaves nothing else", async () => {
    await writeFileAtomic(join(folder, "a"), "one", { mode: 0o600 });
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("one");
    expect(modeOf(join(folder, "a"))).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("keeps the mode of a file that is there", async () => {
    const path = join(folder, "script");
    writeFileSync(path, "old");
    chmodSync(path, 0o754);
    await writeFileAtomic(path, Buffer.from([0xff, 0x00]));
    expect([...readFileSync(path)]).toEqual([0xff, 0x00]);
    expect(modeOf(path)).toBe(0o754);
  });

  test("replaces the file instead of writing into it", async () => {
    const path = join(folder, "a");
    writeFileSync(path, "old");
    linkSync(path, join(folder, "before"));
    await writeFileAtomic(path, "new");
    expect(readFileSync(join(folder, "before"), "utf8")).toBe("old");
  });

  test("follows symbolic links, to a file that is not there yet too", async () => {
    symlinkSync("target", join(folder, "link"));
    symlinkSync("link", join(folder, "second"));
    await writeFileAtomic(join(folder, "second"), "x");
    expect(lstatSync(join(folder, "second")).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "target"), "utf8")).toBe("x");
  });

  test("leaves no temporary file behind when it fails", async () => {
    const path = join(folder, "a");
    await writeFileAtomic(path, "x");
    rmSync(path);
    symlinkSync(".", path); // a folder cannot be replaced by a file
    await expect(writeFileAtomic(path, "y")).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(["a"]);
    await expect(writeFileAtomic(join(folder, "no", "such"), "y")).rejects.toThrow("ENOENT");
  });

  test("leaves pipes, devices and loops of links as they are", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    symlinkSync("b", join(folder, "a"));
    symlinkSync("a", join(folder, "b"));
    symlinkSync("/dev/null", join(folder, "null"));
    await expect(writeFileAtomic(pipe, "x")).rejects.toThrow("it is not a regular file");
    await expect(writeFileAtomic(join(folder, "null"), "x")).rejects.toThrow("it is not a regular file");
    await expect(writeFileAtomic("/dev/null", "x")).rejects.toThrow("it is not a regular file");
    await expect(writeFileAtomic(join(folder, "a"), "x")).rejects.toThrow("ELOOP");
    await expect(writeFileAtomic(folder, "x")).rejects.toThrow("it is a directory");
    expect(readdirSync(folder)).toEqual(["a", "b", "null", "pipe"]);
    expect(lstatSync(join(folder, "a")).isSymbolicLink()).toBe(true);
    expect([statSync(pipe).isFIFO(), statSync("/dev/null").isCharacterDevice()]).toEqual([true, true]);
  });

  test("speaks of the file that was asked for", async () => {
    const path = join(folder, "no", "such");
    await expect(writeFileAtomic(path, "x")).rejects.toThrow(`ENOENT: no such file or directory, open '${path}'`);
    await expect(writeFileAtomic(join(folder, "a\0b"), "x")).rejects.toThrow(
      `Cannot write "${folder}/a\\0b": a path cannot hold a NUL character`,
    );
  });
});
