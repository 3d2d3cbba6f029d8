// Skills read at once: the files of folders, of the user and of a list, and what is wrong with them.

import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadSkills, loadSkillsFromDir } from "../../src/sdk/skills.js";
import { workspace } from "../helpers/workspace.js";

const skill = (description: string) => `---\ndescription: ${description}\n---\nBody`;

describe("loadSkillsFromDir", () => {
  it("gives the skills below a folder, down to the first SKILL.md", () => {
    const { root } = workspace({
      "s/one/SKILL.md": skill("First"),
      "s/one/inner/SKILL.md": skill("Part of the first"),
      "s/group/two/SKILL.md": "---\nname: second\ndescription: Second\ndisable-model-invocation: true\n---\n",
      "s/group/loose.md": skill("Beside skills of a group"),
      "s/loose.md": skill("Loose"),
      "s/plain.md": "No skill",
      "s/.hidden/x/SKILL.md": skill("Hidden"),
      "s/node_modules/x/SKILL.md": skill("Foreign"),
    });
    symlinkSync(join(root, "s"), join(root, "s/group/circle"));
    const dir = join(root, "s");
    const at = (path: string, name: string, description: string, isOff = false) => ({
      name,
      description,
      filePath: join(dir, path),
      baseDir: join(dir, path, ".."),
      sourceInfo: {
        path: join(dir, path),
        source: "test",
        scope: "temporary",
        origin: "top-level",
        baseDir: join(dir, path, ".."),
      },
      disableModelInvocation: isOff,
    });
    expect(loadSkillsFromDir({ dir, source: "test" })).toEqual({
      skills: [
        at("group/two/SKILL.md", "second", "Second", true),
        at("loose.md", "loose", "Loose"),
        at("one/SKILL.md", "one", "First"),
      ],
      diagnostics: [],
    });
  });

  it("has nothing of a folder that is not there", () => {
    expect(loadSkillsFromDir({ dir: "/nowhere/at/all", source: "test" })).toEqual({ skills: [], diagnostics: [] });
  });
});

describe("loadSkills", () => {
  it("adds the user's and the project's to those that are named, the first of a name", () => {
    const { cwd, agentDir, home } = workspace({
      "agent/settings.json": { defaultProjectTrust: "always" },
      "agent/skills/a/SKILL.md": skill("The user's"),
      "project/.pi/skills/b/SKILL.md": skill("The project's"),
      "project/named/a/SKILL.md": skill("Another"),
      "project/named/c/SKILL.md": skill("Named"),
    });
    const { skills, diagnostics } = loadSkills({
      cwd,
      agentDir,
      home,
      skillPaths: ["named", "named/c/SKILL.md", "nowhere"],
    });
    expect(skills.map(({ name, sourceInfo }) => [name, sourceInfo.scope])).toEqual([
      ["a", "user"],
      ["b", "project"],
      ["c", "temporary"],
    ]);
    expect(diagnostics).toEqual([
      {
        type: "warning",
        message: `The skill "a" is there already, from "${join(agentDir, "skills/a/SKILL.md")}"; this one is ignored`,
        path: join(cwd, "named/a/SKILL.md"),
      },
      { type: "warning", message: "skill path does not exist", path: join(cwd, "nowhere") },
    ]);
  });

  it("has those that are shared between agents, and a project's only where it is trusted", () => {
    const { cwd, agentDir, home, write } = workspace({
      "home/.agents/skills/u/SKILL.md": skill("The user's, shared"),
      "home/.agents/skills/loose.md": skill("No skill in a shared folder"),
      "project/.git/HEAD": "",
      "project/.pi/skills/p/SKILL.md": skill("The project's"),
      "project/.pi/skills/.gitignore": "off\n",
      "project/.pi/skills/off/SKILL.md": skill("Ignored"),
      "project/.agents/skills/s/SKILL.md": skill("The project's, shared"),
    });
    const names = (around?: Parameters<typeof loadSkills>[1]) =>
      loadSkills({ cwd, agentDir, home }, around).skills.map(({ name }) => name);
    expect(names()).toEqual(["u"]);
    expect(names(() => ({ cwd, agentDir, isTrusted: true }) as never)).toEqual(["u", "p", "s"]);
    write("agent/trust.json", { [cwd]: true });
    expect(names()).toEqual(["u", "p", "s"]);
    expect(names(() => ({ cwd, agentDir, isTrusted: false }) as never)).toEqual(["u"]);
  });

  it("leaves out the defaults when asked to, and tells of broken files", () => {
    const { cwd, agentDir } = workspace({
      "agent/skills/a/SKILL.md": skill("The user's"),
      "project/s/broken/SKILL.md": "---\ndescription: [\n---\n",
      "project/s/nameless/SKILL.md": "---\nname: x\n---\n",
    });
    const { skills, diagnostics } = loadSkills({ cwd, agentDir, skillPaths: ["s"], includeDefaults: false });
    expect(skills).toEqual([]);
    expect(diagnostics.map(({ type, message }) => [type, message.slice(0, 30)])).toEqual([
      ["error", "Cannot read the skill: Flow se"],
      ["warning", "The skill has no description; "],
    ]);
  });
});
