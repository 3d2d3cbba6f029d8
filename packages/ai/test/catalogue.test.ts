import { readdirSync } from "node:fs";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { providerFacts, providerIds, readProvider } from "../src/catalogue.js";
import { Model } from "../src/types.js";

test("catalogue: every provider of the table has a file, and every file a provider", () => {
  const files = readdirSync(new URL("../src/models/", import.meta.url)).filter((name) => name.endsWith(".json"));
  expect(files.map((name) => name.slice(0, -".json".length)).sort()).toEqual([...providerIds].sort());
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
