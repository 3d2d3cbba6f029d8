import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWriteTool } from "../../src/tools/write.js";
import { runTool, textOf } from "./run-tool.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();
const write = (params: object) => textOf(createWriteTool({ cwd: folder.path }), params);

describe("write", () => {
  test("makes a file with its folders and tells its bytes", async () => {
    expect(await write({ path: "deep/dir/new.txt", content: "héllo\n" })).toBe("Wrote 7 bytes to deep/dir/new.txt");
    expect(folder.read("deep/dir/new.txt")).toBe("héllo\n");
  });

  test("replaces the content and keeps the mode", async () => {
    chmodSync(folder.write("run.sh", "old content"), 0o755);
    await write({ path: "run.sh", content: "" });
    expect(folder.read("run.sh")).toBe("");
    expect(statSync(join(folder.path, "run.sh")).mode & 0o777).toBe(0o755);
  });

  test("names what it cannot write, and why", async () => {
    folder.write("file", "");
    await expect(write({ path: ".", content: "" })).rejects.toThrow('Cannot write ".": it is a directory');
    await expect(write({ path: "file/x", content: "" })).rejects.toThrow(
      `Cannot write "file/x": ENOTDIR: "${folder.path}/file" is not a folder`,
    );
    await expect(write({ path: "/proc/none/x", content: "" })).rejects.toThrow(/^Cannot write "\/proc\/none\/x": E/);
    await expect(write({ path: "a\0b", content: "" })).rejects.toThrow(
      'Cannot use path "a\\0b": a path cannot hold a NUL character',
    );
  });

  test("leaves pipes, devices and loops of links as they are", async () => {
    execFileSync("mkfifo", [join(folder.path, "pipe")]);
    symlinkSync("b", join(folder.path, "a"));
    symlinkSync("a", join(folder.path, "b"));
    const refused = "it is not a regular file";
    await expect(write({ path: "pipe", content: "x" })).rejects.toThrow(`Cannot write "pipe": ${refused}`);
    await expect(write({ path: "/dev/null", content: "x" })).rejects.toThrow(`Cannot write "/dev/null": ${refused}`);
    await expect(write({ path: "a", content: "x" })).rejects.toThrow('Cannot write "a": ELOOP: ');
    expect(readdirSync(folder.path)).toEqual(["a", "b", "pipe"]);
    expect(statSync(join(folder.path, "pipe")).isFIFO()).toBe(true);
    expect(lstatSync(join(folder.path, "a")).isSymbolicLink()).toBe(true);
  });

  test("writes nothing when it was aborted while it waited", async () => {
    const tool = createWriteTool({ cwd: folder.path });
    const abort = new AbortController();
    const first = runTool(tool, { path: "a", content: "1" });
    const second = runTool(tool, { path: "a", content: "2" }, abort.signal);
    abort.abort();
    await first;
    await expect(second).rejects.toThrow("Operation aborted");
    expect(folder.read("a")).toBe("1");
  });
});
