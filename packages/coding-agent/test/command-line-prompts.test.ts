import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLinePrompts, readAll } from "../src/command-line-prompts.js";

/** One transparent pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

function directory(files: Record<string, string | Buffer>): string {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "pi-prompts-")));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  return cwd;
}

const cwd = () => directory({ "a.txt": "A", "b.txt": "B\n", "p.png": Buffer.from(png, "base64") });
const image = { type: "image", data: png, mimeType: "image/png" };

describe("commandLinePrompts", () => {
  test.each<[string, { messages?: string[]; files?: string[]; piped?: string }, (place: string) => unknown[]]>([
    ["nothing", {}, () => []],
    ["white space in the pipe is nothing", { piped: " \n" }, () => []],
    ["messages, one prompt each", { messages: ["one", "two"] }, () => [{ text: "one" }, { text: "two" }]],
    ["the pipe alone", { piped: "diff\n" }, () => [{ text: "diff\n" }]],
    [
      "the pipe before the first message",
      { piped: "diff\n", messages: ["Review", "Thanks"] },
      () => [{ text: "diff\nReview" }, { text: "Thanks" }],
    ],
    ["a pipe without a last newline", { piped: "diff", messages: ["Review"] }, () => [{ text: "diff\nReview" }]],
    [
      "a file",
      { files: ["a.txt"], messages: ["Look"] },
      (place) => [{ text: `<file name="${place}/a.txt">\nA\n</file>\nLook` }],
    ],
    [
      "files in their order, behind the pipe",
      { files: ["b.txt", "a.txt"], piped: "P\n" },
      (place) => [
        { text: `P\n<file name="${place}/b.txt">\nB\n\n</file>\n<file name="${place}/a.txt">\nA\n</file>\n` },
      ],
    ],
    [
      "an image, named in the text",
      { files: ["p.png"], messages: ["Look"] },
      (place) => [{ text: `<file name="${place}/p.png"></file>\nLook`, images: [image] }],
    ],
  ])("%s", async (_, { messages = [], files = [], piped = "" }, expected) => {
    const place = cwd();
    expect(await commandLinePrompts({ messages, files }, place, piped)).toEqual(expected(place));
  });

  test("an absolute path is taken as it is", async () => {
    const place = cwd();
    const prompts = await commandLinePrompts({ messages: [], files: [join(place, "a.txt")] }, "/", "");
    expect(prompts).toEqual([{ text: `<file name="${place}/a.txt">\nA\n</file>\n` }]);
  });

  test.each<[string, Record<string, string | Buffer>, RegExp]>([
    ["missing.txt", {}, /^Cannot read "missing\.txt": ENOENT/],
    [
      "x.bin",
      { "x.bin": Buffer.from([0xff, 0xfe, 0x00]) },
      /^Cannot use "x\.bin": it is neither UTF-8 text nor an image$/,
    ],
  ])("a file that cannot be used is named: %s", async (name, files, message) => {
    await expect(commandLinePrompts({ messages: [], files: [name] }, directory(files), "")).rejects.toThrow(message);
  });
});

describe("readAll", () => {
  test("characters cut by a chunk's edge stay whole", async () => {
    const bytes = Buffer.from("한글😀");
    const chunks = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await readAll(Readable.from(chunks))).toBe("한글😀");
    expect(await readAll(Readable.from([]))).toBe("");
  });
});
