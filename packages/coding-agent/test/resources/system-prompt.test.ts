import { expect, test } from "vitest";
import { buildSystemPrompt } from "../../src/resources/system-prompt.js";

const parts = {
  cwd: "/project",
  tools: [
    { name: "read", snippet: "Read a file", guidelines: ["Use read, not cat."] },
    { name: "quiet" },
    { name: "bash", snippet: "Run a command", guidelines: ["Use read, not cat."] },
  ],
  contextFiles: [
    { path: "/AGENTS.md", content: "Be brief.\n" },
    { path: "/empty.md", content: " \n" },
  ],
  appendPrompts: ["Say it twice."],
  skills: [{ name: "lookup", description: "Looks things up", path: "/s/SKILL.md" }],
  date: "2026-01-31",
  docsPath: "/docs",
};

test("the sections come in their order", () => {
  const prompt = buildSystemPrompt(parts);
  const marks = [
    "You are a coding agent",
    "<tools>",
    "<rules>",
    "<docs>",
    "Say it twice.",
    "<project_context>",
    "<skills>",
    "Working directory: /project",
  ];
  const places = marks.map((mark) => prompt.indexOf(mark));
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(prompt).toContain("- read: Read a file\n- bash: Run a command\n</tools>");
  expect(prompt.split("Use read, not cat.")).toHaveLength(2);
  expect(prompt).toContain('<instructions path="/AGENTS.md">\nBe brief.\n</instructions>');
  expect(prompt).toContain("- lookup: Looks things up (/s/SKILL.md)");
  expect(prompt).not.toContain("/empty.md");
  expect(prompt).not.toContain("quiet");
});

test("the same parts give the same text, without the time of day", () => {
  expect(buildSystemPrompt(parts)).toBe(buildSystemPrompt({ ...parts }));
  expect(buildSystemPrompt(parts)).not.toMatch(/\d\d:\d\d/);
});

test("a prompt of one's own replaces all before the addendum", () => {
  expect(
    buildSystemPrompt({
      cwd: "/p",
      tools: parts.tools,
      contextFiles: [],
      customPrompt: "You are a parrot.",
      appendPrompts: ["Twice."],
    }),
  ).toBe("You are a parrot.\n\nTwice.\n\nWorking directory: /p");
});

test("sections without content are left out", () => {
  expect(buildSystemPrompt({ cwd: "/p", tools: [], contextFiles: [] })).not.toMatch(
    /<(tools|docs|project_context|skills)>/,
  );
});
