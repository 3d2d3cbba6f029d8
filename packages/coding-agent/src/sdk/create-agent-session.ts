// Makes one session in one call: whatever is not given is found as the command line finds it.

import { resolve } from "node:path";
import type { Model, ThinkingLevel } from "@earendil-works/pi-ai";
import { createRuntime } from "../core/create-session.js";
import { noModelText, type ScopedModel } from "../core/models.js";
import type { ToolSelection } from "../core/tool-selection.js";
import { ExtensionRuntime } from "../extensions/runtime.js";
import type { AnyToolDefinition } from "../extensions/tool-definition.js";
import type { AuthStorage } from "../resources/auth.js";
import { loadResources, type Resources } from "../resources/load.js";
import { agentDirectory } from "../resources/locations.js";
import { chooseModel } from "../resources/model-choice.js";
import type { ModelRegistry as Models } from "../resources/model-registry.js";
import type { SettingsManager } from "../resources/settings-manager.js";
import { SessionManager } from "../sessions/session-manager.js";
import { AgentSession } from "./agent-session.js";
import { ModelRuntime } from "./model-runtime.js";
import { DefaultResourceLoader, type LoadExtensionsResult, type ResourceLoader } from "./resource-loader.js";
import { directoryOf } from "./session-directory.js";
import { type Around, nothingAround, type Surroundings } from "./surroundings.js";
import { isTrustedIn } from "./trusted.js";

export interface CreateAgentSessionOptions {
  /** Where tools work and resources are looked for. Default: that of `sessionManager`, or this process's. */
  cwd?: string;
  /** Default: the user's. */
  agentDir?: string;
  /** Default: as the settings say, or the first with credentials. */
  model?: Model | undefined;
  thinkingLevel?: ThinkingLevel | undefined;
  /** What cycling is limited to. */
  scopedModels?: readonly ScopedModel[];
  /** Names of the only tools there are, extensions' and own ones included; a tool given whole is added to the own ones. */
  tools?: readonly (string | AnyToolDefinition)[];
  /** `all`: the session has no tools; `builtin`: none of the built-in ones. */
  noTools?: "all" | "builtin" | boolean;
  excludeTools?: readonly string[];
  /** Tools beside those of extensions; one with the name of another replaces it. */
  customTools?: readonly AnyToolDefinition[];
  /** Loaded already. Default: a `DefaultResourceLoader` for `cwd`. */
  resourceLoader?: ResourceLoader;
  /** Default: a new session, saved. */
  sessionManager?: SessionManager;
  settingsManager?: SettingsManager;
  /** Models and keys; one of these three. Default: those of the session around, or the user's. */
  modelRuntime?: ModelRuntime;
  modelRegistry?: object;
  authStorage?: AuthStorage;
}

export interface CreateAgentSessionResult {
  session: AgentSession;
  extensionsResult: LoadExtensionsResult;
  /** Why another model is used than the one that was to be; absent when there is nothing to tell. */
  modelFallbackMessage?: string;
}

/**
 * Resolves with a session that nothing has been sent to; extensions hear of it with `bindExtensions`. Rejects for a custom
 * tool that is none; a model without credentials is refused by `prompt`.
 */
