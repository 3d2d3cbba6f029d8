import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packageCommand } from "../src/package-command.js";
import { discoverResources } from "../src/resources/discovery.js";
import { PackageStore } from "../src/resources/packages/package-store.js";
import { SettingsManager } from "../src/resources/settings-manager.js";
import { gitHost, packageRegistry } from "./helpers/package-registry.js";
import { type Workspace, workspace } from "./helpers/workspace.js";

const skill = (name: string) => `---\nname: ${name}\ndescription: d\n---\nBody\n`;

async function run(place: Workspace, words: string[], env: Record<string, string> = {}) {
  let stdout = "";
  const log: string[] = [];
  const io = {
    writeText: (text: string) => {
      stdout += text;
      return undefined;
    },
    drained: async () => {},
    failed: false,
    log: (text: string) => void log.push(text),
  };
  const code = await packageCommand(words, { io, cwd: place.cwd, env: place.environment(env) });
  const short = (text: string) => text.replaceAll(`${place.root}/`, "");
  return { code, stdout: short(stdout), stderr: short(log.join("\n")) };
}

const settingsOf = (place: Workspace, path = "agent/settings.json") => JSON.parse(place.read(path));
/** A program in place of npm that writes down how it was called and does what a package's installation would. */
const fakeNpm = (place: Workspace, body: string) => {
  const calls = join(place.root, "calls.jsonl");
  const script = `const { appendFileSync, mkdirSync, writeFileSync } = require("node:fs");
appendFileSync(${JSON.stringify(calls)}, JSON.stringify(process.argv.slice(2)) + "\\n");
${body}`;
  return {
    npmCommand: [process.execPath, place.write("fake-npm.cjs", script)],
    calls: () =>
      existsSync(calls)
        ? readFileSync(calls, "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as string[])
        : [],
  };
};

describe("local packages", () => {
  test("are written down as they lie to the settings file, listed, and removed; nothing is copied", async () => {
    const place = workspace({ "agent/settings.json": { theme: "dark" }, "pack/skills/x/SKILL.md": skill("x") });
    expect(await run(place, ["install", "../pack"])).toEqual({
      code: 0,
      stdout: "Installed ../pack in agent/settings.json\n",
      stderr: "Installing ../pack ...",
    });
    await run(place, ["install", "../pack/"]);
    await run(place, ["install", join(place.root, "pack"), "-l"]);
    expect(settingsOf(place)).toEqual({ theme: "dark", packages: ["../pack"] });
    expect(settingsOf(place, "project/.pi/settings.json")).toEqual({ packages: [join(place.root, "pack")] });
    expect(statSync(join(place.cwd, ".pi/settings.json")).mode & 0o777).toBe(0o644);
    expect((await run(place, ["list", "-a"])).stdout).toBe(
      `User packages:\n  ../pack\n    ${"pack"}\nProject packages:\n  pack\n    pack\n`,
    );
    expect((await run(place, ["uninstall", "../pack"])).stdout).toBe("Removed ../pack from agent/settings.json\n");
    expect(settingsOf(place)).toEqual({ theme: "dark", packages: [] });
    expect(place.read("pack/skills/x/SKILL.md")).toBe(skill("x"));
  });

  test("what was chosen of a package stays chosen", async () => {
    const place = workspace({
      "pack/a.ts": "",
      "agent/settings.json": { packages: [{ source: "../pack", skills: [] }] },
    });
    await run(place, ["install", join(place.root, "pack")]);
    expect(settingsOf(place).packages).toEqual([{ source: join(place.root, "pack"), skills: [] }]);
    expect((await run(place, ["list"])).stdout).toContain("(narrowed)");
  });
});

describe("faults", () => {
  test("leave the settings as they are, and exit with 1", async () => {
    const place = workspace({ "agent/settings.json": '{"packages": ["npm:a"]}' });
    const results = [
      await run(place, ["install", "../gone"]),
      await run(place, ["install", "npm:../a"]),
      await run(place, ["remove", "npm:b"]),
      await run(place, ["update", "npm:b"]),
      await run(place, ["install", "a", "b"]),
      await run(place, ["install", "--what", "b"]),
    ];
    expect(results.map(({ code, stdout, stderr }) => [code, stdout, stderr.split("\n").at(-1)])).toEqual([
      [1, "", 'pi: Cannot install "../gone": nothing is at "gone"'],
      [1, "", 'pi: Cannot use the package "npm:../a": it has to be written as npm:name@version'],
      [1, "", 'pi: There is no package "npm:b" in agent/settings.json'],
      [1, "", 'pi: There is no package "npm:b" in the settings'],
      [1, "", 'pi: Unexpected argument "b"'],
      [1, "", "pi: Unknown option '--what'"],
    ]);
    expect(place.read("agent/settings.json")).toBe('{"packages": ["npm:a"]}');
    expect((await run(place, ["install"])).stderr).toContain("pi: Usage:");
    expect((await run(place, ["install", "--help"])).stdout).toContain("pi install <source> [-l]");
  });

  test("broken settings are found before anything is installed", async () => {
    const place = workspace({ "agent/settings.json": "{broken", "other/settings.json": { packages: 3 } });
    const { npmCommand, calls } = fakeNpm(place, "");
    expect((await run(place, ["install", "npm:a"])).stderr).toBe(
      'pi: Cannot change "agent/settings.json": The file is no JSON: unexpected "b"; the file is ignored',
    );
    place.write("agent/settings.json", { npmCommand, packages: 3 });
    expect((await run(place, ["install", "npm:a"])).stderr).toBe(
      'pi: Cannot change the settings: "packages" must be a list',
    );
    expect(calls()).toEqual([]);
  });

  test("a program that is missing or fails is named, without credentials", async () => {
    const place = workspace({ "agent/settings.json": { npmCommand: ["no-such-npm"] } });
    expect((await run(place, ["install", "npm:a"])).stderr.split("\n").at(-1)).toBe(
      'pi: Cannot install "npm:a": "no-such-npm install" failed: "no-such-npm" was not found',
    );
    const { npmCommand } = fakeNpm(place, 'console.error("bad https://me:canary@host.test/x"); process.exit(3);');
    place.write("agent/settings.json", { npmCommand });
    const { code, stderr } = await run(place, ["install", "npm:a"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("failed: bad https://host.test/x")]);
    expect(settingsOf(place)).toEqual({ npmCommand });
    const secret = await run(place, ["install", "https://me:canary@host.test:1/u/r"], gitHost(place).env);
    expect(secret.code).toBe(1);
    expect(secret.stderr).not.toContain("canary");
  });
});

describe("npm packages", () => {
  test("are installed without scripts, development and peer dependencies, updated and removed", async () => {
    const place = workspace();
    const { env, publish } = await packageRegistry(place);
    publish("dep", "1.0.0", { "index.js": "" });
    const more = {
      dependencies: { dep: "^1.0.0" },
      devDependencies: { "no-dev": "1" },
      peerDependencies: { "no-peer": "1" },
      scripts: { postinstall: `touch ${place.root}/script-ran` },
    };
    publish("@x/pack", "1.0.0", { "skills/one/SKILL.md": skill("one") }, more);
    const folder = "agent/npm/node_modules/@x/pack";
    expect(await run(place, ["install", "npm:@x/pack@^1.0.0"], env)).toMatchObject({ code: 0 });
    expect(settingsOf(place)).toEqual({ packages: ["npm:@x/pack@^1.0.0"] });
    expect(place.read(`${folder}/skills/one/SKILL.md`)).toBe(skill("one"));
    expect(existsSync(join(place.root, "agent/npm/node_modules/dep/package.json"))).toBe(true);
    for (const path of ["script-ran", "agent/npm/node_modules/no-dev", "agent/npm/node_modules/no-peer"])
      expect(existsSync(join(place.root, path))).toBe(false);
    expect((await run(place, ["list"])).stdout).toBe(`User packages:\n  npm:@x/pack@^1.0.0\n    ${folder}\n`);
    publish("@x/pack", "1.1.0", {}, more);
    expect((await run(place, ["update"], env)).stdout).toBe("npm:@x/pack@^1.0.0: updated\n");
    expect(JSON.parse(place.read(`${folder}/package.json`)).version).toBe("1.1.0");
    expect((await run(place, ["remove", "npm:@x/pack"], env)).stdout).toContain("Removed npm:@x/pack@^1.0.0");
    expect([settingsOf(place), existsSync(join(place.root, folder))]).toEqual([{ packages: [] }, false]);
  });

  test("one that is not in the registry is told of", async () => {
    const place = workspace();
    const { env } = await packageRegistry(place);
    const { code, stderr } = await run(place, ["install", "npm:nowhere"], env);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Cannot install "npm:nowhere": "npm install" failed: .*404/s),
    ]);
    expect(existsSync(join(place.agentDir, "settings.json"))).toBe(false);
  });

  test("npmCommand is used with what npm would be given; a full version is not updated", async () => {
    const place = workspace();
    const { npmCommand, calls } = fakeNpm(
      place,
      `const at = process.argv[process.argv.indexOf("--prefix") + 1] + "/node_modules/a";
       mkdirSync(at, { recursive: true });
       writeFileSync(at + "/package.json", '{"version":"1.0.0"}');`,
    );
    place.write("agent/settings.json", { npmCommand: [...npmCommand, "--first"] });
    await run(place, ["install", "npm:a@1.0.0"]);
    expect(calls()).toEqual([
      [
        "--first",
        "install",
        "a@1.0.0",
        "--prefix",
        join(place.agentDir, "npm"),
        "--ignore-scripts",
        "--omit=peer",
        "--omit=dev",
        "--legacy-peer-deps",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--no-update-notifier",
        "--loglevel=error",
      ],
    ]);
    expect((await run(place, ["update", "npm:a"])).stdout).toBe("npm:a@1.0.0: pinned, left as it is\n");
    expect(calls()).toHaveLength(1);
  });

  test("a project's go below its .pi, hidden from its repository", async () => {
    const place = workspace();
    const { npmCommand, calls } = fakeNpm(place, "");
    place.write("agent/settings.json", { npmCommand });
    await run(place, ["install", "-l", "npm:a"]);
    expect(calls()[0]).toContain(join(place.cwd, ".pi", "npm"));
    expect(place.read("project/.pi/npm/.gitignore")).toBe("*\n");
    expect(settingsOf(place, "project/.pi/settings.json")).toEqual({ packages: ["npm:a"] });
  });
});

