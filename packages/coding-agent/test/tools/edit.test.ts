import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEditTool, prepareArguments } from "../../src/tools/edit.js";
import { runTool, textOf } from "./run-tool.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();
const tool = () => createEditTool({ cwd: folder.path });
const edit = (path: string, oldText: string, newText: string) =>
  textOf(tool(), { path, edits: [{ oldText, newText }] });

describe("edit", () => {
  test("changes the file and shows the difference", async () => {
    folder.write("a.txt", "one\ntwo\nthree\n");
    expect(await runTool(tool(), { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] })).toEqual({
      content: [{ type: "text", text: "Edited a.txt: 1 replacement, first changed line 2" }],
      details: { diff: "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", firstChangedLine: 2 },
    });
    expect(folder.read("a.txt")).toBe("one\n2\nthree\n");
  });

  test("changes only the word's bytes: mark, line endings and invalid bytes stay", async () => {
    const before = Buffer.concat([Buffer.from("\ufeffone\r\ntwo\nthree\r\n"), Buffer.from([0xff, 0xfe, 0x0a])]);
    folder.write("odd.txt", before);
    await edit("odd.txt", "two", "zwölf");
    expect(readFileSync(join(folder.path, "odd.txt"))).toEqual(
      Buffer.concat([Buffer.from("\ufeffone\r\nzwölf\nthree\r\n"), Buffer.from([0xff, 0xfe, 0x0a])]),
    );
  });

  test("finds non-ASCII text among invalid bytes, over line endings", async () => {
    folder.write("odd.txt", Buffer.concat([Buffer.from([0xff]), Buffer.from("é1\r\né2\r\n")]));
    await edit("odd.txt", "é1\né2\n", "é1\né3\n");
    expect(readFileSync(join(folder.path, "odd.txt"))).toEqual(
      Buffer.concat([Buffer.from([0xff]), Buffer.from("é1\r\né3\r\n")]),
    );
  });

  test("keeps the mode and the link", async () => {
    chmodSync(folder.write("run.sh", "echo a\n"), 0o755);
    symlinkSync("run.sh", join(folder.path, "link"));
    await edit("link", "echo a", "echo b");
    expect(lstatSync(join(folder.path, "link")).isSymbolicLink()).toBe(true);
    expect([folder.read("run.sh"), statSync(join(folder.path, "run.sh")).mode & 0o777]).toEqual(["echo b\n", 0o755]);
  });

  test("writes nothing when one edit of several cannot be made", async () => {
    folder.write("a.txt", "one\ntwo\n");
    const edits = [
      { oldText: "one", newText: "1" },
      { oldText: "three", newText: "3" },
    ];
    await expect(runTool(tool(), { path: "a.txt", edits })).rejects.toThrow(
      'Cannot edit "a.txt": edits[1]: oldText was not found',
    );
    expect(folder.read("a.txt")).toBe("one\ntwo\n");
    await expect(edit("none.txt", "a", "b")).rejects.toThrow(
      'Cannot edit "none.txt": ENOENT: no such file or directory',
    );
  });

  test("refuses pipes, devices, folders and what is too large, at once", async () => {
    execFileSync("mkfifo", [join(folder.path, "pipe")]);
    for (const path of ["pipe", "/dev/zero", "/dev/null"])
      await expect(edit(path, "a", "b")).rejects.toThrow(`Cannot edit "${path}": it is not a regular file`);
    await expect(edit(".", "a", "b")).rejects.toThrow('Cannot edit ".": it is a directory');
    truncateSync(folder.write("huge", ""), 2 ** 30);
    await expect(edit("huge", "a", "b")).rejects.toThrow(
      'Cannot edit "huge": it has 1024.0MB, more than the 50.0MB that can be edited; change it with bash, such as sed -i',
    );
    await expect(edit("a\0b", "a", "b")).rejects.toThrow('Cannot use path "a\\0b": a path cannot hold a NUL character');
  });

  test("parallel edits of one file are all made, through a link too", async () => {
    folder.write("a.txt", "one\ntwo\nthree\n");
    symlinkSync("a.txt", join(folder.path, "link"));
    await Promise.all([edit("a.txt", "one", "1"), edit("link", "two", "2"), edit("a.txt", "three", "3")]);
    expect(folder.read("a.txt")).toBe("1\n2\n3\n");
  });
});

describe("prepareArguments", () => {
  const edits = [{ oldText: "a", newText: "b" }];
  test.each([
    ["edits as JSON text", { path: "x", edits: JSON.stringify(edits) }, { path: "x", edits }],
    ["one edit without the list", { path: "x", edits: edits[0] }, { path: "x", edits }],
    ["a list of JSON texts", { path: "x", edits: [JSON.stringify(edits[0])] }, { path: "x", edits }],
    ["texts beside the path", { path: "x", oldText: "a", newText: "b" }, { path: "x", edits }],
    ["what is right already", { path: "x", edits }, { path: "x", edits }],
    ["what is no JSON", { path: "x", edits: "[{" }, { path: "x", edits: "[{" }],
    ["what is not there", { path: "x" }, { path: "x" }],
    ["what is no object", null, null],
  ])("takes %s", (_name, given, wanted) => {
    expect(prepareArguments(given)).toEqual(wanted);
  });
});
