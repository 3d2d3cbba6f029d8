import { readdirSync } from "node:fs";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { apiNames } from "../src/apis/index.js";
import { providerFacts, providerIds, readProvider } from "../src/catalogue.js";
import { supportedThinkingLevels } from "../src/thinking.js";
import { Model, thinkingLevels } from "../src/types.js";

test("catalogue: every provider of the table has a file, and every file a provider", () => {
  const files = readdirSync(new URL("../src/models/", import.meta.url)).filter((name) => name.endsWith(".json"));
  expect(files.map((name) => name.slice(0, -".json".length)).sort()).toEqual([...providerIds].sort());
});

test("catalogue: 1,523 models of 37 providers, and the one for demonstrations", () => {
  expect(providerIds).toHaveLength(38);
  expect(providerIds.reduce((sum, id) => sum + readProvider(id).length, 0)).toBe(1524);
});

describe.each(providerIds)("catalogue of %s", (id) => {
  const models = readProvider(id);

  test("holds whole models of this provider, each id once", () => {
    expect(models.length).toBeGreaterThan(0);
    for (const model of models) {
      expect(Check(Model, model), `${model.id}`).toBe(true);
      expect(model.provider).toBe(id);
    }
    expect(new Set(models.map((model) => model.id)).size).toBe(models.length);
  });

  test("has its default model", () => {
    expect(models.map((model) => model.id)).toContain(providerFacts(id)?.defaultModel);
  });

  test("speaks APIs that there are", () => {
    for (const { api, id: model } of models) expect(apiNames(), model).toContain(api);
  });

  test("has prices that make sense: none below 0, tiers in rising order", () => {
    for (const { cost, id: model } of models) {
      const { tiers = [], ...prices } = cost;
      const all = [prices, ...tiers].flatMap((row) => Object.values(row));
      expect(
        all.every((price) => price >= 0),
        model,
      ).toBe(true);
      const thresholds = tiers.map(({ inputTokensAbove }) => inputTokensAbove);
      expect(thresholds, model).toEqual([...thresholds].sort((a, b) => a - b));
    }
  });

  test("maps levels that there are, and leaves out those it marks as unsupported", () => {
    for (const model of models) {
      const map = model.thinkingLevelMap ?? {};
      for (const level of Object.keys(map)) expect(thinkingLevels, model.id).toContain(level);
      const supported = supportedThinkingLevels(model);
      expect(supported.length, model.id).toBeGreaterThan(0);
      // A model all of whose levels were marked could not be asked at all.
      if (model.reasoning) for (const level of supported) expect(map[level], `${model.id} ${level}`).not.toBe(null);
      expect(model.contextWindow > 0 && model.maxTokens > 0, model.id).toBe(true);
    }
  });

  test("names in urlEnv exactly what its base URLs need", () => {
    const needed = models.flatMap((model) => [...model.baseUrl.matchAll(/\{([A-Z_]+)\}/g)].map((match) => match[1]));
    expect([...new Set(needed)].sort()).toEqual([...(providerFacts(id)?.urlEnv ?? [])].sort());
  });
});

test("readProvider: an unknown provider has no models, nor has a name every object has", () => {
  expect(readProvider("nobody")).toEqual([]);
  expect(readProvider("toString")).toEqual([]);
});

test("readProvider: gives the same list again without reading again", () => {
  expect(readProvider("anthropic")).toBe(readProvider("anthropic"));
});
