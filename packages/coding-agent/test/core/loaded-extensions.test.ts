// Extensions as sessions are opened with them: where what they name is looked for, and where inline ones come from.

import { describe, expect, it } from "vitest";
import { type ExtensionPath, inlineFiles, loadedExtensions } from "../../src/core/loaded-extensions.js";

describe("loadedExtensions", () => {
  it("resolves what extensions name: beside their file, or in the directory for those without one", async () => {
    const given: ExtensionPath[] = [];
    const { extend } = loadedExtensions({
      runner: undefined,
      registry: {} as never,
      isProjectTrusted: true,
      cwd: "/project",
      found: () => ({ skills: [], prompts: [] }),
      skillCommands: true,
      extend: async (paths) => void given.push(...paths),
    });
    await extend([
      { path: "skills", kind: "skill", extensionPath: "/packs/one/index.ts" },
      { path: "/there/p.md", kind: "prompt", extensionPath: "/packs/one/index.ts" },
      { path: "p.md", kind: "prompt", extensionPath: "<inline:1>" },
    ]);
    expect(given).toEqual([
      { path: "/packs/one/skills", kind: "skill", baseDir: "/packs/one" },
      { path: "/there/p.md", kind: "prompt", baseDir: "/packs/one" },
      { path: "/project/p.md", kind: "prompt", baseDir: "/project" },
    ]);
  });
});

describe("inlineFiles", () => {
  it("takes factories with and without a name", () => {
    const factory = () => {};
    const origin = { source: "inline", scope: "temporary", origin: "top-level" };
    expect(inlineFiles([factory, { name: "own", factory }])).toEqual([
      { factory, sourceInfo: { path: "<inline:1>", ...origin } },
      { name: "own", factory, sourceInfo: { path: "<inline:own>", ...origin } },
    ]);
  });
});
