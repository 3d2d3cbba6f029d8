import type { ToolCall } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import { collectFiles, fileListsText, withoutFileLists } from "../../../src/core/summarize/file-lists.js";
import { assistant, user } from "../messages.js";

const calls = (...list: [string, Record<string, unknown>][]) =>
  assistant("", {
    content: list.map(([name, args], index): ToolCall => ({ type: "toolCall", id: `${index}`, name, arguments: args })),
  });

describe("collectFiles", () => {
  test("names what was read and what was changed, each once and in order; a changed file was not only read", () => {
    const messages = [
      user("read z.txt"),
      calls(["read", { path: "b" }], ["edit", { path: "c" }], ["read", { path: "a" }], ["read", { path: "b" }]),
      calls(["write", { path: "a" }], ["bash", { command: "cat d", path: "d" }], ["read", {}], ["read", { path: 7 }]),
    ];
    expect(collectFiles(messages)).toEqual({ readFiles: ["b"], modifiedFiles: ["a", "c"] });
  });

  test("adds to the lists of an earlier summary, whatever its entry holds", () => {
    const earlier = { readFiles: ["a", "b"], modifiedFiles: ["c"] };
    expect(collectFiles([calls(["edit", { path: "b" }])], earlier)).toEqual({
      readFiles: ["a"],
      modifiedFiles: ["b", "c"],
    });
    const odd = { readFiles: ["x", 7], modifiedFiles: "c" } as never;
    expect(collectFiles([], odd)).toEqual({ readFiles: ["x"], modifiedFiles: [] });
  });
});

describe("fileListsText", () => {
  test("one block a list, one path a line, nothing for an empty one", () => {
    expect(fileListsText({ readFiles: ["a", "b"], modifiedFiles: ["c"] })).toBe(
      "\n\n<read-files>\na\nb\n</read-files>\n\n<modified-files>\nc\n</modified-files>",
    );
    expect(fileListsText({ readFiles: [], modifiedFiles: ["c"] })).toBe("\n\n<modified-files>\nc\n</modified-files>");
    expect(fileListsText({ readFiles: [], modifiedFiles: [] })).toBe("");
  });

  test.each([
    { readFiles: ["a", "b c"], modifiedFiles: ["d"] },
    { readFiles: ["a"], modifiedFiles: [] },
    { readFiles: [], modifiedFiles: ["d"] },
    { readFiles: [], modifiedFiles: [] },
  ])("withoutFileLists takes exactly them off: %j", (lists) => {
    const summary = "Done\n\n<read-files> is a block\n</read-files> too";
    expect(withoutFileLists(`${summary}${fileListsText(lists)}`)).toBe(summary);
  });
});
