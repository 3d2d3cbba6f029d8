// The usual discovery of programs: what is found, what overrides make of it, and what is wrong with it.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DefaultResourceLoader } from "../../src/sdk/resource-loader.js";
import { sdkBench } from "./bench.js";

const skill = (description: string) => `---\ndescription: ${description}\n---\nBody`;

describe("DefaultResourceLoader", () => {
  it("has nothing before the first reload, then what the user and the directory bring", async () => {
    const { place } = sdkBench({
      "agent/skills/mine/SKILL.md": skill("Mine"),
      "agent/prompts/greet.md": "Greet $1",
      "agent/extensions/one.ts": "export default () => {}",
      "agent/APPEND_SYSTEM.md": "Always",
      "project/AGENTS.md": "Here",
    });
    const { cwd, agentDir } = place;
    const loader = new DefaultResourceLoader({ cwd, agentDir });
    const found = () => ({
      extensions: loader.getExtensions().extensions.map(({ path }) => path),
      errors: loader.getExtensions().errors,
      skills: loader.getSkills().skills.map(({ name }) => name),
      prompts: loader.getPrompts().prompts.map(({ name }) => name),
      files: loader.getAgentsFiles().agentsFiles.filter(({ path }) => path.startsWith(place.root)),
      system: loader.getSystemPrompt(),
      appended: loader.getAppendSystemPrompt(),
      themes: loader.getThemes().themes,
    });
    const nothing = { extensions: [], errors: [], skills: [], prompts: [], files: [], appended: [], themes: [] };
    expect(found()).toEqual({ ...nothing, system: undefined });
    await loader.reload();
    expect(found()).toEqual({
      extensions: [join(agentDir, "extensions/one.ts")],
      errors: [],
      skills: ["mine"],
      prompts: ["greet"],
      files: [{ path: join(cwd, "AGENTS.md"), content: "Here" }],
      system: undefined,
      appended: ["Always"],
      themes: [],
    });
  });

  it("leaves out what is switched off, and adds what is named", async () => {
    const { loader, place } = sdkBench({
      "agent/skills/mine/SKILL.md": skill("Mine"),
      "agent/prompts/greet.md": "Greet",
      "agent/extensions/one.ts": "export default () => {}",
      "project/AGENTS.md": "Here",
      "more/named/SKILL.md": skill("Named"),
    });
    const made = await loader({
      noExtensions: true,
      noSkills: true,
      noPromptTemplates: true,
      noContextFiles: true,
      additionalSkillPaths: [join(place.root, "more")],
      systemPrompt: "Mine alone",
      appendSystemPrompt: "After",
    });
    expect(made.getExtensions().extensions).toEqual([]);
    expect(made.getSkills().skills.map(({ name }) => name)).toEqual(["named"]);
    expect([made.getPrompts().prompts, made.getAgentsFiles().agentsFiles]).toEqual([[], []]);
    expect([made.getSystemPrompt(), made.getAppendSystemPrompt()]).toEqual(["Mine alone", ["After"]]);
  });

  it("gives what overrides make of what was found", async () => {
    const { loader } = sdkBench({ "agent/skills/mine/SKILL.md": skill("Mine"), "agent/prompts/greet.md": "Greet" });
    const made = await loader({
      systemPrompt: "Base",
      extensionFactories: [{ name: "kept", factory: () => {} }, () => {}],
      extensionsOverride: (base) => ({ ...base, extensions: base.extensions.slice(0, 1) }),
      skillsOverride: ({ skills, diagnostics }) => ({
        skills: skills.map((found) => ({ ...found, name: `${found.name}-too` })),
        diagnostics,
      }),
      promptsOverride: () => ({ prompts: [], diagnostics: [] }),
      agentsFilesOverride: () => ({ agentsFiles: [{ path: "/virtual", content: "Virtual" }] }),
      systemPromptOverride: (base) => `${base}, changed`,
      appendSystemPromptOverride: (base) => [...base, "more"],
    });
    expect(made.getExtensions().extensions.map(({ path }) => path)).toEqual(["<inline:kept>"]);
    expect(made.getSkills().skills.map(({ name }) => name)).toEqual(["mine-too"]);
    expect(made.getPrompts().prompts).toEqual([]);
    expect(made.getAgentsFiles().agentsFiles).toEqual([{ path: "/virtual", content: "Virtual" }]);
    expect([made.getSystemPrompt(), made.getAppendSystemPrompt()]).toEqual(["Base, changed", ["more"]]);
  });

  it("tells of extensions that cannot be loaded, and goes on with the others", async () => {
    const { loader } = sdkBench({
      "agent/extensions/good.ts": "export default () => {}",
      "agent/extensions/bad.ts": "export default () => { throw new Error('broken'); }",
    });
    const made = await loader({
      additionalExtensionPaths: ["nowhere.ts"],
      extensionFactories: [
        () => {
          throw new Error("inline");
        },
      ],
    });
    const { extensions, errors } = made.getExtensions();
    expect(extensions.map(({ path }) => path.split("/").at(-1))).toEqual(["good.ts"]);
    expect(errors.map(({ path, error }) => [path.split("/").at(-1), error])).toEqual([
      ["nowhere.ts", "there is no such file"],
      ["bad.ts", "broken"],
      ["<inline:1>", "inline"],
    ]);
  });

  it("goes on without named extensions when one of them brings nothing", async () => {
    const { loader } = sdkBench({
      "agent/extensions/good.ts": "export default () => {}",
      "project/empty/readme.txt": "nothing",
    });
    const { extensions, errors } = (await loader({ additionalExtensionPaths: ["empty"] })).getExtensions();
    expect([extensions.length, errors.map(({ path }) => path)]).toEqual([1, ["empty"]]);
  });

  it("reads nothing of a project that is not trusted", async () => {
    const files = { "project/.pi/extensions/own.ts": "export default () => {}", "project/.pi/SYSTEM.md": "Theirs" };
    const wary = await sdkBench(files).loader();
    const trusting = await sdkBench({ ...files, "agent/settings.json": { defaultProjectTrust: "always" } }).loader();
    expect([wary.getExtensions().extensions.length, wary.getSystemPrompt()]).toEqual([0, undefined]);
    expect([trusting.getExtensions().extensions.length, trusting.getSystemPrompt()]).toEqual([1, "Theirs"]);
  });

  it("evaluates modules anew when it is reloaded", async () => {
    const { loader, place } = sdkBench({
      "agent/extensions/one.ts": "export default (pi) => pi.registerFlag('a', { type: 'boolean' })",
    });
    const made = await loader();
    const before = made.getExtensions();
    place.write("agent/extensions/one.ts", "export default (pi) => pi.registerFlag('b', { type: 'boolean' })");
    await made.reload();
    const flags = (result: typeof before) => result.extensions.flatMap((extension) => [...extension.flags.keys()]);
    expect([flags(before), flags(made.getExtensions())]).toEqual([["a"], ["b"]]);
    expect(made.getExtensions().runtime).not.toBe(before.runtime);
  });

  it("takes in skills that are named later", async () => {
    const { loader, place } = sdkBench({ "more/late/SKILL.md": skill("Late"), "more/late.md": "Template" });
    const made = await loader();
    await made.extendResources({
      skillPaths: [{ path: join(place.root, "more/late") }],
      promptPaths: [join(place.root, "more/late.md")],
    });
    expect(made.getSkills().skills.map(({ name }) => name)).toEqual(["late"]);
    expect(made.getPrompts().prompts.map(({ name }) => name)).toEqual(["late"]);
  });
});