describe("git packages", () => {
  const folder = "agent/git/host.test/user/r";

  test("follow their branch, or stay at a tag", async () => {
    const place = workspace();
    const { env, commit } = gitHost(place);
    commit("r", { "skills/x/SKILL.md": skill("one") }, "v1");
    expect(await run(place, ["install", "git:host.test/user/r"], env)).toMatchObject({ code: 0 });
    expect((await run(place, ["update"], env)).stdout).toBe("git:host.test/user/r: up to date\n");
    commit("r", { "skills/x/SKILL.md": skill("two") }, "v2");
    expect((await run(place, ["update"], env)).stdout).toBe("git:host.test/user/r: updated\n");
    expect(place.read(`${folder}/skills/x/SKILL.md`)).toBe(skill("two"));
    expect((await run(place, ["install", "https://host.test/user/r@v1"], env)).code).toBe(0);
    expect(place.read(`${folder}/skills/x/SKILL.md`)).toBe(skill("one"));
    expect(settingsOf(place)).toEqual({ packages: ["https://host.test/user/r@v1"] });
    expect((await run(place, ["update"], env)).stdout).toBe("https://host.test/user/r@v1: pinned, left as it is\n");
    await run(place, ["remove", "git:host.test/user/r"], env);
    expect(existsSync(join(place.agentDir, "git", "host.test"))).toBe(false);
  });

  test("a commit that is not there, or dependencies that cannot be installed, leave what was there", async () => {
    const place = workspace();
    const { env, commit } = gitHost(place);
    const first = commit("r", { "skills/x/SKILL.md": skill("one") });
    await run(place, ["install", `git:host.test/user/r@${first}`], env);
    const { npmCommand, calls } = fakeNpm(place, "process.exit(1)");
    place.write("agent/settings.json", { ...settingsOf(place), npmCommand });
    commit("r", { "package.json": JSON.stringify({ dependencies: { x: "1" } }), "skills/x/SKILL.md": skill("two") });
    const gone = await run(place, ["install", "git:host.test/user/r@gone"], env);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('there is no branch, tag or commit "gone"')]);
    expect((await run(place, ["install", "git:host.test/user/r@main"], env)).code).toBe(1);
    expect(calls()[0]?.slice(0, 3)).toEqual(["install", "--no-save", "--no-package-lock"]);
    expect(place.read(`${folder}/skills/x/SKILL.md`)).toBe(skill("one"));
    expect(settingsOf(place).packages).toEqual([`git:host.test/user/r@${first}`]);
    expect((await run(place, ["install", "git:host.test/user/other"], env)).code).toBe(1);
    expect(existsSync(join(place.agentDir, "git/host.test/user/other"))).toBe(false);
  });
});