export async function createAgentSession(
  options: CreateAgentSessionOptions = {},
  around: Around = nothingAround,
): Promise<CreateAgentSessionResult> {
  const surroundings = around();
  const cwd = resolve(options.cwd ?? options.sessionManager?.getCwd() ?? process.cwd());
  const agentDir = options.agentDir ?? surroundings?.agentDir ?? agentDirectory();
  const resources = resourcesIn(cwd, agentDir, surroundings);
  const settingsManager = options.settingsManager ?? resources.settingsManager;
  const modelRuntime = modelRuntimeOf(options, resources, surroundings);
  const loader = await readyLoader(options, { cwd, agentDir, settingsManager }, around);
  if (loader instanceof DefaultResourceLoader)
    loader.serve({ cwd, agentDir, isTrusted: resources.isTrusted, modelRuntime });
  const customTools = [...(options.tools ?? []).filter(isTool), ...(options.customTools ?? [])];
  const env = resources.shellEnvironment();
  const { isTrusted } = resources;
  const providers = modelRuntime.sessionTarget();
  const open = (at: string) => {
    // Those of the session before: its extensions register them again, or others.
    providers.clear();
    return directoryOf({ cwd: at, loader, modelRuntime, providers, settingsManager, env, isTrusted, customTools });
  };
  try {
    const directory = open(cwd);
    const extensionsResult = loader.getExtensions();
    const store = options.sessionManager ?? SessionManager.create(cwd, resources.sessionDir);
    const first = store.getCwd();
    const chosen = await modelOf(options, modelRuntime.models, settingsManager, store);
    const { model, thinkingLevel, scoped: scopedModels, fallback } = chosen;
    const runtime = createRuntime(
      {
        agentDir,
        ...directory,
        toolSelection: selectionOf(options),
        resourcesFor: async (next) => {
          await loader.reload();
          return open(next === first ? cwd : next);
        },
      },
      { store, model, thinkingLevel, scopedModels },
    );
    const ended = () => providers.clear();
    const session = new AgentSession({ runtime, resourceLoader: loader, settingsManager, modelRuntime, ended });
    return { session, extensionsResult, ...(fallback && { modelFallbackMessage: fallback }) };
  } catch (error) {
    providers.clear();
    throw error;
  }
}

function resourcesIn(cwd: string, agentDir: string, around: Surroundings | undefined): Resources {
  return loadResources({
    cwd,
    agentDir,
    env: process.env,
    isTrusted: ({ defaultProjectTrust }) => isTrustedIn({ cwd, agentDir }, around, defaultProjectTrust),
  });
}

/** Keys of another agent directory are others, and so are its models. */
function modelRuntimeOf(
  { modelRuntime, modelRegistry, authStorage }: CreateAgentSessionOptions,
  { agentDir, auth, models, settings }: Resources,
  around: Surroundings | undefined,
): ModelRuntime {
  const given = modelRuntime ?? ModelRuntime.behind(modelRegistry as Models | undefined);
  if (given) return given;
  if (authStorage) return ModelRuntime.load({ agentDir, auth: authStorage, httpProxy: settings.httpProxy });
  return around?.agentDir === agentDir ? around.modelRuntime : ModelRuntime.over({ models, auth });
}

/** Extensions act on one session only: a loader whose extensions have one already loads them once more. */
async function readyLoader(
  { resourceLoader }: CreateAgentSessionOptions,
  place: { cwd: string; agentDir: string; settingsManager: SettingsManager },
  around: Around,
): Promise<ResourceLoader> {
  const loader = resourceLoader ?? new DefaultResourceLoader(place, around);
  const { runtime } = loader.getExtensions();
  const isTaken = runtime instanceof ExtensionRuntime && (runtime.isStale || runtime.isBound);
  if (!resourceLoader || isTaken) await loader.reload();
  return loader;
}

async function modelOf(
  { model, thinkingLevel, scopedModels }: CreateAgentSessionOptions,
  models: Models,
  { settings }: SettingsManager,
  store: SessionManager,
) {
  const resumed = store.getEntries().length > 0 ? store.buildSessionContext() : undefined;
  const wanted = thinkingLevel === undefined ? {} : { thinking: thinkingLevel };
  if (model) {
    const ofModel = settings.modelThinkingLevels[`${model.provider}/${model.id}`];
    const level = thinkingLevel ?? resumed?.thinkingLevel ?? ofModel ?? settings.defaultThinkingLevel;
    return { model, thinkingLevel: level, scoped: scopedModels ?? [], fallback: undefined };
  }
  const choice = await chooseModel(models, wanted, settings, resumed);
  const said = choice.model ? choice.warnings : [noModelText];
  return {
    model: choice.model,
    thinkingLevel: choice.thinkingLevel,
    scoped: scopedModels ?? choice.scoped,
    fallback: said.length > 0 ? said.join("\n") : undefined,
  };
}

function selectionOf({ tools, noTools, excludeTools }: CreateAgentSessionOptions): ToolSelection {
  const names = tools?.map((tool) => (isTool(tool) ? tool.name : tool));
  return {
    tools: names,
    exclude: excludeTools,
    none: noTools === true || noTools === "all" || names?.length === 0,
    noBuiltin: noTools === "builtin",
    isLenient: true,
  };
}

function isTool(given: string | AnyToolDefinition): given is AnyToolDefinition {
  return typeof given !== "string";
}
