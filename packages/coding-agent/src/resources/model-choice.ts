// The model and thinking level a session starts with.

import { type Model, type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import { type ModelMatch, resolveModel, resolveScope } from "./model-patterns.js";
import type { ModelRegistry } from "./model-registry.js";
import type { Settings } from "./settings.js";

/** What was asked for on the command line. */
export interface ModelArguments {
  provider?: string;
  model?: string;
  /** Patterns of `--models`, as a list or separated by commas. */
  models?: string | readonly string[];
  /** Of `--thinking`. */
  thinking?: string;
}

/** What a resumed session used last. */
export interface ResumedModel {
  model: { provider: string; modelId: string } | null;
  thinkingLevel: ThinkingLevel | null;
}

export interface ModelChoice {
  /** Null when there is none with credentials. */
  model: Model | null;
  /** The level asked for; what the model cannot do is clamped when it is used. */
  thinkingLevel: ThinkingLevel;
  /** What cycling is limited to; empty when it is not. */
  scoped: ModelMatch[];
  warnings: string[];
}

/** What was asked for on the command line does not exist. */
export class ModelChoiceError extends Error {
  override readonly name = "ModelChoiceError";
}

type ModelSettings = Pick<
  Settings,
  "defaultProvider" | "defaultModel" | "defaultThinkingLevel" | "modelThinkingLevels" | "enabledModels"
>;

/** The commas inside of `{…}` belong to one pattern. */
const commaOutsideBraces = /,(?![^{]*\})/;

/**
 * In this order: `--model`; the resumed session's; the first of `--models` or `enabledModels` with credentials; the default
 * of the settings; the default of the first provider with credentials; none. The level: `--thinking`; that of the pattern;
 * the resumed session's; the model's in the settings; the default. Throws `ModelChoiceError`.
 */
export async function chooseModel(
  registry: ModelRegistry,
  args: ModelArguments,
  settings: ModelSettings,
  resumed?: ResumedModel,
): Promise<ModelChoice> {
  const thinking = levelNamed(args.thinking);
  const patterns =
    typeof args.models === "string" ? args.models.split(commaOutsideBraces) : (args.models ?? settings.enabledModels);
  await discoverNamed(registry, { args, patterns, settings, resumed });
  const { scoped, warnings } =
    patterns.length > 0 ? await resolveScope(registry, patterns) : { scoped: [], warnings: [] };
  const match =
    (await asked(registry, args, warnings)) ??
    resumedModel(registry, resumed, warnings) ??
    scoped[0] ??
    configured(registry, settings, warnings) ??
    firstAvailable(registry);
  if (match) registry.include(match.model);
  const thinkingLevel = thinking ?? levelOf(match, args, settings, resumed);
  return { model: match?.model ?? null, thinkingLevel, scoped, warnings };
}

function levelNamed(name: string | undefined): ThinkingLevel | undefined {
  const level = thinkingLevels.find((known) => known === name);
  if (name !== undefined && !level)
    throw new ModelChoiceError(`Unknown thinking level "${name}"; known are ${thinkingLevels.join(", ")}`);
  return level;
}

function levelOf(
  match: ModelMatch | undefined,
  args: ModelArguments,
  settings: ModelSettings,
  resumed: ResumedModel | undefined,
): ThinkingLevel {
  const ofModel = match && settings.modelThinkingLevels[`${match.model.provider}/${match.model.id}`];
  return (
    (args.model === undefined ? undefined : match?.thinkingLevel) ??
    resumed?.thinkingLevel ??
    match?.thinkingLevel ??
    ofModel ??
    settings.defaultThinkingLevel
  );
}

/** Local servers are asked for their models only where one of them is named: a start that needs none waits for none. */
async function discoverNamed(
  registry: ModelRegistry,
  named: { args: ModelArguments; patterns: readonly string[]; settings: ModelSettings; resumed?: ResumedModel },
): Promise<void> {
  const { args, patterns, settings, resumed } = named;
  const isAsked = args.model !== undefined || args.provider !== undefined;
  const references = [...patterns, args.model ?? "", `${args.provider ?? ""}/`];
  if (!isAsked) references.push(`${resumed?.model?.provider ?? ""}/`, `${settings.defaultProvider ?? ""}/`);
  if (!isAsked && settings.defaultModel !== undefined) references.push(settings.defaultModel);
  const providers = new Set(references.map((reference) => reference.trim().split("/")[0] as string));
  await Promise.all([...providers].filter((id) => registry.isDiscovered(id)).map((id) => registry.discover(id)));
}

async function asked(
  registry: ModelRegistry,
  { model, provider }: ModelArguments,
  warnings: string[],
): Promise<ModelMatch | undefined> {
  if (model === undefined) {
    if (provider === undefined) return undefined;
    if (!registry.hasProvider(provider)) throw new ModelChoiceError(`Unknown provider "${provider}"`);
    const found = registry.defaultModelOf(provider);
    if (!found) throw new ModelChoiceError(`Provider "${provider}" has no models; name one with --model`);
    return { model: found };
  }
  let resolution = resolveModel(registry, model, provider);
  if ("error" in resolution && provider === undefined) {
    // A local server may know the name.
    await registry.discover();
    resolution = resolveModel(registry, model);
  }
  if ("error" in resolution) throw new ModelChoiceError(resolution.error);
  const { warning, ...match } = resolution;
  if (warning) warnings.push(warning);
  return match;
}

function resumedModel(
  registry: ModelRegistry,
  resumed: ResumedModel | undefined,
  warnings: string[],
): ModelMatch | undefined {
  if (!resumed?.model) return undefined;
  const { provider, modelId } = resumed.model;
  const model = registry.find(provider, modelId);
  if (model && registry.hasCredentials(model)) return { model };
  const reason = model ? "has no credentials" : "is not known any more";
  warnings.push(`The session's model "${provider}/${modelId}" ${reason}; another one is used`);
  return undefined;
}

function configured(registry: ModelRegistry, settings: ModelSettings, warnings: string[]): ModelMatch | undefined {
  const { defaultProvider: provider, defaultModel: id } = settings;
  if (provider === undefined && id === undefined) return undefined;
  const name = [provider, id].filter(Boolean).join("/");
  if (provider !== undefined && !registry.hasProvider(provider)) {
    warnings.push(`The default model "${name}" is ignored: its provider is unknown`);
    return undefined;
  }
  const found = id === undefined ? { model: registry.defaultModelOf(provider!) } : resolveModel(registry, id, provider);
  const model = "model" in found ? found.model : undefined;
  if (!model || !registry.hasCredentials(model)) {
    warnings.push(`The default model "${name}" is ignored: it ${model ? "has no credentials" : "is unknown"}`);
    return undefined;
  }
  if ("warning" in found && found.warning) warnings.push(found.warning);
  return { model, ...("thinkingLevel" in found && found.thinkingLevel && { thinkingLevel: found.thinkingLevel }) };
}

function firstAvailable(registry: ModelRegistry): ModelMatch | undefined {
  for (const provider of registry.availableProviders()) {
    const model = registry.defaultModelOf(provider);
    if (model) return { model };
  }
  return undefined;
}
