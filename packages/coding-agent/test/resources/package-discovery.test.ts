import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverResources } from "../../src/resources/discovery.js";
import { SettingsManager } from "../../src/resources/settings-manager.js";
import { type Workspace, workspace } from "./workspace.js";

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nBody\n`;
const code = "export default () => {};\n";

/** A package of four skills and three extensions. */
function packageFiles(folder: string, manifest?: object): Record<string, unknown> {
  return {
    [`${folder}/extensions/e.ts`]: code,
    [`${folder}/extensions/f.js`]: code,
    [`${folder}/extensions/dir/index.ts`]: code,
    [`${folder}/extensions/dir/other.ts`]: code,
    [`${folder}/skills/s/SKILL.md`]: skill(`${folder}-s`),
    [`${folder}/skills/t.md`]: skill(`${folder}-t`),
    [`${folder}/skills/deep/er/u/SKILL.md`]: skill(`${folder}-u`),
    [`${folder}/prompts/p.md`]: "p",
    [`${folder}/prompts/deep/d.md`]: "d",
    ...(manifest && { [`${folder}/package.json`]: { name: folder, pi: manifest } }),
  };
}

async function discover(place: Workspace, isTrusted = false) {
  const found = await discoverResources({
    ...place,
    home: join(place.root, "home"),
    isTrusted,
    settings: SettingsManager.load({ ...place, trusted: isTrusted }),
    commandLine: { extensions: [], skills: [], prompts: [] },
    off: { extensions: false, skills: false, prompts: false },
    isOffline: true,
    env: {},
  });
  const short = (path: string) => path.slice(place.root.length + 1);
  return {
    extensions: found.extensions.map(({ path }) => short(path)),
    skills: found.skills.map(({ filePath }) => short(filePath)),
    prompts: found.prompts.map(({ filePath }) => short(filePath)),
    messages: found.diagnostics.map(({ message }) => message.replaceAll(`${place.root}/`, "")),
    scopes: found.skills.map(({ sourceInfo }) => `${sourceInfo.scope} ${sourceInfo.source}`),
  };
}

const withUser = (packages: unknown[], manifest?: object) =>
  workspace({ ...packageFiles("a", manifest), "agent/settings.json": { packages } });

describe("what a package brings", () => {
  test("without a manifest: what its folders of those names hold", async () => {
    expect(await discover(withUser(["../a"]))).toMatchObject({
      extensions: ["a/extensions/dir/index.ts", "a/extensions/e.ts", "a/extensions/f.js"],
      skills: ["a/skills/deep/er/u/SKILL.md", "a/skills/s/SKILL.md", "a/skills/t.md"],
      prompts: ["a/prompts/deep/d.md", "a/prompts/p.md"],
      messages: [],
    });
  });

  test("with a manifest: what it names, and no more", async () => {
    const manifest = {
      extensions: ["./extensions", "!extensions/f.js", "./gone.ts"],
      prompts: ["./prompts/**/*.md", "!**/p.md"],
    };
    expect(await discover(withUser(["../a"], manifest))).toMatchObject({
      extensions: ["a/extensions/dir/index.ts", "a/extensions/e.ts"],
      skills: [],
      prompts: ["a/prompts/deep/d.md"],
      messages: ['The package "../a" names "./gone.ts", which is not there'],
    });
  });

  test("globs of a manifest find files and folders; a folder with an index file is one extension", async () => {
    const manifest = { extensions: ["./extensions/dir", "./extensions/[ef].*"], skills: ["./skills/*"] };
    expect(await discover(withUser(["../a"], manifest))).toMatchObject({
      extensions: ["a/extensions/dir/index.ts", "a/extensions/e.ts", "a/extensions/f.js"],
      skills: ["a/skills/deep/er/u/SKILL.md", "a/skills/s/SKILL.md", "a/skills/t.md"],
      prompts: [],
    });
  });

  test("a manifest that is none is passed over", async () => {
    expect((await discover(withUser(["../a"], { extensions: "x" }))).extensions).toHaveLength(3);
    const place = withUser(["../a"]);
    place.write("a/package.json", "{broken");
    expect((await discover(place)).extensions).toHaveLength(3);
  });

  test("a file is one extension", async () => {
    expect((await discover(withUser(["../a/extensions/e.ts"]))).extensions).toEqual(["a/extensions/e.ts"]);
  });

  test("one that is not there, not installed or written wrongly is told of, and others load", async () => {
    const place = withUser([
      "../gone",
      "npm:not-installed@1.0.0",
      "npm:../x",
      "https://user:secret@host.test/a/b",
      "../a",
    ]);
    const { messages, extensions } = await discover(place);
    expect(extensions).toHaveLength(3);
    expect(messages).toEqual([
      'Cannot use the package "npm:../x": it has to be written as npm:name@version',
      'Cannot use the package "../gone": nothing is at "gone"',
      'Cannot use the package "npm:not-installed@1.0.0": it is not installed, and nothing is fetched offline',
      'Cannot use the package "https://host.test/a/b": it is not installed, and nothing is fetched offline',
    ]);
  });

  test("installed ones are used without asking anybody", async () => {
    const place = workspace({
      "agent/npm/node_modules/@x/y/skills/n/SKILL.md": skill("n"),
      "agent/npm/node_modules/@x/y/package.json": { version: "1.2.3" },
      "agent/git/host.test/u/r/skills/g/SKILL.md": skill("g"),
      "project/.pi/npm/node_modules/z/skills/z/SKILL.md": skill("z"),
      "agent/settings.json": { packages: ["npm:@x/y@1.2.3", "git:host.test/u/r@v1"] },
      "project/.pi/settings.json": { packages: ["npm:z"] },
    });
    const { messages, scopes } = await discover(place, true);
    expect([messages, scopes]).toEqual([[], ["project npm:z", "user npm:@x/y@1.2.3", "user git:host.test/u/r@v1"]]);
    place.write("agent/npm/node_modules/@x/y/package.json", { version: "1.2.4" });
    expect((await discover(place, true)).messages).toHaveLength(1);
  });
});

describe("entries with lists", () => {
  test.each([
    [{ extensions: [], skills: ["skills/s"], prompts: ["prompts/*.md"] }, [], ["s"], ["p"]],
    [{ extensions: ["!**/f.js"], skills: ["!**"] }, ["dir", "e"], [], ["d", "p"]],
    [
      { skills: ["+skills/s/SKILL.md"], extensions: ["-extensions/e.ts"], prompts: [] },
      ["dir", "f"],
      ["u", "s", "t"],
      [],
    ],
    [{ skills: ["skills"], extensions: ["extensions/*.ts"], prompts: ["p.md"] }, ["e"], ["u", "s", "t"], ["p"]],
    [{ autoload: false, skills: ["skills/*"], extensions: ["!**/f.js"] }, [], ["s", "t"], []],
    [{ autoload: false, skills: ["+skills/s"] }, [], ["s"], []],
  ])("%j", async (lists, extensions, skills, prompts) => {
    const found = await discover(withUser([{ source: "../a", ...lists }]));
    const names = (paths: string[]) =>
      paths.map((path) => path.replace(/\/(SKILL\.md|index\.ts)$/, "").replace(/^.*\/|\.\w+$/g, ""));
    expect([names(found.extensions), names(found.skills), names(found.prompts)]).toEqual([extensions, skills, prompts]);
  });

  test("lists narrow the manifest and open nothing it does not name", async () => {
    const place = withUser([{ source: "../a", skills: ["+skills/t.md"], prompts: ["prompts/p.md"] }], {
      skills: ["./skills/s"],
    });
    expect(await discover(place)).toMatchObject({ extensions: [], skills: ["a/skills/s/SKILL.md"], prompts: [] });
  });
});

describe("the project's and the user's entry for one package", () => {
  const both = (user: unknown, project: unknown) =>
    workspace({
      ...packageFiles("a"),
      "agent/settings.json": { packages: [user] },
      "project/.pi/settings.json": { packages: [project] },
    });

  test("the project's replaces the user's, however they are written", async () => {
    const place = both("../a", { source: "../../a", prompts: [], extensions: [] });
    expect(await discover(place, true)).toMatchObject({
      extensions: [],
      prompts: [],
      scopes: Array(3).fill("project ../../a"),
    });
    expect((await discover(place)).scopes).toEqual(Array(3).fill("user ../a"));
  });

  test("with autoload: false it changes the user's", async () => {
    const user = { source: "../a", extensions: [], skills: ["skills/s", "skills/t.md"] };
    const change = { source: "../../a", autoload: false, skills: ["-skills/s", "+skills/deep/er/u"], prompts: [] };
    expect(await discover(both(user, change), true)).toMatchObject({
      extensions: [],
      skills: ["a/skills/deep/er/u/SKILL.md", "a/skills/t.md"],
      prompts: [],
      scopes: Array(2).fill("user ../a"),
    });
  });
});
