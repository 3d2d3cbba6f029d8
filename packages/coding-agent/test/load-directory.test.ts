// Directories loaded for one session after another: what outlives a session, and what does not.

import { describe, expect, it } from "vitest";
import type { ExtensionAPI, ExtensionFactory } from "../src/extensions/api.js";
import { DirectoryLoader, type DirectoryOptions } from "../src/load-directory.js";
import { workspace } from "./helpers/workspace.js";

function bench(factory: ExtensionFactory, files: Record<string, unknown> = {}, more: Partial<DirectoryOptions> = {}) {
  const place = workspace(files);
  const loader = new DirectoryLoader({
    env: place.environment(),
    agentDir: place.agentDir,
    extensions: [],
    skills: [],
    prompts: [],
    noExtensions: false,
    noSkills: false,
    noPrompts: false,
    isOffline: true,
    inline: [{ factory }],
    modules: async () => ({}),
    outside: () => ({ mode: "rpc", ui: undefined }),
    ...more,
  });
  return { place, loader };
}

describe("DirectoryLoader", () => {
  it("keeps the wire format of a provider over a reload, and in another directory", async () => {
    const { loader, place } = bench((pi: ExtensionAPI) =>
      pi.registerProvider("mine", {
        baseUrl: "http://127.0.0.1:1",
        apiKey: "k",
        api: "my-api",
        models: [{ id: "m" }],
        streamSimple: () => [] as never,
      } as never),
    );
    const apiIn = async (cwd: string) => {
      const { extensions } = await loader.open(cwd);
      return extensions.registry.find("mine", "m")?.api;
    };
    const apis = [await apiIn(place.cwd), await apiIn(place.cwd)];
    loader.forget();
    apis.push(await apiIn(place.cwd), await apiIn(place.home), await apiIn(place.cwd));
    expect(apis).toEqual(Array(5).fill("my-api"));
  });

  it("asks extensions once for trust until a reload, and keeps what they decided when they decide no more", async () => {
    let asked = 0;
    const answers = ["yes", "undecided", "no"] as const;
    const { loader, place } = bench(
      (pi: ExtensionAPI) => {
        pi.on("project_trust", () => ({ trusted: answers[asked++] ?? "undecided" }));
      },
      { "project/.pi/settings.json": { defaultThinkingLevel: "high" } },
    );
    const isTrusted = async () => (await loader.open(place.cwd)).resources.isTrusted;
    const seen = [[await isTrusted(), await isTrusted(), asked]];
    loader.forget();
    seen.push([await isTrusted(), asked]);
    loader.forget();
    seen.push([await isTrusted(), await isTrusted(), asked]);
    expect(seen).toEqual([
      [true, true, 1],
      [true, 2],
      [false, false, 3],
    ]);
  });
});
