import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSystemPromptFiles } from "../../src/resources/system-prompt-files.js";
import { workspace } from "./workspace.js";

const files = {
  "agent/SYSTEM.md": "user",
  "agent/APPEND_SYSTEM.md": "user adds",
  "project/.pi/SYSTEM.md": "\uFEFFproject",
};

test("a trusted project's file, else the user's; each file by itself", () => {
  const place = workspace(files);
  expect(loadSystemPromptFiles({ ...place, isTrusted: true })).toEqual({
    customPrompt: "project",
    appendPrompts: ["user adds"],
    diagnostics: [],
  });
  expect(loadSystemPromptFiles({ ...place, isTrusted: false })).toMatchObject({ customPrompt: "user" });
});

test("the command line wins, also with nothing", () => {
  const place = { ...workspace(files), isTrusted: true };
  expect(loadSystemPromptFiles(place, { customPrompt: "", appendPrompts: ["a", "b"] })).toEqual({
    customPrompt: "",
    appendPrompts: ["a", "b"],
    diagnostics: [],
  });
  expect(loadSystemPromptFiles(place, { appendPrompts: [] }).appendPrompts).toEqual(["user adds"]);
});

test("without files there is nothing to say", () => {
  expect(loadSystemPromptFiles({ ...workspace(), isTrusted: true })).toEqual({ appendPrompts: [], diagnostics: [] });
});

test("a file that cannot be read is told of, and the user's does not step in", () => {
  const place = workspace({ "agent/SYSTEM.md": "user" });
  mkdirSync(join(place.cwd, ".pi", "SYSTEM.md"), { recursive: true });
  const { customPrompt, diagnostics } = loadSystemPromptFiles({ ...place, isTrusted: true });
  expect(customPrompt).toBeUndefined();
  expect(diagnostics).toEqual([
    {
      severity: "error",
      source: "system_prompt",
      message: "Cannot read the system prompt: it is a directory",
      path: join(place.cwd, ".pi", "SYSTEM.md"),
    },
  ]);
});
