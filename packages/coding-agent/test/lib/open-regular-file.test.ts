import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openRegularFile, readRegularFileWithin } from "../../src/lib/open-regular-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "regular-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const tooLarge = (bytes: number) => new Error(`${bytes} are too many`);

describe("openRegularFile", () => {
  test("opens a file and tells its size", async () => {
    const path = join(folder, "a");
    writeFileSync(path, "four");
    const { handle, size } = await openRegularFile(path);
    await handle.close();
    expect(size).toBe(4);
  });

  test("refuses what could keep its reader", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const path of [join(folder, "pipe"), "/dev/zero", "/dev/null"])
      await expect(openRegularFile(path)).rejects.toThrow("it is not a regular file");
    await expect(openRegularFile(folder)).rejects.toThrow("it is a directory");
    await expect(openRegularFile(join(folder, "none"))).rejects.toThrow("ENOENT");
  });
});

describe("readRegularFileWithin", () => {
  test.each([0, 1, 4095, 4096, 4097, 1024 * 1024, 2.5 * 1024 * 1024])("gives all %d bytes", async (size) => {
    const path = join(folder, "a");
    const content = Buffer.alloc(size, "0123456789abcdef!");
    writeFileSync(path, content);
    expect((await readRegularFileWithin(path, { maxBytes: size, tooLarge })).equals(content)).toBe(true);
  });

  test("gives files whose size the system does not tell", async () => {
    const path = existsSync("/proc/version") ? "/proc/version" : join(folder, "a");
    if (path !== "/proc/version") writeFileSync(path, "content");
    expect(await readRegularFileWithin(path, { maxBytes: 10_000, tooLarge })).toEqual(readFileSync(path));
    await expect(readRegularFileWithin(path, { maxBytes: 3, tooLarge })).rejects.toThrow(/^\d+ are too many$/);
  });

  test("refuses a size above the limit without reading", async () => {
    const path = join(folder, "a");
    writeFileSync(path, "");
    truncateSync(path, 2 ** 40);
    await expect(readRegularFileWithin(path, { maxBytes: 10, tooLarge })).rejects.toThrow(`${2 ** 40} are too many`);
  });

  test("stops at an abort", async () => {
    const path = join(folder, "a");
    writeFileSync(path, Buffer.alloc(3 * 1024 * 1024));
    const abort = new AbortController();
    const reading = readRegularFileWithin(path, { maxBytes: 10 ** 7, tooLarge, signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });
});
