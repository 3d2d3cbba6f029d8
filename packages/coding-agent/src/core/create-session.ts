// Makes a session ready for use: tools, system prompt, models and settings for its working directory, and the runtime.

import { setTimeout as sleep } from "node:timers/promises";
import type { AnyAgentTool } from "@earendil-works/pi-agent-core";
import type { ImageContent, Model, StreamOptions, ThinkingLevel } from "@earendil-works/pi-ai";
import { type ImageLimits, prepareImage } from "../lib/image.js";
import type { QueueMode } from "../modes/rpc/rpc-types.js";
import { loadContextFiles } from "../resources/context-files.js";
import type { Settings } from "../resources/settings.js";
import { buildSystemPrompt } from "../resources/system-prompt.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { type AnyBuiltInTool, createTools } from "../tools/index.js";
import { AgentSession, type ModelSource } from "./agent-session.js";
import type { ScopedModel } from "./models.js";
import type { RecoverySettings } from "./recovery.js";
import { imageLimits, imagesPerMessage, modelForRequests, requestSettings } from "./request-settings.js";
import { SessionRuntime } from "./session-runtime.js";
import { selectTools, type ToolSelection } from "./tool-selection.js";

/** What is chosen once for a process, whatever session is current. */
export interface SessionOptions {
  agentDir: string;
  models: ModelSource;
  settings: Settings;
  /** Models, settings and environment of another working directory, for sessions that run there. */
  resourcesFor?: (cwd: string) => Pick<SessionOptions, "models" | "settings" | "env">;
  toolSelection?: ToolSelection;
  /** Tools beside the built-in ones; one with a built-in name replaces it. */
  customTools?: readonly AnyAgentTool[];
  /** Replaces the default system prompt. */
  systemPrompt?: string | undefined;
  appendSystemPrompt?: readonly string[] | undefined;
  noContextFiles?: boolean | undefined;
  /** Environment of shell commands. Default: this process's. */
  env?: NodeJS.ProcessEnv;
  /** What every model call gets; `fetch` and the like in tests. */
  streamOptions?: StreamOptions;
  /** How delays are waited for; replaced in tests. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told of bugs that must not end the process. */
  fault?: (error: unknown) => void;
}

/** What a session starts with. */
export interface SessionStart {
  store: SessionManager;
  model: Model | null;
  thinkingLevel: ThinkingLevel;
  scopedModels: readonly ScopedModel[];
  queueModes?: Record<"steering" | "followUp", QueueMode>;
  /** Whether retry and compaction happen by themselves. Default: as the settings say. */
  automatic?: { retry: boolean; compaction: boolean };
}

/**
 * The runtime with its first session. Throws an error that names a bad tool selection. A session without entries gets
 * its first ones (model, level) here; they wait in memory until the first message writes the file.
 */
export function createRuntime(options: SessionOptions, start: SessionStart): SessionRuntime {
  return new SessionRuntime({
    session: createSession(options, start),
    fault: options.fault ?? warnOf,
    create: async (store, predecessor) => {
      const inPlace = inDirectory(options, store.getCwd());
      const { model, thinkingLevel, warnings } = await carriedOn(inPlace.models, store, predecessor);
      const session = createSession(inPlace, {
        store,
        model,
        thinkingLevel,
        scopedModels: predecessor.models.scoped,
        queueModes: predecessor.queueModes(),
        automatic: predecessor.automatic(),
      });
      return { session, warnings };
    },
  });
}

