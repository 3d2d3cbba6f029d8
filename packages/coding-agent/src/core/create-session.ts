// Makes a session ready for use: tools, system prompt, models and settings for its working directory, and the runtime.

import { setTimeout as sleep } from "node:timers/promises";
import type { AnyAgentTool } from "@earendil-works/pi-agent-core";
import type { ImageContent, Model, StreamOptions, ThinkingLevel } from "@earendil-works/pi-ai";
import type { StartReason } from "../extensions/event-parts.js";
import { discoverPaths } from "../extensions/hooks.js";
import type { ExtensionModelRegistry, ReplaceOptions, SessionControl } from "../extensions/host.js";
import type { ExtensionRunner } from "../extensions/runner.js";
import { textOf } from "../lib/error-text.js";
import { type ImageLimits, prepareImage } from "../lib/image.js";
import { warn } from "../lib/warn.js";
import type { QueueMode, SlashCommand } from "../modes/rpc/rpc-types.js";
import { loadContextFiles } from "../resources/context-files.js";
import type { Settings } from "../resources/settings.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { createTools } from "../tools/index.js";
import { AgentSession, type ModelSource } from "./agent-session.js";
import { type ExtensionBindings, SessionHost } from "./extension-host.js";
import type { ScopedModel } from "./models.js";
import type { RecoverySettings } from "./recovery.js";
import { imageLimits, imagesPerMessage, modelForRequests, requestSettings } from "./request-settings.js";
import type { AgentSessionOptions } from "./session-options.js";
import { type OpenedSession, type ReplacementSteps, SessionRuntime } from "./session-runtime.js";
import { ToolBox } from "./tool-box.js";
import type { ToolSelection } from "./tool-selection.js";

/** What a working directory brings along for its sessions. */
export interface DirectoryResources {
  models: ModelSource;
  settings: Settings;
  /** Environment of shell commands. Default: this process's. */
  env?: NodeJS.ProcessEnv;
  /** Extensions, skills and templates; absent without any. */
  extensions?: LoadedExtensions | undefined;
  /** Where tools and commands work. Default: the session's directory. */
  cwd?: string | undefined;
  /** Instructions for agents. Default: those of the directory's files. */
  contextFiles?: { path: string; content: string }[] | undefined;
  /** Texts that replace and extend the system prompt where nothing else is asked for. */
  promptFiles?: { system?: string | undefined; append?: string | undefined };
}

/** Extensions, skills and templates, loaded for one session. */
export interface LoadedExtensions {
  /** Absent without extensions. */
  runner?: ExtensionRunner | undefined;
  registry: ExtensionModelRegistry;
  isProjectTrusted: boolean;
  /** Templates and skills as commands, in this order. */
  commands: () => SlashCommand[];
  skills: () => { name: string; description: string; filePath: string; baseDir: string }[];
  /** Skills and templates in a text. */
  expand: (text: string) => string | Promise<string>;
  /** Skills and templates that extensions add. Never rejects. */
  extend: (paths: { path: string; kind: "skill" | "prompt"; extensionPath: string }[]) => Promise<void>;
}

/** What is chosen once for a process, whatever session is current. */
export interface SessionOptions extends DirectoryResources {
  agentDir: string;
  /** What the working directory of another session brings along; `isReload` reads and evaluates everything anew. */
  resourcesFor?: (cwd: string, isReload: boolean) => Promise<DirectoryResources>;
  toolSelection?: ToolSelection;
  /** Tools beside the built-in ones; one with a built-in name replaces it. */
  customTools?: readonly AnyAgentTool[];
  /** Replaces the default system prompt. */
  systemPrompt?: string | undefined;
  appendSystemPrompt?: readonly string[] | undefined;
  noContextFiles?: boolean | undefined;
  /** What every model call gets; `fetch` and the like in tests. */
  streamOptions?: StreamOptions;
  /** The model call; extensions' own wire formats go before it. */
  stream?: AgentSessionOptions["stream"];
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
  const surroundings: Surroundings = { bindings: () => runtime.bindings, sessions: () => controlOf(runtime) };
  const runtime: SessionRuntime = new SessionRuntime({
    ...openSession(options, start, surroundings),
    fault: options.fault ?? warn,
    create: async (store, predecessor, isReload) => {
      const { found, problems } = await resourcesOf(options, store.getCwd(), isReload);
      const inPlace: SessionOptions = {
        ...options,
        ...found,
        // What an extension was to bring may not be there in another directory.
        toolSelection: { ...options.toolSelection, isLenient: true },
      };
      const { model, thinkingLevel, warnings } = await carriedOn(inPlace.models, store, predecessor);
      const opened = openSession(
        inPlace,
        {
          store,
          model,
          thinkingLevel,
          scopedModels: predecessor.models.scoped,
          queueModes: { ...predecessor.queueModes },
          automatic: predecessor.automatic(),
        },
        surroundings,
      );
      return { ...opened, warnings: [...problems, ...warnings] };
    },
  });
  return runtime;
}

/** What cannot be loaded for another session must not cost the session: it goes on without, and says so. */
async function resourcesOf(
  { resourcesFor }: SessionOptions,
  cwd: string,
  isReload: boolean,
): Promise<{ found: Partial<DirectoryResources> | undefined; problems: string[] }> {
  try {
    return { found: await resourcesFor?.(cwd, isReload), problems: [] };
  } catch (error) {
    const reason = textOf(error);
    return { found: { extensions: undefined }, problems: [`The session goes on without extensions: ${reason}`] };
  }
}