test("packages of a project that is not trusted are not listed", async () => {
  const place = workspace({ "project/.pi/settings.json": { packages: ["npm:a"] } });
  expect(await run(place, ["list"])).toEqual({
    code: 0,
    stdout: "No packages are installed\n",
    stderr: "pi: The project is not trusted: its packages are not listed; see --approve",
  });
  expect((await run(place, ["list", "--approve"])).stdout).toBe("Project packages:\n  npm:a\n    not installed\n");
  expect((await run(place, ["list", "-na"])).stdout).toBe("No packages are installed\n");
});

describe("at a start", () => {
  const discover = (place: Workspace, extensions: string[], env: Record<string, string>, isOffline = false) =>
    discoverResources({
      cwd: place.cwd,
      agentDir: place.agentDir,
      home: place.home,
      isTrusted: false,
      settings: SettingsManager.load({ ...place, trusted: false }),
      commandLine: { extensions, skills: [], prompts: [] },
      off: { extensions: false, skills: false, prompts: false },
      isOffline,
      env: place.environment(env),
    });

  test("a package of the settings that is missing is installed; one that cannot be is told of", async () => {
    const place = workspace({
      "agent/settings.json": { packages: ["git:host.test/user/r", "git:host.test/user/gone"] },
    });
    const { env, commit } = gitHost(place);
    commit("r", { "skills/x/SKILL.md": skill("x") });
    const { skills, diagnostics } = await discover(place, [], env);
    expect(skills.map(({ name }) => name)).toEqual(["x"]);
    expect(diagnostics).toEqual([
      {
        severity: "warning",
        source: "packages",
        message: expect.stringContaining('Cannot use the package "git:host.test/user/gone": "git clone" failed: '),
      },
    ]);
  });

  test("what a program writes is told without credentials", async () => {
    const place = workspace();
    const { npmCommand } = fakeNpm(place, 'console.error("bad https://me:canary@host.test/x"); process.exit(3);');
    place.write("agent/settings.json", { npmCommand, packages: ["npm:a"] });
    const { diagnostics } = await discover(place, [], {});
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Cannot use the package "npm:a": .* failed: bad https:\/\/host\.test\/x$/),
    ]);
  });

  test("-e fetches a package into the cache, once, and leaves the settings alone", async () => {
    const place = workspace();
    const { env, commit } = gitHost(place);
    commit("r", { "extensions/a.ts": "" });
    const path = join(place.agentDir, "tmp/extensions/git/host.test/user/r/extensions/a.ts");
    expect((await discover(place, ["git:host.test/user/r"], env)).extensions.map((file) => file.path)).toEqual([path]);
    expect((await discover(place, ["git:host.test/user/r"], {}, true)).extensions).toHaveLength(1);
    expect(existsSync(join(place.agentDir, "settings.json"))).toBe(false);
    await expect(discover(place, ["git:host.test/user/gone"], env)).rejects.toThrow(
      'Cannot load the extension "git:host.test/user/gone": "git clone" failed: ',
    );
  });
});

test("PackageStore: two that install at once wait for each other", async () => {
  const place = workspace();
  const { npmCommand, calls } = fakeNpm(
    place,
    `const { existsSync, unlinkSync } = require("node:fs");
     const mark = ${JSON.stringify(place.root)} + "/busy";
     if (existsSync(mark)) process.exit(9);
     writeFileSync(mark, "");
     for (const end = Date.now() + 200; Date.now() < end; );
     unlinkSync(mark);`,
  );
  const store = () => new PackageStore({ ...place, npmCommand });
  await Promise.all(["npm:a", "npm:b"].map((source) => store().install(source, "user")));
  expect(calls()).toHaveLength(2);
});

test("the usage has a line for every option that is taken", async () => {
  const { stdout } = await run(workspace(), ["list", "--help"]);
  for (const option of ["--local", "--approve", "--no-approve", "--extensions", "--all", "--extension <source>"])
    expect(stdout).toContain(option);
});
