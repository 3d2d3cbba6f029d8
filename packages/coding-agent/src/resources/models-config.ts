// The user's models.json: its schema, and reading it so that one wrong provider leaves the others alone.

import { addressFault, apiNames, isHeaderName } from "@earendil-works/pi-ai";
import type { Static } from "typebox";
import * as Type from "typebox";
import { checkValue, type ValueProblem } from "../lib/check-value.js";
import { unsendableValue } from "./config-value.js";
import type { Diagnostic } from "./diagnostic.js";
import { faultAt, type JsonFile, readJsonFile } from "./json-file.js";

const count = () => Type.Number({ minimum: 0 });
const anything = () => Type.Record(Type.String(), Type.Unknown());
const headers = () => Type.Record(Type.String(), Type.String());
const inputs = () => Type.Array(Type.Union([Type.Literal("text"), Type.Literal("image")]));
const prices = { input: count(), output: count(), cacheRead: count(), cacheWrite: count() };
const tiers = () => Type.Optional(Type.Array(Type.Object({ inputTokensAbove: count(), ...prices })));

const describable = {
  name: Type.Optional(Type.String({ minLength: 1 })),
  reasoning: Type.Optional(Type.Boolean()),
  thinkingLevelMap: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
  input: Type.Optional(inputs()),
  inputLimits: Type.Optional(anything()),
  promptCache: Type.Optional(anything()),
  contextWindow: Type.Optional(Type.Number({ minimum: 1 })),
  maxTokens: Type.Optional(Type.Number({ minimum: 1 })),
  samplingParams: Type.Optional(anything()),
  samplingParamsByThinkingLevel: Type.Optional(Type.Record(Type.String(), anything())),
  headers: Type.Optional(headers()),
  compat: Type.Optional(anything()),
};

/** A model of one's own. What is left out: 128,000 tokens of context, 16,384 of output, text only, no prices. */
export const ModelConfig = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    ...describable,
    api: Type.Optional(Type.String({ minLength: 1 })),
    baseUrl: Type.Optional(Type.String({ minLength: 1 })),
    cost: Type.Optional(Type.Object({ ...prices, tiers: tiers() })),
    type: Type.Optional(Type.String()),
  },
  { title: "ModelConfig" },
);
export type ModelConfig = Static<typeof ModelConfig>;

/** Changes to a model that is there anyway; objects merge field by field. */
export const ModelOverride = Type.Object(
  {
    ...describable,
    cost: Type.Optional(
      Type.Object({
        input: Type.Optional(count()),
        output: Type.Optional(count()),
        cacheRead: Type.Optional(count()),
        cacheWrite: Type.Optional(count()),
        tiers: tiers(),
      }),
    ),
  },
  { title: "ModelOverride" },
);
export type ModelOverride = Static<typeof ModelOverride>;

/** A provider of one's own, or changes to a built-in one. `apiKey` and header values may stand for variables or commands. */
export const ProviderConfig = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1 })),
    baseUrl: Type.Optional(Type.String({ minLength: 1 })),
    apiKey: Type.Optional(Type.String({ minLength: 1 })),
    api: Type.Optional(Type.String({ minLength: 1 })),
    headers: Type.Optional(headers()),
    compat: Type.Optional(anything()),
    authHeader: Type.Optional(Type.Boolean()),
    models: Type.Optional(Type.Array(ModelConfig)),
    modelOverrides: Type.Optional(Type.Record(Type.String(), ModelOverride)),
  },
  { title: "ProviderConfig" },
);
export type ProviderConfig = Static<typeof ProviderConfig>;

/** The providers of a file in their order, and what is wrong with it. */
export interface ModelsConfig {
  providers: Map<string, ProviderConfig>;
  diagnostics: Diagnostic[];
}

