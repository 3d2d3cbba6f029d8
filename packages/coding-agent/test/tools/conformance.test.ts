import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import { type AnyBuiltInTool, createTools, defaultToolNames, type ToolName, toolNames } from "../../src/tools/index.js";
import { runTool } from "./run-tool.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();
const make = (name: ToolName): AnyBuiltInTool => createTools({ cwd: folder.path, tempDirectory: folder.path })[name];

/** For each tool: a call that does something, one whose result is too long, and arguments that must be refused. */
const cases: Record<ToolName, { good: object; long?: object; bad: unknown[] }> = {
  read: {
    good: { path: "many.txt" },
    long: { path: "many.txt" },
    bad: [{}, { path: 1 }, { path: "x", offset: 0 }, { path: "x", limit: 0.5 }],
  },
  bash: {
    good: { command: "sleep 300" },
    long: { command: "cat many.txt" },
    bad: [{}, { command: "x", timeout: 0 }, { command: "x", timeout: -1 }, { command: "x", timeout: 1e12 }],
  },
  edit: {
    good: { path: "many.txt", edits: [{ oldText: "needle 1 ", newText: "x" }] },
    bad: [{ path: "x" }, { path: "x", edits: [] }, { path: "x", edits: [{ oldText: "a" }] }, { edits: [] }],
  },
  write: { good: { path: "new.txt", content: "x" }, bad: [{ path: "x" }, { content: "x" }, { path: "x", content: 1 }] },
  grep: {
    good: { pattern: "needle" },
    long: { pattern: "needle", limit: 100_000 },
    bad: [{}, { pattern: "" }, { pattern: "x", limit: 0 }, { pattern: "x", context: -1 }],
  },
  find: {
    good: { pattern: "*" },
    long: { pattern: "*", limit: 1 },
    bad: [{}, { pattern: "" }, { pattern: "x", limit: 0 }],
  },
  ls: { good: {}, long: { limit: 1 }, bad: [{ path: 1 }, { limit: 0 }] },
};

test("the default tools are the four that change and look at files", () => {
  expect(defaultToolNames).toEqual(["read", "bash", "edit", "write"]);
  expect(toolNames).toEqual(["read", "bash", "edit", "write", "grep", "find", "ls"]);
});

describe.each(toolNames)("%s", (name) => {
  test("is described to the model", () => {
    const tool = make(name);
    expect(tool.name).toBe(name);
    expect(tool.description.length).toBeGreaterThan(40);
    expect(tool.promptSnippet).toMatch(/^[A-Z][^\n]*[^.\n]$/);
    const schema = JSON.parse(JSON.stringify(tool.parameters)) as { type: string; properties: Record<string, object> };
    expect(schema.type).toBe("object");
    for (const property of Object.values(schema.properties)) expect(property).toHaveProperty("description");
  });

  test("refuses bad arguments by its schema and takes good ones", () => {
    const { parameters } = make(name);
    expect(Value.Check(parameters, cases[name].good)).toBe(true);
    for (const bad of cases[name].bad) expect([bad, Value.Check(parameters, bad)]).toEqual([bad, false]);
  });

  test("does nothing after an abort", async () => {
    folder.write("many.txt", "needle 1 \n");
    await expect(runTool(make(name), cases[name].good, AbortSignal.abort())).rejects.toThrow("Operation aborted");
    expect(folder.read("many.txt")).toBe("needle 1 \n");
  });

  test("ends soon after an abort in the middle, one way or the other", async () => {
    folder.write("many.txt", "needle 1 \n");
    const abort = new AbortController();
    const call = runTool(make(name), cases[name].good, abort.signal);
    abort.abort();
    const end = await call.then(
      () => "done",
      (error: Error) => error.message,
    );
    expect(["done", "Operation aborted", "Command aborted"]).toContain(end);
  });

  test("keeps a long result within the limits and says so", async () => {
    const { long } = cases[name];
    folder.write("many.txt", Array.from({ length: 20_000 }, (_, i) => `needle ${i} \n`).join(""));
    folder.write("more.txt", "");
    const { content } = await runTool(make(name), long ?? cases[name].good);
    const text = (content[0] as { text: string }).text;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(51_200 + 500);
    if (long) expect(text).toMatch(/\n\n\[.*\]$/);
    else expect(text.length).toBeLessThan(200);
  });
});
