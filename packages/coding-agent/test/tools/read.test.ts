import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { createReadTool } from "../../src/tools/read.js";
import { runTool, textOf } from "./run-tool.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();
const read = (params: object) => textOf(createReadTool({ cwd: folder.path }), params);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`).join("\n");

describe("read", () => {
  test("gives a whole file as it is", async () => {
    folder.write("notes.txt", "alpha\nbeta\r\ngamma\n");
    expect(await runTool(createReadTool({ cwd: folder.path }), { path: "notes.txt" })).toEqual({
      content: [{ type: "text", text: "alpha\nbeta\r\ngamma\n" }],
    });
    folder.write("empty.txt", "");
    expect(await read({ path: "empty.txt" })).toBe("");
  });

  test("gives the lines asked for and says how to go on", async () => {
    folder.write("notes.txt", "alpha\nbeta\ngamma\n");
    expect(await read({ path: "notes.txt", offset: 2, limit: 1 })).toBe(
      "beta\n\n[Showing lines 2-2 of 3. Use offset=3 to continue.]",
    );
    expect(await read({ path: "notes.txt", offset: 2 })).toBe("beta\ngamma\n");
    expect(await read({ path: "notes.txt", offset: 3, limit: 1 })).toBe("gamma\n");
  });

  test("gives the first 2,000 lines", async () => {
    folder.write("long.txt", numbered(1, 3000));
    const result = await runTool(createReadTool({ cwd: folder.path }), { path: "long.txt" });
    expect(result.content).toEqual([
      { type: "text", text: `${numbered(1, 2000)}\n\n[Showing lines 1-2000 of 3000. Use offset=2001 to continue.]` },
    ]);
    expect(result.details).toMatchObject({ truncation: { truncatedBy: "lines", outputLines: 2000 } });
    expect(await read({ path: "long.txt", offset: 2001 })).toBe(numbered(2001, 3000));
  });

  test("gives whole lines within 50 KB", async () => {
    folder.write("wide.txt", `${"é".repeat(10_000)}\n`.repeat(5));
    expect(await read({ path: "wide.txt", offset: 2 })).toBe(
      `${"é".repeat(10_000)}\n${"é".repeat(10_000)}\n\n[Showing lines 2-3 of 5 (50.0KB limit). Use offset=4 to continue.]`,
    );
  });

  test("says how to get at a line above the limit", async () => {
    folder.write("wide.txt", `first\n${"w".repeat(60_000)}\nnext\n`);
    expect(await read({ path: "wide.txt", offset: 2 })).toBe(
      "[Line 2 has 58.6KB, more than the 50.0KB that can be shown. Use bash: sed -n '2p' wide.txt | head -c 51200]",
    );
  });

  test("finds its lines in a file of many megabytes", async () => {
    folder.write("huge.txt", [...Array(8).fill("x".repeat(1_000_000)), "the line\n"].join("\n"));
    expect(await read({ path: "huge.txt", offset: 9 })).toBe("the line\n");
    expect(await read({ path: "huge.txt" })).toContain("Line 1 has 976.6KB");
  });

  test("leaves out a byte-order mark and marks invalid bytes", async () => {
    folder.write("odd.txt", Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0a]));
    expect(await read({ path: "odd.txt" })).toBe("a\ufffd\n");
  });

  test("names what it cannot read, and why", async () => {
    await expect(read({ path: "missing.txt" })).rejects.toThrow(
      'Cannot read "missing.txt": ENOENT: no such file or directory',
    );
    await expect(read({ path: "." })).rejects.toThrow('Cannot read ".": it is a directory; list it with ls');
    folder.write("notes.txt", "alpha\nbeta");
    await expect(read({ path: "notes.txt", offset: 99 })).rejects.toThrow(
      'Cannot read "notes.txt": offset 99 is beyond the end, the file has 2 lines',
    );
    execFileSync("mkfifo", [join(folder.path, "pipe")]);
    await expect(read({ path: "pipe" })).rejects.toThrow('Cannot read "pipe": it is not a regular file');
    await expect(read({ path: "/dev/zero" })).rejects.toThrow('Cannot read "/dev/zero": it is not a regular file');
    await expect(read({ path: "a\0b" })).rejects.toThrow('Cannot use path "a\\0b": a path cannot hold a NUL character');
  });

  test("does not show binary files", async () => {
    folder.write("data.bin", Buffer.from([1, 2, 0, 3]));
    expect(await read({ path: "data.bin" })).toBe(
      '[Binary file "data.bin", 4B: not shown. Look into it with bash: file, strings or xxd]',
    );
  });

  test("shows an image by its content, whatever its name", async () => {
    const png = await sharp({ create: { width: 20, height: 10, channels: 3, background: "#123456" } })
      .png()
      .toBuffer();
    folder.write("dot.txt", png);
    expect(await runTool(createReadTool({ cwd: folder.path }), { path: "dot.txt" })).toEqual({
      content: [
        { type: "text", text: "Read image file [image/png]" },
        { type: "image", mimeType: "image/png", data: png.toString("base64") },
      ],
    });
  });

  test("shrinks a large image unless told not to", async () => {
    folder.write(
      "big.png",
      await sharp({ create: { width: 40, height: 20, channels: 3, background: "#123456" } })
        .png()
        .toBuffer(),
    );
    const options = { cwd: folder.path, imageLimits: { maxDimension: 10 } };
    expect(await textOf(createReadTool(options), { path: "big.png" })).toBe(
      "Read image file [image/png]\n[Resized from 40x20 to 10x5]\n<image/png>",
    );
    expect(await textOf(createReadTool({ ...options, autoResizeImages: false }), { path: "big.png" })).toBe(
      "Read image file [image/png]\n<image/png>",
    );
  });

  test("says what is wrong with a broken image", async () => {
    const png = await sharp({ create: { width: 4000, height: 10, channels: 3, background: "#123456" } })
      .png()
      .toBuffer();
    folder.write("broken.png", png.subarray(0, 60));
    await expect(read({ path: "broken.png" })).rejects.toThrow(
      'Cannot read "broken.png": Cannot use image: its data ends too early',
    );
    folder.write("empty.png", png.subarray(0, 8));
    await expect(read({ path: "empty.png" })).rejects.toThrow(
      'Cannot read "empty.png": Cannot use image: its header is broken',
    );
  });

  test("shows a text that begins like an image", async () => {
    folder.write("formats.md", "GIF89a is the younger form\n");
    expect(await read({ path: "formats.md" })).toBe("GIF89a is the younger form\n");
  });

  test("stops in the middle of a file at an abort", async () => {
    truncateSync(folder.write("endless.log", `${"a".repeat(10_000)}\n`.repeat(10)), 2 ** 40);
    const abort = new AbortController();
    const { signal } = abort;
    const listen = signal.addEventListener.bind(signal);
    // Whoever reads listens for an abort: that is when it comes.
    signal.addEventListener = (...args: Parameters<typeof listen>) => {
      listen(...args);
      setImmediate(() => abort.abort());
    };
    const reading = runTool(createReadTool({ cwd: folder.path }), { path: "endless.log" }, signal);
    await expect(reading).rejects.toThrow("Operation aborted");
  });

  test.runIf(existsSync("/proc/self/fd"))("leaves no file open", async () => {
    folder.write("long.txt", numbered(1, 3000));
    folder.write("data.bin", Buffer.from([1, 2, 0, 3]));
    const open = () => readdirSync("/proc/self/fd").filter((fd) => linkOf(fd)?.startsWith(folder.path));
    for (const path of ["long.txt", "data.bin"]) for (let count = 0; count < 10; count++) await read({ path });
    for (let count = 0; count < 10; count++) await read({ path: "long.txt", offset: 9999 }).catch(() => undefined);
    expect(open()).toEqual([]);
  });
});

/** What a descriptor stands for; undefined when it was closed meanwhile. */
function linkOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
