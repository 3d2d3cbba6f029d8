import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiscoverOptions, discoverResources, extendResources } from "../../src/resources/discovery.js";
import { SettingsManager } from "../../src/resources/settings-manager.js";
import { type Workspace, workspace } from "./workspace.js";

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nBody\n`;
const code = "export default () => {};\n";
/** Files of a folder that brings something of each kind. */
const bringing = (folder: string, name: string) => ({
  [`${folder}/extensions/${name}.ts`]: code,
  [`${folder}/skills/${name}/SKILL.md`]: skill(name),
  [`${folder}/prompts/${name}.md`]: "text",
});

interface Choice {
  isTrusted?: boolean;
  extensions?: string[];
  skills?: string[];
  prompts?: string[];
  off?: Partial<DiscoverOptions["off"]>;
}

async function discover(place: Workspace, choice: Choice = {}) {
  const { extensions = [], skills = [], prompts = [], isTrusted = false } = choice;
  return discoverResources({
    cwd: place.cwd,
    agentDir: place.agentDir,
    home: join(place.root, "home"),
    isTrusted,
    settings: SettingsManager.load({ ...place, trusted: isTrusted }),
    commandLine: { extensions, skills, prompts },
    off: { extensions: false, skills: false, prompts: false, ...choice.off },
    isOffline: true,
    env: {},
  });
}

/** What was found, by paths below the root. */
async function paths(place: Workspace, choice?: Choice) {
  const found = await discover(place, choice);
  const short = (path: string) => path.slice(place.root.length + 1);
  return {
    extensions: found.extensions.map(({ path }) => short(path)),
    skills: found.skills.map(({ filePath }) => short(filePath)),
    prompts: found.prompts.map(({ filePath }) => short(filePath)),
    messages: found.diagnostics.map(({ message }) => message.replaceAll(`${place.root}/`, "")),
  };
}

const none = { extensions: [], skills: [], prompts: [], messages: [] };

test("nothing brings nothing", async () => {
  expect(await paths(workspace(), { isTrusted: true })).toEqual(none);
});

test("the order: -e, project, user, packages of both, --skill and --prompt-template", async () => {
  const place = workspace({
    ...bringing("agent", "user"),
    ...bringing("project/.pi", "project"),
    ...bringing("pu", "of-user"),
    ...bringing("pp", "of-project"),
    ...bringing("e", "named"),
    "more/x/SKILL.md": skill("x"),
    "more/y.md": "y",
    "named.ts": code,
    "set.ts": code,
    "agent/settings.json": { packages: ["../pu"], extensions: ["../set.ts"] },
    "project/.pi/settings.json": { packages: ["../../pp"] },
    "project/.agents/skills/shared/SKILL.md": skill("shared"),
    "home/.agents/skills/mine/SKILL.md": skill("mine"),
  });
  expect(
    await paths(place, {
      isTrusted: true,
      extensions: ["../named.ts", "../e"],
      skills: ["../more"],
      prompts: ["../more"],
    }),
  ).toEqual({
    extensions: [
      "named.ts",
      "e/extensions/named.ts",
      "project/.pi/extensions/project.ts",
      "set.ts",
      "agent/extensions/user.ts",
      "pp/extensions/of-project.ts",
      "pu/extensions/of-user.ts",
    ],
    skills: [
      "e/skills/named/SKILL.md",
      "project/.pi/skills/project/SKILL.md",
      "project/.agents/skills/shared/SKILL.md",
      "agent/skills/user/SKILL.md",
      "home/.agents/skills/mine/SKILL.md",
      "pp/skills/of-project/SKILL.md",
      "pu/skills/of-user/SKILL.md",
      "more/x/SKILL.md",
    ],
    prompts: [
      "e/prompts/named.md",
      "project/.pi/prompts/project.md",
      "agent/prompts/user.md",
      "pp/prompts/of-project.md",
      "pu/prompts/of-user.md",
      "more/y.md",
    ],
    messages: [],
  });
});

test("each file knows where it comes from", async () => {
  const place = workspace({
    "agent/extensions/auto.ts": code,
    "local.ts": code,
    "agent/settings.json": { extensions: ["../local.ts"], packages: ["../pack"] },
    "pack/extensions/p.ts": code,
    "project/.pi/extensions/own.ts": code,
    "cli.ts": code,
    "s/x/SKILL.md": skill("x"),
  });
  const { root, agentDir, cwd } = place;
  const found = await discover(place, { isTrusted: true, extensions: ["../cli.ts"], skills: ["../s"] });
  const info = (path: string, rest: object) => ({ path, sourceInfo: { path, origin: "top-level", ...rest } });
  expect(found.extensions).toEqual([
    info(join(root, "cli.ts"), { source: "cli", scope: "temporary" }),
    info(join(cwd, ".pi/extensions/own.ts"), { source: "auto", scope: "project", baseDir: join(cwd, ".pi") }),
    info(join(root, "local.ts"), { source: "local", scope: "user" }),
    info(join(agentDir, "extensions/auto.ts"), { source: "auto", scope: "user", baseDir: agentDir }),
    info(join(root, "pack/extensions/p.ts"), {
      source: "../pack",
      scope: "user",
      origin: "package",
      baseDir: join(root, "pack"),
    }),
  ]);
  const path = join(root, "s/x/SKILL.md");
  expect(found.skills[0]?.sourceInfo).toEqual({
    path,
    source: "local",
    scope: "temporary",
    origin: "top-level",
    baseDir: join(root, "s/x"),
  });
});

describe("folders", () => {
  test("extensions: files and folders that are one extension, one level deep", async () => {
    const place = workspace();
    for (const name of ["b.ts", "a.js", "types.d.ts", "c.mts", "note.md", ".hidden.ts", "node_modules/x.ts"])
      place.write(`agent/extensions/${name}`, code);
    for (const name of ["dir/index.ts", "dir/other.ts", "js/index.js", "loose/x.ts", "man/src/main.ts", "man/index.ts"])
      place.write(`agent/extensions/${name}`, code);
    place.write("agent/extensions/man/package.json", { pi: { extensions: ["./src/main.ts"] } });
    const prefix = "agent/extensions/";
    expect((await paths(place)).extensions.map((path) => path.slice(prefix.length))).toEqual([
      "a.js",
      "b.ts",
      "dir/index.ts",
      "js/index.js",
      "man/src/main.ts",
    ]);
  });

  test("skills: down to SKILL.md, without hidden and ignored ones; Markdown files only in our own folders", async () => {
    const place = workspace({ "agent/skills/.gitignore": "ignored\n!deep/ignored\n" });
    const names = ["a/SKILL.md", "a/inner/SKILL.md", "deep/er/b/SKILL.md", "deep/loose.md", "c.md", "ignored/SKILL.md"];
    for (const name of [...names, "deep/ignored/SKILL.md", ".hidden/SKILL.md", "node_modules/x/SKILL.md"])
      place.write(`agent/skills/${name}`, skill(name.toLowerCase().replace(/\W+/g, "-")));
    place.write("home/.agents/skills/loose.md", skill("home-loose"));
    place.write("home/.agents/skills/h/SKILL.md", skill("h"));
    expect((await paths(place)).skills).toEqual([
      "agent/skills/a/SKILL.md",
      "agent/skills/c.md",
      "agent/skills/deep/er/b/SKILL.md",
      "agent/skills/deep/ignored/SKILL.md",
      "home/.agents/skills/h/SKILL.md",
    ]);
  });

  test("inner ignore files win over outer ones, and a folder that is a skill brings only itself", async () => {
    const place = workspace({
      "agent/skills/.ignore": "drop*\n",
      "agent/skills/sub/.fdignore": "!drop-not\n",
      "agent/skills/drop/SKILL.md": skill("drop"),
      "agent/skills/sub/drop-not/SKILL.md": skill("drop-not"),
      "agent/skills/sub/drop-too/SKILL.md": skill("drop-too"),
      "one/SKILL.md": skill("one"),
      "one/reference.md": skill("reference"),
    });
    expect((await paths(place, { skills: ["../one"] })).skills).toEqual([
      "agent/skills/sub/drop-not/SKILL.md",
      "one/SKILL.md",
    ]);
  });

  test("shared skills come from the working directory up to the repository", async () => {
    const place = workspace({
      ".agents/skills/outside/SKILL.md": skill("outside"),
      "project/.agents/skills/top/SKILL.md": skill("top"),
      "project/sub/.agents/skills/sub/SKILL.md": skill("sub"),
    });
    const below = { ...place, cwd: join(place.cwd, "sub") };
    expect((await paths(below, { isTrusted: true })).skills).toEqual([
      "project/sub/.agents/skills/sub/SKILL.md",
      "project/.agents/skills/top/SKILL.md",
      ".agents/skills/outside/SKILL.md",
    ]);
    mkdirSync(join(place.cwd, ".git"));
    expect((await paths(below, { isTrusted: true })).skills).toHaveLength(2);
    expect((await paths(below)).skills).toEqual([]);
  });

  test("prompts: direct children, and all below for folders of settings and packages", async () => {
    const place = workspace({
      "agent/prompts/a.md": "a",
      "agent/prompts/deep/b.md": "b",
      "set/deep/c.md": "c",
      "pack/prompts/deep/d.md": "d",
      "agent/settings.json": { prompts: ["../set"], packages: ["../pack"] },
    });
    expect((await paths(place)).prompts).toEqual(["set/deep/c.md", "agent/prompts/a.md", "pack/prompts/deep/d.md"]);
  });

  test("a file that is reached twice counts once", async () => {
    const place = workspace({
      "agent/extensions/a.ts": code,
      "agent/skills/a/SKILL.md": skill("a"),
      "agent/settings.json": { extensions: ["extensions/a.ts"], packages: [".", "../agent"] },
    });
    symlinkSync(join(place.agentDir, "extensions/a.ts"), join(place.agentDir, "extensions/b.ts"));
    symlinkSync(join(place.agentDir, "skills/a"), join(place.agentDir, "skills/b"));
    expect(await paths(place)).toMatchObject({
      extensions: ["agent/extensions/a.ts"],
      skills: ["agent/skills/a/SKILL.md"],
      messages: [],
    });
  });
});

describe("choices", () => {
  const files = {
    ...bringing("agent", "user"),
    ...bringing("pack", "of-pack"),
    ...bringing("e", "named"),
    "agent/settings.json": { packages: ["../pack"] },
  };

  test("what is off drops what was found, not what was named", async () => {
    const place = workspace({ ...files, "m/s.md": skill("s"), "m/p.md": "p" });
    const off = { extensions: true, skills: true, prompts: true };
    expect(await paths(place, { off })).toEqual(none);
    expect(await paths(place, { off: { extensions: true } })).toMatchObject({
      extensions: [],
      skills: ["agent/skills/user/SKILL.md", "pack/skills/of-pack/SKILL.md"],
    });
    expect(await paths(place, { off, extensions: ["../e"], skills: ["../m/s.md"], prompts: ["../m/p.md"] })).toEqual({
      extensions: ["e/extensions/named.ts"],
      skills: ["e/skills/named/SKILL.md", "m/s.md"],
      prompts: ["e/prompts/named.md", "m/p.md"],
      messages: [],
    });
  });

  test("a project that is not trusted brings nothing", async () => {
    const place = workspace({
      ...bringing("project/.pi", "own"),
      "project/.pi/settings.json": { packages: ["../../pack"], skills: ["../more"] },
      ...bringing("pack", "p"),
    });
    expect(await paths(place)).toEqual(none);
  });

  test("lists of settings choose among what is named and what is found", async () => {
    const place = workspace({ "agent/settings.json": { skills: ["../set", "!**/two", "-skills/one", "../set/*/f*"] } });
    for (const name of ["one", "kept"]) place.write(`agent/skills/${name}/SKILL.md`, skill(name));
    for (const name of ["three", "two"]) place.write(`set/${name}/SKILL.md`, skill(name));
    place.write("set/four/five/SKILL.md", skill("five"));
    expect((await paths(place)).skills).toEqual([
      "set/four/five/SKILL.md",
      "set/three/SKILL.md",
      "agent/skills/kept/SKILL.md",
    ]);
  });

  test("what settings name and is not there is told of, the rest is loaded", async () => {
    const place = workspace({ "agent/settings.json": { extensions: ["gone.ts", "text.txt"], skills: ["gone"] } });
    place.write("agent/text.txt", "");
    expect(await paths(place, { prompts: ["gone.md"] })).toEqual({
      ...none,
      messages: [
        'There is no extension at "agent/gone.ts"; it is left out',
        'There is no extension at "agent/text.txt"; it is left out',
        'There is no skill at "agent/gone"; it is left out',
        'There is no prompt template at "project/gone.md"; it is left out',
      ],
    });
  });
});

describe("-e", () => {
  test("a file, a folder with an index file, or with main in package.json", async () => {
    const place = workspace({
      "f.mts": code,
      "i/index.js": code,
      "m/package.json": { main: "./lib/x.js" },
      "m/lib/x.js": code,
    });
    expect((await paths(place, { extensions: ["../f.mts", "../i", "../m"] })).extensions).toEqual([
      "f.mts",
      "i/index.js",
      "m/lib/x.js",
    ]);
  });

  test("a folder that brings skills only", async () => {
    const place = workspace({ "s/skills/x/SKILL.md": skill("x") });
    expect(await paths(place, { extensions: ["../s"] })).toEqual({ ...none, skills: ["s/skills/x/SKILL.md"] });
  });

  test("is refused when nothing is there, or nothing to load in it", async () => {
    const place = workspace({ "loose/a.ts": code, "m/package.json": { pi: { extensions: ["./gone.ts"] } } });
    const refusal = (named: string) =>
      discover(place, { extensions: [named] }).then(
        () => "",
        (error) => error.message,
      );
    expect(await refusal("gone.ts")).toBe(
      `Cannot load the extension "gone.ts": nothing is at "${join(place.cwd, "gone.ts")}"`,
    );
    const empty = "the folder has no manifest, no folder of resources and no index file";
    expect(await refusal("../loose")).toBe(`Cannot load the extension "../loose": ${empty}`);
    expect(await refusal("../m")).toContain('Cannot load the extension "../m": ');
    expect(await refusal("builtin:mcp")).toBe(
      'Cannot load the extension "builtin:mcp": there are no built-in extensions',
    );
    expect(await refusal("npm:x")).toBe(
      'Cannot load the extension "npm:x": it is not installed, and nothing is fetched offline',
    );
    expect(await refusal("npm:../x")).toContain("it has to be written as npm:name@version");
  });
});

test("whatever lists hold, what can be found is found once, and nothing is thrown", async () => {
  const place = workspace({ ...bringing("agent", "a"), ...bringing("agent/sub", "b"), ...bringing("pack", "c") });
  const known = fc.constantFrom("skills/a", "sub/skills", "../pack", ".", "..", "*", "**", "sub/**/*", "[", "{a,", "");
  // Not the machine's own folders.
  const anyName = fc.string({ unit: "binary" }).filter((text) => !/^[/~]|\.\.\//.test(text));
  const entry = fc
    .tuple(fc.constantFrom("", "!", "+", "-"), fc.oneof(known, anyName))
    .map(([mark, path]) => mark + path);
  const list = fc.array(entry, { maxLength: 4 });
  const packages = fc.array(fc.oneof(entry, fc.record({ source: entry, skills: list, autoload: fc.boolean() })), {
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(fc.record({ extensions: list, skills: list, prompts: list, packages }), async (settings) => {
      place.write("agent/settings.json", settings);
      const found = await paths(place);
      for (const kind of ["extensions", "skills", "prompts"] as const)
        expect(new Set(found[kind]).size).toBe(found[kind].length);
      if (!settings.skills.some((one) => /^[!-]/.test(one))) expect(found.skills).toContain("agent/skills/a/SKILL.md");
    }),
    { seed: 41, numRuns: 60 },
  );
});

test("extendResources: adds what is named later, behind what is there", async () => {
  const place = workspace({
    "agent/skills/a/SKILL.md": skill("a"),
    "x/same/SKILL.md": skill("a"),
    "x/new/SKILL.md": skill("new"),
    "x/p.md": "p",
  });
  const found = await discover(place);
  const origin = { source: "extension:x", scope: "user", origin: "top-level", baseDir: join(place.root, "x") } as const;
  const more = await extendResources(
    found,
    { skillPaths: [".", `${place.agentDir}/skills`], promptPaths: ["p.md", "gone.md"] },
    origin,
  );
  expect(more.skills.map(({ name }) => name)).toEqual(["a", "new"]);
  expect(more.skills[1]?.sourceInfo).toEqual({ ...origin, path: join(place.root, "x/new/SKILL.md") });
  expect(more.prompts.map(({ name }) => name)).toEqual(["p"]);
  expect(more.diagnostics.map(({ message }) => message.replaceAll(place.root, ""))).toEqual([
    'There is no prompt template at "/x/gone.md"; it is left out',
    'The skill "a" is there already, from "/agent/skills/a/SKILL.md"; this one is ignored',
  ]);
  expect(found.skills).toHaveLength(1);
});
