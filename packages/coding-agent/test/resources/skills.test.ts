import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { expandSkillCommand, loadSkills } from "../../src/resources/skills.js";
import { workspace } from "./workspace.js";

const found = (path: string) => ({
  path,
  sourceInfo: { path, source: "auto", scope: "user" as const, origin: "top-level" as const },
});
const skill = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: does ${name}\n${more}---\n\nBody of ${name}\n`;

describe("loadSkills", () => {
  test("reads a skill", async () => {
    const { write } = workspace();
    const path = write(
      "s/pdf/SKILL.md",
      "---\nname: pdf-tools\ndescription: |\n  Reads\n  PDFs.\nlicense: MIT\n---\nBody",
    );
    expect(await loadSkills([found(path)])).toEqual({
      skills: [
        {
          name: "pdf-tools",
          description: "Reads PDFs.",
          filePath: path,
          baseDir: dirname(path),
          sourceInfo: found(path).sourceInfo,
          disableModelInvocation: false,
        },
      ],
      diagnostics: [],
    });
  });

  test("a name that is left out is the folder's or the file's", async () => {
    const { write } = workspace();
    const files = ["s/folder/SKILL.md", "s/loose.md"].map((path) => found(write(path, "---\ndescription: d\n---\n")));
    expect((await loadSkills(files)).skills.map(({ name }) => name)).toEqual(["folder", "loose"]);
  });

  test("odd names and long descriptions are loaded with a warning", async () => {
    const { write } = workspace();
    const names = ["Bad_Name", "-a", "a--b", "a-", "x".repeat(65)];
    const files = names.map((name, at) => found(write(`s/${at}/SKILL.md`, skill(`"${name}"`))));
    files.push(found(write("s/long/SKILL.md", `---\ndescription: ${"d".repeat(1025)}\n---\n`)));
    const { skills, diagnostics } = await loadSkills(files);
    expect(skills.map(({ name }) => name)).toEqual([...names, "long"]);
    expect(diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
      ...names
        .slice(0, 4)
        .map((name) => [
          "warning",
          `The skill's name "${name}" should have lowercase letters, digits and single hyphens only`,
        ]),
      ["warning", "The skill's name is longer than 64 characters"],
      ["warning", "The skill's description is longer than 1024 characters"],
    ]);
  });

  test("without a description, or with broken front matter, a skill is left out; other Markdown is passed over", async () => {
    const { write, root } = workspace();
    const files = [
      write("s/a/SKILL.md", "---\nname: a\n---\n"),
      write("s/b/SKILL.md", "---\nname: b\ndescription: use: this\n---\n"),
      write("s/README.md", "# Read me\n"),
      write("s/named.md", "---\nname: named\n---\n"),
      `${root}/gone/SKILL.md`,
    ];
    const { skills, diagnostics } = await loadSkills(files.map(found));
    expect(skills).toEqual([]);
    expect(diagnostics).toEqual([
      { severity: "warning", source: "skills", message: "The skill has no description; it is ignored", path: files[0] },
      expect.objectContaining({ severity: "error", path: files[1], line: 3 }),
      { severity: "warning", source: "skills", message: "The skill has no description; it is ignored", path: files[3] },
      expect.objectContaining({ severity: "error", path: files[4], message: expect.stringContaining("ENOENT") }),
    ]);
  });

  test("of a name the first counts", async () => {
    const { write } = workspace();
    const [first, second] = [write("a/x/SKILL.md", skill("x")), write("b/x/SKILL.md", skill("x"))];
    const { skills, diagnostics } = await loadSkills([found(first), found(second)]);
    expect(skills.map(({ filePath }) => filePath)).toEqual([first]);
    expect(diagnostics).toEqual([
      {
        severity: "warning",
        source: "skills",
        message: `The skill "x" is there already, from "${first}"; this one is ignored`,
        path: second,
      },
    ]);
  });
});

describe("expandSkillCommand", () => {
  test("gives the instructions, where they lie, and the arguments", async () => {
    const { write } = workspace();
    const path = write("a/x/SKILL.md", skill("x", "disable-model-invocation: true\n"));
    const { skills } = await loadSkills([found(path)]);
    const block = `<skill name="x" location="${path}">\nReferences are relative to ${dirname(path)}.\n\nBody of x\n</skill>`;
    expect(expandSkillCommand("/skill:x", skills)).toBe(block);
    expect(expandSkillCommand("/skill:x   some args\nhere ", skills)).toBe(`${block}\n\nsome args\nhere`);
    write("a/x/SKILL.md", "Changed");
    expect(expandSkillCommand("/skill:x", skills)).toBe(block.replace("Body of x", "Changed"));
  });

  test("leaves other texts alone", async () => {
    const { write } = workspace();
    const { skills } = await loadSkills([found(write("a/x/SKILL.md", skill("x")))]);
    for (const text of ["/skill:y a", " /skill:x", "/skill:", "/skill: x", "/x", "skill:x"])
      expect(expandSkillCommand(text, skills)).toBe(text);
  });

  test("says which skill cannot be read", async () => {
    const { write } = workspace();
    const path = write("a/x/SKILL.md", skill("x"));
    const { skills } = await loadSkills([found(path)]);
    rmSync(path);
    expect(() => expandSkillCommand("/skill:x go", skills)).toThrow(/^Cannot read the skill "x": ENOENT/);
  });
});
