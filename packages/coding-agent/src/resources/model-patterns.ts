// From what people write to models: `--model`, `--models`, and the search of `--list-models`.

import { type Model, type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import type { ModelRegistry } from "./model-registry.js";

/** A model with the level it is to be used at, when one was named. */
export interface ModelMatch {
  model: Model;
  thinkingLevel?: ThinkingLevel;
}

/** What a single pattern came to: a model, or why there is none. */
export type ModelResolution = (ModelMatch & { warning?: string }) | { error: string };

/**
 * The model `--model` (and `--provider`) asks for. Ids may hold colons and slashes, so the pattern is taken as it is
 * before a `:level` is split off, and as an id before `provider/` is. In this order: `provider/id`, an id, a part of an id
 * or name, and at last, for a known provider, whatever was written. Models with credentials come first.
 */
export function resolveModel(registry: ModelRegistry, pattern: string, provider?: string): ModelResolution {
  if (provider !== undefined && !registry.hasProvider(provider))
    return { error: `Unknown provider "${provider}"; known are ${registry.providerIds.join(", ")}` };
  const readings = readingsOf(pattern);
  for (const search of [findExact, findPart]) {
    for (const { text, level } of readings) {
      const found = search(registry, text, provider);
      if (found) return "error" in found ? found : { ...found, ...(level && { thinkingLevel: level }) };
    }
  }
  return takeAsGiven(registry, readings.at(-1)!, provider) ?? { error: `No model matches "${pattern}"` };
}

/** The models of a list of patterns (`--models`, `enabledModels`), each once, in the order of the patterns. */
export async function resolveScope(
  registry: ModelRegistry,
  patterns: readonly string[],
): Promise<{ scoped: ModelMatch[]; warnings: string[] }> {
  const scoped: ModelMatch[] = [];
  const warnings: string[] = [];
  const available = registry.getAvailable();
  for (const pattern of patterns.map((text) => text.trim()).filter(Boolean)) {
    const found = await matchPattern(available, pattern);
    const { models } = found;
    if (models.length === 0) warnings.push(`No model with credentials matches "${pattern}"`);
    const providers = new Set(models.map((model) => model.provider));
    if (!found.isGlob && providers.size > 1)
      warnings.push(`"${pattern}" is offered by several providers: ${[...providers].join(", ")}`);
    for (const model of models)
      if (!scoped.some(({ model: known }) => isSame(known, model)))
        scoped.push({ model, ...(found.level && { thinkingLevel: found.level }) });
  }
  return { scoped, warnings };
}

/** The models in which every word of `query` occurs, its letters in order but not necessarily together; best first. */
export function searchModels(models: readonly Model[], query: string): Model[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return models
    .map((model) => ({ model, distance: words.reduce((sum, word) => sum + distanceOf(model, word), 0) }))
    .filter(({ distance }) => Number.isFinite(distance))
    .sort((a, b) => a.distance - b.distance)
    .map(({ model }) => model);
}

/** `sonnet:high` → `sonnet:high` as it is, and `sonnet` at level high. */
function readingsOf(pattern: string): { text: string; level?: ThinkingLevel }[] {
  const colon = pattern.lastIndexOf(":");
  const level = thinkingLevels.find((name) => colon > 0 && name === pattern.slice(colon + 1));
  return level ? [{ text: pattern }, { text: pattern.slice(0, colon), level }] : [{ text: pattern }];
}

/** `provider/` in front of a pattern, when there is such a provider. */
function splitProvider(registry: ModelRegistry, text: string): { provider: string; id: string } | undefined {
  const slash = text.indexOf("/");
  const provider = slash > 0 ? text.slice(0, slash) : "";
  const id = text.slice(slash + 1);
  return provider !== "" && id !== "" && registry.hasProvider(provider) ? { provider, id } : undefined;
}

function findExact(registry: ModelRegistry, text: string, provider?: string): ModelResolution | undefined {
  const split = splitProvider(registry, text);
  if (provider !== undefined) {
    const id = split?.provider === provider ? split.id : undefined;
    const model = byId(registry.allModelsOf(provider), text) ?? (id && byId(registry.allModelsOf(provider), id));
    return model ? { model } : undefined;
  }
  const model = split && byId(registry.allModelsOf(split.provider), split.id);
  if (model) return { model };
  // Providers with credentials are asked first, so that usually only their catalogues are read.
  const available = registry.availableProviders().flatMap((id) => byId(registry.allModelsOf(id), text) ?? []);
  if (available[0]) return { model: available[0] };
  const all = registry.providerIds.flatMap((id) => byId(registry.allModelsOf(id), text) ?? []);
  if (all.length < 2) return all[0] && { model: all[0] };
  const providers = all.map((found) => found.provider).join(", ");
  return {
    error: `"${text}" is offered by several providers, none of which has credentials: ${providers}; name one with --provider`,
  };
}

function findPart(registry: ModelRegistry, text: string, provider?: string): ModelResolution | undefined {
  const within = withinProvider(registry, text, provider);
  const part = within?.id ?? text;
  const providers = within ? [within.provider] : [...registry.availableProviders(), ...registry.providerIds];
  for (const id of providers) {
    const [best] = containing(registry.allModelsOf(id), part);
    if (best) return { model: best };
  }
  return undefined;
}

/** The provider a pattern is about, by `--provider` or by what it starts with, and the rest of it. */
function withinProvider(
  registry: ModelRegistry,
  text: string,
  provider?: string,
): { provider: string; id: string } | undefined {
  const split = splitProvider(registry, text);
  if (provider === undefined || split?.provider === provider) return split;
  return { provider, id: text };
}

function takeAsGiven(
  registry: ModelRegistry,
  { text, level }: { text: string; level?: ThinkingLevel },
  provider?: string,
): ModelResolution | undefined {
  const within = withinProvider(registry, text, provider);
  const model = within && registry.assume(within.provider, within.id);
  if (!model) return undefined;
  const warning = `Provider "${model.provider}" is not known to have a model "${model.id}"; it is used as given`;
  return { model, ...(level && { thinkingLevel: level }), warning };
}

async function matchPattern(
  models: readonly Model[],
  pattern: string,
): Promise<{ models: Model[]; level?: ThinkingLevel; isGlob: boolean }> {
  const isGlob = /[*?[{]/.test(pattern);
  for (const { text, level } of readingsOf(pattern)) {
    const found = isGlob ? await globbed(models, text) : named(models, text);
    if (found.length > 0) return { models: found, level, isGlob };
  }
  return { models: [], isGlob };
}

async function globbed(models: readonly Model[], glob: string): Promise<Model[]> {
  // Loaded only for patterns with wildcards.
  const { default: picomatch } = await import("picomatch");
  // Ids hold slashes that separate nothing here.
  const matches = picomatch(glob, { nocase: true, bash: true, dot: true });
  return models.filter((model) => matches(model.id) || matches(`${model.provider}/${model.id}`));
}

/** Models of this very id, else the best match of each provider. */
function named(models: readonly Model[], text: string): Model[] {
  const isNamed = (model: Model) => isId(model, text) || isId({ id: `${model.provider}/${model.id}` }, text);
  const exact = models.filter(isNamed);
  if (exact.length > 0) return exact;
  const slash = text.indexOf("/");
  const inProvider = models.filter((model) => slash > 0 && model.provider === text.slice(0, slash));
  if (inProvider.length > 0) return containing(inProvider, text.slice(slash + 1)).slice(0, 1);
  const [best] = containing(models, text);
  return best ? models.filter((model) => model.id === best.id) : [];
}

function byId(models: readonly Model[], id: string): Model | undefined {
  return models.find((model) => model.id === id) ?? models.find((model) => isId(model, id));
}

function isId(model: { id: string }, id: string): boolean {
  return model.id.toLowerCase() === id.toLowerCase();
}

function isSame(a: Model, b: Model): boolean {
  return a.provider === b.provider && a.id === b.id;
}

/** Those whose id or name holds `part`, best first: whole words, plain ids before dated ones and variants, higher versions. */
function containing(models: readonly Model[], part: string): Model[] {
  const wanted = part.toLowerCase();
  if (wanted === "") return [];
  return models
    .filter((model) => model.id.toLowerCase().includes(wanted) || model.name.toLowerCase().includes(wanted))
    .map((model) => ({ model, rank: rankOf(model, wanted) }))
    .sort((a, b) => a.rank - b.rank || byVersion(b.model.id, a.model.id))
    .map(({ model }) => model);
}

function rankOf({ id, name }: Model, wanted: string): number {
  const words = (text: string) =>
    ` ${text
      .toLowerCase()
      .replace(/[^a-z0-9.]+/g, " ")
      .trim()} `;
  const isWord = words(id).includes(words(wanted)) || words(name).includes(words(wanted));
  const isVariant = /^~|\d{4}-?\d{2}-?\d{2}|:|-(batch|fast|preview|free)$/.test(id);
  return (isWord ? 0 : 2) + (isVariant ? 1 : 0);
}

const collator = new Intl.Collator("en", { numeric: true });

/** Of ids with a maker in front (`maker/model-2`) only the model counts. */
function byVersion(a: string, b: string): number {
  const model = (id: string) => id.slice(id.lastIndexOf("/") + 1);
  return collator.compare(model(a), model(b));
}

/**
 * How many letters stand between those of a word where they are closest to each other; 0 when it stands there as it is,
 * infinite when they are further apart than two others for each, which is chance.
 */
function distanceOf(model: Model, word: string): number {
  const text = `${model.provider}/${model.id} ${model.name}`.toLowerCase();
  if (text.includes(word)) return 0;
  let closest = Number.POSITIVE_INFINITY;
  for (let start = text.indexOf(word[0] as string); start >= 0; start = text.indexOf(word[0] as string, start + 1)) {
    const end = endOfWord(text, word, start);
    if (end === undefined) break;
    closest = Math.min(closest, end - start - word.length);
  }
  return closest <= word.length * 2 ? closest : Number.POSITIVE_INFINITY;
}

/** Where the letters of a word, found one after another from `start` on, end. */
function endOfWord(text: string, word: string, start: number): number | undefined {
  let at = start - 1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return at + 1;
}