/** A bug in this program or in a listener; it has ended nothing. */
function warnOf(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/** A session runs in its own directory, with what that directory brings along. */
function inDirectory(options: SessionOptions, cwd: string): SessionOptions {
  return { ...options, ...options.resourcesFor?.(cwd) };
}

/** A session goes on with its own model and level; without any, or when the model is gone, with its predecessor's. */
async function carriedOn(models: ModelSource, store: SessionManager, predecessor: AgentSession) {
  const { model: own, thinkingLevel } = store.buildSessionContext();
  let found = own && models.find(own.provider, own.modelId);
  if (own && !found) {
    await models.discover?.(own.provider);
    found = models.find(own.provider, own.modelId);
  }
  const usable = found && models.hasCredentials(found) ? found : undefined;
  const model = usable ?? predecessor.model;
  const instead = model ? `"${model.provider}/${model.id}" is used instead` : "no model is chosen";
  const warnings =
    own && !usable ? [`The session's model "${own.provider}/${own.modelId}" cannot be used; ${instead}`] : [];
  return { model, thinkingLevel: thinkingLevel ?? predecessor.models.wantedLevel, warnings };
}

function createSession(options: SessionOptions, start: SessionStart): AgentSession {
  const { settings, models, env = process.env } = options;
  const { store } = start;
  const cwd = store.getCwd();
  const session: AgentSession = new AgentSession({
    store,
    models,
    model: start.model,
    thinkingLevel: start.thinkingLevel,
    scopedModels: start.scopedModels,
    ...toolsAndPrompt(options, cwd, {
      environment: () => sessionEnvironment(session, env),
      imageLimits: () => imageLimits(settings, session.model),
    }),
    queueModes: start.queueModes ?? {
      steering: settings.steeringMode ?? "one-at-a-time",
      followUp: settings.followUpMode ?? "one-at-a-time",
    },
    images: {
      get maxImages() {
        return imagesPerMessage(session.model);
      },
      prepareImage: (image) => imageForHistory(image, imageLimits(settings, session.model)),
    },
    shell: { shellPath: settings.shellPath, commandPrefix: settings.shellCommandPrefix },
    environment: () => ({ ...env }),
    recovery: recoverySettings(settings, start.automatic),
    sleep: options.sleep ?? ((ms, signal) => sleep(ms, undefined, { signal })),
    streamOptions: { ...requestSettings(settings, env), ...options.streamOptions },
    modelForRequests: (model) => modelForRequests(settings, model),
    fault: options.fault ?? warnOf,
  });
  return session;
}

function toolsAndPrompt(
  options: SessionOptions,
  cwd: string,
  now: { environment: () => NodeJS.ProcessEnv; imageLimits: () => ImageLimits },
) {
  const { settings, customTools = [], toolSelection = {} } = options;
  const builtIn = createTools({
    cwd,
    ...(settings.shellPath && { shellPath: settings.shellPath }),
    ...(settings.shellCommandPrefix && { commandPrefix: settings.shellCommandPrefix }),
    environment: now.environment,
    // Asked for when an image is read: the model may have changed by then.
    get imageLimits() {
      return now.imageLimits();
    },
  });
  const byName = new Map<string, AnyAgentTool | AnyBuiltInTool>(Object.entries(builtIn));
  for (const tool of customTools) byName.set(tool.name, tool);
  const names = selectTools([...byName.keys()], toolSelection, settings.defaultTools);
  const tools = names.map((name) => byName.get(name) as AnyAgentTool | AnyBuiltInTool);
  const systemPrompt = buildSystemPrompt({
    cwd,
    tools: tools.map((tool) => ({
      name: tool.name,
      ...("promptSnippet" in tool && { snippet: tool.promptSnippet }),
      ...("promptGuidelines" in tool && tool.promptGuidelines && { guidelines: tool.promptGuidelines }),
    })),
    contextFiles: options.noContextFiles ? [] : loadContextFiles({ cwd, agentDir: options.agentDir }).files,
    ...(options.systemPrompt !== undefined && { customPrompt: options.systemPrompt }),
    ...(options.appendSystemPrompt && { appendPrompts: options.appendSystemPrompt }),
  });
  return { tools, systemPrompt };
}

/** Children learn which session and model they work for. */
function sessionEnvironment(session: AgentSession, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { store, model, models } = session;
  return {
    ...env,
    PI_SESSION_ID: store.getSessionId(),
    PI_SESSION_FILE: store.getSessionFile(),
    PI_PROVIDER: model?.provider,
    PI_MODEL: model?.id,
    PI_REASONING_LEVEL: models.level,
  };
}

async function imageForHistory(image: ImageContent, limits: ImageLimits): Promise<ImageContent> {
  const { data, mimeType } = await prepareImage(image, limits);
  return { type: "image", data, mimeType };
}

function recoverySettings(
  { retry, compaction }: Settings,
  automatic = { retry: retry.enabled, compaction: compaction.enabled },
): RecoverySettings {
  const { maxRetries, baseDelayMs: baseMs, maxAgentDelayMs: capMs } = retry;
  return {
    retry: { enabled: automatic.retry, maxRetries, baseMs, capMs },
    compaction: {
      enabled: automatic.compaction,
      limits: ({ provider, id }) => {
        const { reserveTokens, keepRecentTokens, modelOverrides } = compaction;
        return { reserveTokens, keepRecentTokens, ...modelOverrides[`${provider}/${id}`] };
      },
    },
  };
}
