// Providers of extensions in the registry: what is taken back with them, and who is asked for models.

import { apiNames } from "@earendil-works/pi-ai";
import { describe, expect, it, vi } from "vitest";
import { ExtensionProviders } from "../../src/core/extension-providers.js";
import { AuthStorage } from "../../src/resources/auth.js";
import { ModelRegistry } from "../../src/resources/model-registry.js";
import { workspace } from "../helpers/workspace.js";

function bench() {
  const { agentDir } = workspace();
  const models = ModelRegistry.load({ agentDir, auth: AuthStorage.load({ agentDir, env: {} }) });
  return { models, providers: new ExtensionProviders(models) };
}

const config = { name: "Mine", baseUrl: "http://127.0.0.1:1", apiKey: "k", api: "openai-completions" };

describe("ExtensionProviders", () => {
  it("asks nobody any more that was taken back, however often others come", async () => {
    const { models, providers } = bench();
    const asked: number[] = [];
    for (const round of [1, 2, 3]) {
      const others = new ExtensionProviders(models);
      others.register("mine", { ...config, refreshModels: async () => void asked.push(round) as never });
      await models.discover();
      others.clear();
      const refresh = vi.spyOn(others, "refresh");
      await models.discover();
      expect(refresh).not.toHaveBeenCalled();
    }
    expect(asked).toEqual([1, 2, 3]);
    providers.register("mine", { ...config, refreshModels: async () => void asked.push(4) as never });
    await models.discover("mine");
    expect(asked).toEqual([1, 2, 3, 4]);
  });

  it("gives the name of a wire format free when its provider goes, or speaks it no more", () => {
    const { models, providers } = bench();
    const own = { ...config, api: "my-api", models: [{ id: "m" }], streamSimple: () => [] as never };
    const api = () => models.find("mine", "m")?.api;
    providers.register("mine", own as never);
    expect([api(), apiNames().includes("my-api")]).toEqual(["my-api", true]);
    providers.register("mine", own as never);
    expect(api()).toBe("my-api");
    providers.register("mine", { ...config, models: [{ id: "m" }] } as never);
    expect([api(), apiNames().includes("my-api")]).toEqual(["openai-completions", false]);
    providers.register("mine", own as never);
    providers.clear();
    expect(apiNames()).not.toContain("my-api");
  });
});