/** Never throws. A wrong model or override is left out; anything else wrong leaves out its provider. */
export function readModelsConfig(path: string): ModelsConfig {
  const file = readJsonFile(path, "models");
  const config: ModelsConfig = { providers: new Map(), diagnostics: [...file.diagnostics] };
  const providers = file.value?.providers ?? {};
  if (typeof providers !== "object" || Array.isArray(providers)) {
    config.diagnostics.push(faultAt(file, "models", ["providers"], "must be an object; it is ignored"));
    return config;
  }
  for (const [id, value] of Object.entries(providers)) {
    const provider = readProviderConfig(file, id, value, config.diagnostics);
    if (provider) config.providers.set(id, provider);
  }
  return config;
}

/** Addresses, keys and headers that no request can carry, wherever they stand in a provider's entry. */
function unsendable(provider: unknown): ValueProblem[] {
  const { models, modelOverrides, apiKey } = recordOf(provider);
  const owners: [ValueProblem["path"], Record<string, unknown>][] = [[[], recordOf(provider)]];
  if (Array.isArray(models))
    for (const [index, model] of models.entries()) owners.push([["models", index], recordOf(model)]);
  for (const [id, override] of Object.entries(recordOf(modelOverrides)))
    owners.push([["modelOverrides", id], recordOf(override)]);
  const problems = owners.flatMap(([path, { baseUrl, headers }]) => [
    ...badAddress([...path, "baseUrl"], baseUrl),
    ...Object.entries(recordOf(headers)).flatMap(([name, value]) => badHeader([...path, "headers", name], name, value)),
  ]);
  const fault = typeof apiKey === "string" ? unsendableValue(apiKey) : undefined;
  return fault === undefined ? problems : [...problems, { path: ["apiKey"], expected: fault }];
}

/** A `{NAME}` in an address is known only when it is used; anything may stand for it. */
function badAddress(path: ValueProblem["path"], address: unknown): ValueProblem[] {
  if (typeof address !== "string" || address === "" || address.startsWith("{")) return [];
  const fault = addressFault(address.replace(/\{\w+\}/g, "1"));
  return fault === undefined ? [] : [{ path, expected: "must be an http or https address" }];
}

function badHeader(path: ValueProblem["path"], name: string, value: unknown): ValueProblem[] {
  if (!isHeaderName(name)) return [{ path, expected: "is no name of an HTTP header" }];
  const fault = typeof value === "string" ? unsendableValue(value) : undefined;
  return fault === undefined ? [] : [{ path, expected: fault }];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function apisOf({ api, models = [] }: ProviderConfig): { path: (string | number)[]; api: string }[] {
  const named = models.map((model, index) => ({ path: ["models", index, "api"], api: model.api }));
  return [{ path: ["api"], api }, ...named].filter((entry): entry is { path: (string | number)[]; api: string } =>
    Boolean(entry.api),
  );
}

function readProviderConfig(
  file: JsonFile,
  id: string,
  value: unknown,
  diagnostics: Diagnostic[],
): ProviderConfig | undefined {
  const wrongModels = new Set<number>();
  const wrongOverrides = new Set<string>();
  let isUsable = true;
  for (const { path, expected } of [...checkValue(ProviderConfig, value), ...unsendable(value)]) {
    const [list, member] = path;
    const at = ["providers", id, ...path];
    if (list === "models" && typeof member === "number") wrongModels.add(member);
    else if (list === "modelOverrides" && typeof member === "string") wrongOverrides.add(member);
    else isUsable = false;
    diagnostics.push(faultAt(file, "models", at, `${expected}; ${isUsable ? "the model" : "the provider"} is ignored`));
  }
  if (!isUsable) return undefined;
  for (const { path, api } of apisOf(value as ProviderConfig))
    if (!apiNames().includes(api))
      diagnostics.push(
        faultAt(file, "models", ["providers", id, ...path], `names no API of this program: "${api}"`, "warning"),
      );
  const provider = value as ProviderConfig;
  return {
    ...provider,
    ...(provider.models && { models: provider.models.filter((_, index) => !wrongModels.has(index)) }),
    ...(provider.modelOverrides && {
      modelOverrides: Object.fromEntries(
        Object.entries(provider.modelOverrides).filter(([model]) => !wrongOverrides.has(model)),
      ),
    }),
  };
}
