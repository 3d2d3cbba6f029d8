// The models of one provider: what comes with the program, what an extension registered, what models.json adds or changes.

import { type Model, splitLogin } from "@earendil-works/pi-ai";
import type { Environment } from "./config-value.js";
import type { ModelConfig, ModelOverride, ProviderConfig } from "./models-config.js";

/** Documented in docs/models.md. */
const modelDefaults = {
  reasoning: false,
  input: ["text"] as Model["input"],
  contextWindow: 128_000,
  maxTokens: 16_384,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

/** Where a provider's models come from. `registered` is an extension's and counts before `configured`. */
export interface ProviderSources {
  builtIn: readonly Model[];
  registered?: ProviderConfig;
  configured?: ProviderConfig;
  /** Fills `{NAME}` in base URLs. */
  env: Environment;
}

/** `problems` names models that cannot be used, and why. */
export function combineModels(provider: string, sources: ProviderSources): { models: Model[]; problems: string[] } {
  const { builtIn, registered, configured, env } = sources;
  const problems: string[] = [];
  const make = (config: ModelConfig, own: ProviderConfig, base: Model | undefined) => {
    const model = newModel(provider, config, own, base);
    if (typeof model !== "string") return model;
    problems.push(model);
    return undefined;
  };
  const template = builtIn[0];
  let models = registered?.models
    ? registered.models.flatMap((config) => make(config, registered, template) ?? [])
    : [...builtIn];
  if (registered && !registered.models) models = models.map((model) => withProvider(model, registered));
  if (configured) {
    models = models.map((model) => withProvider(model, configured));
    models = models.map((model) => withOverride(model, configured.modelOverrides?.[model.id]));
    for (const config of configured.models ?? []) {
      const model = make(config, configured, models.find(({ id }) => id === config.id) ?? models[0]);
      if (!model) continue;
      const at = models.findIndex(({ id }) => id === model.id);
      if (at >= 0) models[at] = model;
      else models.push(model);
    }
  }
  models = models.filter(({ type }) => type === undefined || type === "chat");
  return { models: models.map((model) => withBaseUrl(model, env)), problems };
}

/** A model nobody knows, of a provider that is known: it is assumed to be like `base`, at no known price. */
export function unknownModel(id: string, base: Model): Model {
  return { ...base, id, name: id, cost: { ...modelDefaults.cost } };
}

/** The model, or what it lacks. `base` lends what the provider leaves open: its API and its URL. */
function newModel(provider: string, config: ModelConfig, own: ProviderConfig, base: Model | undefined): Model | string {
  const api = config.api ?? own.api ?? base?.api;
  const baseUrl = config.baseUrl ?? own.baseUrl ?? base?.baseUrl;
  const lacks = api === undefined ? "api" : baseUrl === undefined ? "baseUrl" : undefined;
  if (lacks) return `Model "${provider}/${config.id}" has no ${lacks}, and neither has its provider; it is ignored`;
  // Header values may stand for secrets: they are resolved for each request and never part of a model.
  const { headers: _headers, cost, compat, ...rest } = config;
  const merged = { ...own.compat, ...compat };
  return {
    ...modelDefaults,
    name: config.id,
    ...rest,
    provider,
    api: api!,
    baseUrl: baseUrl!,
    cost: cost ?? { ...modelDefaults.cost },
    ...(Object.keys(merged).length > 0 && { compat: merged }),
  };
}

function withProvider(model: Model, { baseUrl, compat }: ProviderConfig): Model {
  if (!baseUrl && !compat) return model;
  return { ...model, ...(baseUrl && { baseUrl }), ...(compat && { compat: { ...model.compat, ...compat } }) };
}

function withOverride(model: Model, override: ModelOverride | undefined): Model {
  if (!override) return model;
  const { headers: _headers, ...changes } = override;
  return merge(model, changes) as Model;
}

/**
 * A base URL with `{NAME}` filled from the environment. A user and password in it are a header's value apart, since
 * models are shown to clients.
 */
export function usableAddress(baseUrl: string, env: Environment): { address: string; login?: string } {
  return splitLogin(baseUrl.replace(/\{([A-Z_][A-Z0-9_]*)\}/g, (whole, name: string) => env[name] || whole));
}

function withBaseUrl(model: Model, env: Environment): Model {
  const { address } = usableAddress(model.baseUrl, env);
  return address === model.baseUrl ? model : { ...model, baseUrl: address };
}

function merge(base: object, changes: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