/** What a session finds around it: the mode, and the runtime that can replace it. */
interface Surroundings {
  bindings: () => ExtensionBindings;
  sessions: () => SessionControl<unknown>;
}

function controlOf(runtime: SessionRuntime): SessionControl<unknown> {
  const stepsOf = (options: ReplaceOptions<unknown> | undefined): ReplacementSteps => ({
    withSession: options?.withSession as ReplacementSteps["withSession"],
  });
  return {
    newSession: ({ parentSession, setup, ...options } = {}) =>
      runtime.newSession(parentSession, { ...stepsOf(options), setup }),
    switchSession: (path, options) => runtime.switchSession(path, stepsOf(options)),
    fork: (entryId, { position = "before", ...options } = {}) =>
      runtime.fork(entryId, { ...stepsOf(options), position }),
    reload: () => runtime.reload(),
  };
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

function openSession(options: SessionOptions, start: SessionStart, around: Surroundings): OpenedSession {
  const { settings, models, env = process.env, extensions } = options;
  const { store } = start;
  const cwd = options.cwd ?? store.getCwd();
  const toolBox = makeToolBox(options, cwd, {
    environment: () => sessionEnvironment(session, env),
    imageLimits: () => imageLimits(settings, session.model),
  });
  const runner = extensions?.runner;
  const session: AgentSession = new AgentSession({
    store,
    cwd,
    models,
    model: start.model,
    thinkingLevel: start.thinkingLevel,
    scopedModels: start.scopedModels,
    get tools() {
      return toolBox.tools;
    },
    get systemPrompt() {
      return toolBox.systemPrompt;
    },
    ...(runner && {
      extensions: {
        runner,
        promptOptions: () => toolBox.promptOptions(),
        buildPrompt: (changed) => toolBox.build(changed),
        setActiveTools: (names) => toolBox.setActive(names),
      },
    }),
    ...(extensions && { expand: (text: string) => extensions.expand(text) }),
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
    fault: options.fault ?? warn,
    ...(options.stream && { stream: options.stream }),
  });
  const begin = async (reason: StartReason, previousSessionFile?: string) => {
    if (!runner || !extensions) return;
    tellFaults(session);
    await runner.each("session_start", { reason, ...(previousSessionFile !== undefined && { previousSessionFile }) });
    if (!runner.has("resources_discover")) return;
    const when = reason === "reload" ? "reload" : "startup";
    await extensions.extend(await discoverPaths(runner, { cwd, reason: when }));
    toolBox.promptChanged();
  };
  if (runner && extensions) bindExtensions(runner, { session, cwd, toolBox, extensions, settings, env, around });
  return { session, warnings: [], begin };
}

/** What went wrong in extensions is told from now on, and what did before, now: there is somebody to hear it. */
export function tellFaults(session: AgentSession): void {
  session.runner?.runtime.onFault((fault) => void session.announce({ type: "extension_error", ...fault }));
}

function bindExtensions(
  runner: ExtensionRunner,
  parts: {
    session: AgentSession;
    cwd: string;
    toolBox: ToolBox;
    extensions: LoadedExtensions;
    settings: Settings;
    env: NodeJS.ProcessEnv;
    around: Surroundings;
  },
): void {
  const { session, cwd, toolBox, extensions, settings, env, around } = parts;
  const { runtime } = runner;
  runner.bind(
    new SessionHost({
      session,
      cwd,
      toolBox,
      bindings: around.bindings,
      sessions: around.sessions,
      modelRegistry: extensions.registry,
      commands: () => [...extensionCommands(runner), ...extensions.commands()],
      settings: () => settings,
      isProjectTrusted: extensions.isProjectTrusted,
      environment: () => ({ ...env }),
      actions: () => runtime.idle(),
      fault: (event, error) => runtime.fault("<runtime>", event, error),
    }),
  );
}

function makeToolBox(
  options: SessionOptions,
  cwd: string,
  now: { environment: () => NodeJS.ProcessEnv; imageLimits: () => ImageLimits },
): ToolBox {
  const { settings, customTools = [], toolSelection = {}, extensions } = options;
  const runner = extensions?.runner;
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
  const files = options.promptFiles;
  const customPrompt = options.systemPrompt ?? files?.system;
  const appended = options.appendSystemPrompt?.length ? options.appendSystemPrompt.join("\n\n") : files?.append;
  return new ToolBox({
    builtIn: Object.values(builtIn),
    custom: customTools,
    registered: runner?.tools ?? [],
    toAgentTool: (tool) => (runner as ExtensionRunner).agentTool(tool),
    selection: toolSelection,
    defaults: settings.defaultTools,
    prompt: {
      cwd,
      contextFiles: contextFilesOf(options, cwd),
      ...(customPrompt !== undefined && { customPrompt }),
      ...(appended !== undefined && { appendSystemPrompt: appended }),
      skills: () => extensions?.skills() ?? [],
    },
  });
}

function contextFilesOf({ contextFiles, noContextFiles, agentDir }: SessionOptions, cwd: string) {
  return contextFiles ?? (noContextFiles ? [] : loadContextFiles({ cwd, agentDir }).files);
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

/** Commands of extensions as clients see them. */
export function extensionCommands(runner: ExtensionRunner): SlashCommand[] {
  return runner.commands.map(({ name, definition, extension }) => ({
    name,
    ...(definition.description !== undefined && { description: definition.description }),
    source: "extension",
    path: extension.path,
    sourceInfo: extension.sourceInfo,
  }));
}
