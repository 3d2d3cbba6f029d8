// The models that come with the program, read from one file a provider when that provider is asked for.

import { readFileSync } from "node:fs";
import { type ProviderFacts, providers } from "./models/index.js";
import type { Model } from "./types.js";

export type { ProviderFacts } from "./models/index.js";

/** The ids of all providers, in the order in which they are looked for. */
export const providerIds: readonly string[] = Object.keys(providers);

/** What is known of a provider without reading its models; undefined when it is unknown. Costs nothing. */
export function providerFacts(id: string): ProviderFacts | undefined {
  return Object.hasOwn(providers, id) ? providers[id] : undefined;
}

const read = new Map<string, readonly Model[]>();

/**
 * The models of a provider, sorted by id; empty for an unknown provider. The file is read once and the list shared, so
 * it must not be changed. Throws when the program's own file is damaged or missing.
 *
 * @example readProvider("anthropic").find((model) => model.id === "claude-opus-5-5")
 */
export function readProvider(id: string): readonly Model[] {
  let models = read.get(id);
  if (!models) {
    models = providerFacts(id) ? readModels(id) : [];
    read.set(id, models);
  }
  return models;
}

/** The files lie in `models/` beside this module, in the sources as in a bundle. */
function readModels(id: string): readonly Model[] {
  const text = readFileSync(new URL(`./models/${id}.json`, import.meta.url), "utf8");
  return (JSON.parse(text) as { models: Model[] }).models;
}
