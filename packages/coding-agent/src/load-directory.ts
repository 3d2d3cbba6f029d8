// What a working directory brings along, loaded for one session after another: settings, models, extensions, skills.

import { join } from "node:path";
import type { DirectoryResources, LoadedExtensions } from "./core/create-session.js";
import { ExtensionProviders } from "./core/extension-providers.js";
import { extendFound, inlineFiles, loadedExtensions } from "./core/loaded-extensions.js";
import { modelAccess } from "./core/model-access.js";
import type { Extension } from "./extensions/extension.js";
import { decideTrust as askExtensions } from "./extensions/hooks.js";
import type { ExtensionMode, ExtensionModelRegistry } from "./extensions/host.js";
import type { ExtensionLoadError, ExtensionLoader, InlineExtension } from "./extensions/loader.js";
import { ExtensionRunner } from "./extensions/runner.js";
import { ExtensionRuntime } from "./extensions/runtime.js";
import type { ExtensionUI } from "./extensions/ui.js";
import type { Diagnostic } from "./modes/rpc/rpc-types.js";
import type { AuthStorage } from "./resources/auth.js";
import type { Environment } from "./resources/config-value.js";
import { discoverResources, type FoundResources } from "./resources/discovery.js";
import { loadResources, type Resources } from "./resources/load.js";
import { agentDirectory } from "./resources/locations.js";
import { loadSystemPromptFiles } from "./resources/system-prompt-files.js";
import { decideTrust, protectedResources, resolveTrust, type TrustDecision } from "./resources/trust.js";

/** What was asked for on the command line, and holds for every directory. */
export interface DirectoryOptions {
  env: Environment;
  agentDir?: string;
  sessionDir?: string | undefined;
  /** `--approve` or `--no-approve`. */
  approve?: boolean | undefined;
  extensions: readonly string[];
  skills: readonly string[];
  prompts: readonly string[];
  noExtensions: boolean;
  noSkills: boolean;
  noPrompts: boolean;
  isOffline: boolean;
  /** Extensions whose factories are at hand. */
  inline?: readonly InlineExtension[];
  /** The mode, and its dialogs once it runs. */
  outside: () => { mode: ExtensionMode; ui: ExtensionUI | undefined };
  /** The modules extensions import. */
  modules: () => Promise<Record<string, object>>;
}

/** One directory as it is loaded for one session. */
export interface LoadedDirectory {
  resources: Resources;
  extensions: LoadedExtensions;
  diagnostics(): Diagnostic[];
  /** For a session: what `createRuntime` asks for. */
  forSession(): DirectoryResources;
}

/** What is loaded once for a process, and what the directory opened last brings. */
export interface SharedDirectory {
  resources: Resources;
  /** The models with the providers of extensions; absent while extensions load. */
  registry: ExtensionModelRegistry | undefined;
  extensionLoader: ExtensionLoader;
  flags: ReadonlyMap<string, boolean | string>;
}

/** Loads directories for one process. Keys are the user's, and those of the command line hold for all of them. */
export class DirectoryLoader {
  readonly #options: DirectoryOptions;
  #loader: ExtensionLoader | undefined;
  readonly #resources = new Map<string, Resources>();
  /** What the extensions of the directory opened last brought. */
  #providers: ExtensionProviders | undefined;
  /** Values of extensions' flags. */
  readonly #flags = new Map<string, boolean | string>();
  /** What extensions said of projects, by directory; `isOld` since they may be asked again. */
  readonly #trust = new Map<string, { isTrusted: boolean; isOld: boolean }>();
  #auth: AuthStorage | undefined;
  #opened: Pick<SharedDirectory, "resources" | "registry"> | undefined;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  /** Settings, credentials and models, without asking anybody and without running any extension. */
  resourcesOf(cwd: string): Resources {
    let resources = this.#resources.get(cwd);
    if (!resources) {
      resources = this.#load(cwd, undefined);
      this.#resources.set(cwd, resources);
    }
    return resources;
  }

