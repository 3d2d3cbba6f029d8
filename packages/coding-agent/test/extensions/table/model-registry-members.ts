// The members of `ctx.modelRegistry`.

import { text } from "@earendil-works/pi-ai/testing";
import { expect } from "vitest";
import type { ExtensionModelRegistry } from "../../../src/extensions/host.js";
import { type Mode, textOf } from "../play.js";
import { probe, type Rows } from "./row.js";

const context = {
  messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Ask" }], timestamp: 1 }],
};

async function ask<T>(mode: Mode, read: (registry: ExtensionModelRegistry) => T | Promise<T>) {
  return probe(mode, ({ modelRegistry }) => read(modelRegistry), {
    answers: [[text("Answered")]],
    extension: (pi) =>
      pi.registerProvider("mine", {
        baseUrl: "http://127.0.0.1:9",
        apiKey: "k",
        api: "openai-completions",
        models: [{ id: "m" }],
      }),
  });
}

const model = (registry: ExtensionModelRegistry) => registry.find("scripted", "plain") as never;

export const modelRegistryMembers: Rows<keyof ExtensionModelRegistry> = {
  find: async (mode) => {
    const { value } = await ask(mode, (registry) => [registry.find("mine", "m")?.id, registry.find("mine", "other")]);
    expect(value).toEqual(["m", undefined]);
  },

  getAll: async (mode) => {
    const { value } = await ask(mode, (registry) => [...new Set(registry.getAll().map(({ provider }) => provider))]);
    expect(value).toEqual(expect.arrayContaining(["scripted", "mine", "anthropic"]));
  },

  getAvailable: async (mode) => {
    const { value } = await ask(mode, (registry) => registry.getAvailable().map(({ provider }) => provider));
    expect([...new Set(value)].sort()).toEqual(["mine", "scripted"]);
  },

  hasConfiguredAuth: async (mode) => {
    const { value } = await ask(mode, (registry) => [
      registry.hasConfiguredAuth(model(registry)),
      registry.hasConfiguredAuth(registry.getAll().find(({ provider }) => provider === "anthropic") as never),
    ]);
    expect(value).toEqual([true, false]);
  },

  getApiKeyAndHeaders: async (mode) => {
    const { value } = await ask(mode, async (registry) => [
      await registry.getApiKeyAndHeaders(model(registry)),
      await registry.getApiKeyAndHeaders(registry.getAll().find(({ provider }) => provider === "anthropic") as never),
    ]);
    expect(value).toEqual([
      { ok: true, apiKey: "key-for-tests" },
      { ok: false, error: expect.stringMatching(/anthropic/i) },
    ]);
  },

  getApiKeyForProvider: async (mode) => {
    const { value } = await ask(mode, async (registry) => [
      await registry.getApiKeyForProvider("scripted"),
      await registry.getApiKeyForProvider("anthropic"),
      await registry.getApiKeyForProvider("nobody"),
    ]);
    expect(value).toEqual(["key-for-tests", undefined, undefined]);
  },

  getProvider: async (mode) => {
    const { value } = await ask(mode, (registry) => [registry.getProvider("mine"), registry.getProvider("nobody")]);
    expect(value).toEqual([expect.objectContaining({ id: "mine", getModels: expect.any(Function) }), undefined]);
  },

  getProviderAuth: async (mode) => {
    const { value } = await ask(mode, async (registry) => [
      await registry.getProviderAuth("mine"),
      await registry.getProviderAuth("anthropic"),
    ]);
    expect(value).toEqual([{ apiKey: "k", baseUrl: "http://127.0.0.1:9" }, undefined]);
  },

  getRegisteredProviderConfig: async (mode) => {
    const { value } = await ask(mode, (registry) => [
      registry.getRegisteredProviderConfig("mine"),
      registry.getRegisteredProviderConfig("scripted"),
    ]);
    expect(value).toEqual([expect.objectContaining({ apiKey: "k", models: [{ id: "m" }] }), undefined]);
  },

  getRegisteredProviderIds: async (mode) => {
    expect((await ask(mode, (registry) => registry.getRegisteredProviderIds())).value).toEqual(["mine"]);
  },

  isUsingOAuth: async (mode) => {
    expect((await ask(mode, (registry) => registry.isUsingOAuth(model(registry)))).value).toBe(false);
  },

  refresh: async (mode) => {
    let listed = 0;
    const { value } = await probe(
      mode,
      async ({ modelRegistry }) => {
        await modelRegistry.refresh();
        return modelRegistry.find("listing", "listed-1")?.id;
      },
      {
        extension: (pi) =>
          pi.registerProvider("listing", {
            baseUrl: "http://127.0.0.1:9",
            apiKey: "k",
            api: "openai-completions",
            refreshModels: async () => {
              listed += 1;
              return [{ id: `listed-${listed > 0 ? 1 : 0}` }];
            },
          }),
      },
    );
    expect(value).toBe("listed-1");
    expect(listed).toBeGreaterThan(0);
  },

  complete: async (mode) => {
    const { value, scripted } = await ask(mode, (registry) => registry.complete(model(registry), context));
    expect([value.stopReason, textOf(value)]).toEqual(["stop", "Answered"]);
    expect(scripted.requests[0]?.options.apiKey).toBe("key-for-tests");
  },

  streamSimple: async (mode) => {
    const { value } = await ask(mode, async (registry) => {
      const events: string[] = [];
      const stream = registry.streamSimple(model(registry), context);
      for await (const { type } of stream) events.push(type);
      return [events, textOf(await stream.result())];
    });
    expect(value).toEqual([["start", "text_start", "text_delta", "text_end", "done"], "Answered"]);
  },
};