  /** What the command line says of extensions' flags; holds for all extensions loaded so far and later. */
  setFlags(values: ReadonlyMap<string, boolean | string>): void {
    for (const [name, value] of values) this.#flags.set(name, value);
  }

  /** What sessions that extensions make share with the one in use; undefined before the first extension was loaded. */
  get shared(): SharedDirectory | undefined {
    const opened = this.#opened;
    if (!opened || !this.#loader) return undefined;
    return { ...opened, extensionLoader: this.#loader, flags: this.#flags };
  }

  /** The extension that is being loaded now, by its path. */
  get loading(): string | undefined {
    return this.#loader?.loading;
  }

  /** Settings are read, modules evaluated and extensions asked for trust anew from now on. */
  forget(): void {
    this.#providers?.clear();
    this.#resources.clear();
    for (const said of this.#trust.values()) said.isOld = true;
    this.#loader?.forget();
  }

  /**
   * Loads everything. Throws `ExtensionLoadError` for the first extension that cannot be loaded, unless `isLenient`: then it
   * is left out, and a fault and a diagnostic tell of it.
   */
  async open(cwd: string, { isLenient = false } = {}): Promise<LoadedDirectory> {
    const failures: Diagnostic[] = [];
    const runtime = new ExtensionRuntime();
    // Shared, so that flags set later are seen by extensions loaded now.
    runtime.flagValues = this.#flags;
    const onError = (error: ExtensionLoadError) => {
      failures.push({ severity: "error", source: "extensions", message: error.message, path: error.path });
      runtime.fault(error.path, "load", error.message);
    };
    const load = async (found: FoundResources, loaded: readonly Extension[]) =>
      (await this.#extensionLoader()).load([...found.extensions, ...inlineFiles(this.#options.inline ?? [])], runtime, {
        loaded,
        ...(isLenient && { onError }),
      });
    let resources = this.resourcesOf(cwd);
    this.#opened = { resources, registry: undefined };
    const mayAsk = this.#mayAsk(cwd);
    let found = await this.#discover(resources, resources.isTrusted && !mayAsk);
    let loaded = found.extensions.length > 0 || this.#options.inline?.length ? await load(found, []) : [];
    const trustDiagnostics: Diagnostic[] = [];
    if (mayAsk) {
      // The user's own extensions are asked first; what the project brings is not run before.
      const decision = await this.#askForTrust(resources, new ExtensionRunner({ extensions: loaded, runtime }));
      trustDiagnostics.push(...decision.diagnostics);
      if (decision.isTrusted !== resources.isTrusted) {
        resources = this.#load(cwd, decision.isTrusted);
        this.#resources.set(cwd, resources);
      }
      if (decision.isTrusted) {
        found = await this.#discover(resources, true);
        loaded = found.extensions.length > 0 || loaded.length > 0 ? await load(found, loaded) : [];
      }
    }
    return this.#loaded(resources, found, { loaded, runtime, diagnostics: [...failures, ...trustDiagnostics] });
  }

  /** Whether extensions may decide on a project; they are asked once. */
  #mayAsk(cwd: string): boolean {
    const said = this.#trust.get(cwd);
    return this.#options.approve === undefined && protectedResources(cwd).length > 0 && (!said || said.isOld);
  }

  /** Who does not decide this time leaves it at what was decided before. */
  async #askForTrust({ cwd, agentDir, settings }: Resources, runner: ExtensionRunner): Promise<TrustDecision> {
    const question = { cwd, agentDir, defaultProjectTrust: settings.defaultProjectTrust };
    if (!runner.has("project_trust")) return resolveTrust(question);
    const decision = await resolveTrust(
      question,
      async () => (await askExtensions(runner, { cwd, ...this.#options.outside() })) ?? { trusted: "undecided" },
    );
    const before = this.#trust.get(cwd);
    if (decision.by === "asked") this.#trust.set(cwd, { isTrusted: decision.isTrusted, isOld: false });
    else if (before) return { ...decision, isTrusted: before.isTrusted, by: "asked" };
    return decision;
  }

  async #extensionLoader(): Promise<ExtensionLoader> {
    // A start without extensions has nothing of their loader in memory.
    const { ExtensionLoader } = await import("./extensions/loader.js");
    const { modules } = this.#options;
    const { agentDir } = loadedAgentDir(this.#options);
    this.#loader ??= new ExtensionLoader({ modules, cacheDir: join(agentDir, "cache", "extensions") });
    return this.#loader;
  }

  #load(cwd: string, isTrusted: boolean | undefined): Resources {
    const { env, agentDir, sessionDir, approve } = this.#options;
    const resources = loadResources({
      cwd,
      env,
      ...(agentDir !== undefined && { agentDir }),
      ...(sessionDir !== undefined && { sessionDir }),
      ...(this.#auth && { auth: this.#auth }),
      isTrusted: ({ defaultProjectTrust }) =>
        isTrusted ??
        decideTrust({
          cwd,
          agentDir: loadedAgentDir(this.#options).agentDir,
          ...(approve !== undefined && { approve }),
          defaultProjectTrust,
        }).isTrusted,
    });
    this.#auth = resources.auth;
    return resources;
  }

  #discover(resources: Resources, isTrusted: boolean): Promise<FoundResources> {
    const { env, extensions, skills, prompts, noExtensions, noSkills, noPrompts, isOffline } = this.#options;
    return discoverResources({
      cwd: resources.cwd,
      agentDir: resources.agentDir,
      isTrusted,
      settings: resources.settingsManager,
      commandLine: { extensions, skills, prompts },
      off: { extensions: noExtensions, skills: noSkills, prompts: noPrompts },
      isOffline,
      env,
    });
  }

  #loaded(
    resources: Resources,
    first: FoundResources,
    more: { loaded: Extension[]; runtime: ExtensionRuntime; diagnostics: Diagnostic[] },
  ): LoadedDirectory {
    const { cwd, agentDir, isTrusted, models, settings } = resources;
    let found = first;
    const providers = this.#providersOf(resources);
    // Faults of extensions that could not be loaded are told by a runner, even of none.
    const hasFailed = more.diagnostics.some(({ source }) => source === "extensions");
    const runner =
      more.loaded.length > 0 || hasFailed
        ? new ExtensionRunner({ extensions: more.loaded, runtime: more.runtime })
        : undefined;
    if (runner) more.runtime.bindProviders(providers);
    const promptFiles = loadSystemPromptFiles({ cwd, agentDir, isTrusted });
    const extensions = loadedExtensions({
      runner,
      registry: modelAccess(models, providers),
      isProjectTrusted: isTrusted || protectedResources(cwd).length === 0,
      cwd,
      found: () => found,
      skillCommands: settings.enableSkillCommands,
      extend: async (paths) => {
        found = await extendFound(found, paths);
      },
    });
    this.#opened = { resources, registry: extensions.registry };
    return {
      resources,
      extensions,
      diagnostics: () => [
        ...resources.diagnostics(),
        ...found.diagnostics,
        ...promptFiles.diagnostics,
        ...more.diagnostics,
      ],
      forSession: () => ({
        models,
        settings,
        env: resources.shellEnvironment(),
        extensions,
        promptFiles: { system: promptFiles.customPrompt, append: promptFiles.appendPrompts[0] },
      }),
    };
  }

  /** Those of the last session are taken back: its extensions register them again, or others. */
  #providersOf({ models }: Resources): ExtensionProviders {
    this.#providers?.clear();
    this.#providers = new ExtensionProviders(models);
    return this.#providers;
  }
}

function loadedAgentDir({ agentDir, env }: DirectoryOptions): { agentDir: string } {
  return { agentDir: agentDir ?? agentDirectory(env) };
}
