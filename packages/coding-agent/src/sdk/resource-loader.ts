// What a session is made from beside its models: the interface a program may implement, and the usual discovery.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { extendFound, inlineFiles } from "../core/loaded-extensions.js";
import type { ExtensionFactory } from "../extensions/api.js";
import type { Extension } from "../extensions/extension.js";
import { ExtensionLoader, type InlineExtension } from "../extensions/loader.js";
import { ExtensionRuntime } from "../extensions/runtime.js";
import { textOf } from "../lib/error-text.js";
import { type ContextFile, loadContextFiles } from "../resources/context-files.js";
import type { Diagnostic } from "../resources/diagnostic.js";
import { isOffline } from "../resources/discover-options.js";
import { discoverResources, type FoundResources } from "../resources/discovery.js";
import { agentDirectory, resolveHome } from "../resources/locations.js";
import type { PromptTemplate } from "../resources/prompt-templates.js";
import { SettingsManager } from "../resources/settings-manager.js";
import type { Skill } from "../resources/skills.js";
import { loadSystemPromptFiles } from "../resources/system-prompt-files.js";
import { type Around, nothingAround, type Surroundings } from "./surroundings.js";
import { isTrustedIn } from "./trusted.js";

/** Extensions of one session. They act on it through `runtime`, which serves no other. */
export interface LoadExtensionsResult {
  extensions: Extension[];
  /** Those that could not be loaded, and why. */
  errors: { path: string; error: string }[];
  runtime: ExtensionRuntime;
}

export interface ResourceLoader {
  getExtensions(): LoadExtensionsResult;
  getSkills(): { skills: Skill[]; diagnostics: Diagnostic[] };
  getPrompts(): { prompts: PromptTemplate[]; diagnostics: Diagnostic[] };
  /** Themes are a terminal's: the list is empty. */
  getThemes(): { themes: unknown[]; diagnostics: Diagnostic[] };
  /** Instructions for agents, outermost first. */
  getAgentsFiles(): { agentsFiles: ContextFile[] };
  /** Replaces the system prompt; undefined to keep the default one. */
  getSystemPrompt(): string | undefined;
  /** Follow the system prompt. */
  getAppendSystemPrompt(): string[];
  /** Adds what extensions name later; their own relative paths have been resolved. */
  extendResources(paths: ExtraPaths): void | Promise<void>;
  /** Reads everything again; `getExtensions` gives others with another runtime afterwards. */
  reload(): Promise<void>;
}

/** A relative path is relative to `baseDir`, or without it to the working directory. */
type NamedPath = string | { path: string; baseDir?: string };

export interface ExtraPaths {
  skillPaths?: readonly NamedPath[];
  promptPaths?: readonly NamedPath[];
  themePaths?: readonly NamedPath[];
}

/** Everything is optional; overrides see what was found and give what is used. */
export interface DefaultResourceLoaderOptions {
  /** Default: this process's. */
  cwd?: string;
  /** Default: the user's. */
  agentDir?: string;
  settingsManager?: SettingsManager;
  /** Files, folders, or sources of packages. */
  additionalExtensionPaths?: readonly string[];
  additionalSkillPaths?: readonly string[];
  additionalPromptTemplatePaths?: readonly string[];
  additionalThemePaths?: readonly string[];
  /** Extensions of the program itself. */
  extensionFactories?: readonly (ExtensionFactory | InlineExtension)[];
  noExtensions?: boolean;
  noSkills?: boolean;
  noPromptTemplates?: boolean;
  noThemes?: boolean;
  noContextFiles?: boolean;
  systemPrompt?: string;
  appendSystemPrompt?: string | readonly string[];
  extensionsOverride?: (base: LoadExtensionsResult) => LoadExtensionsResult;
  skillsOverride?: (base: ReturnType<ResourceLoader["getSkills"]>) => ReturnType<ResourceLoader["getSkills"]>;
  promptsOverride?: (base: ReturnType<ResourceLoader["getPrompts"]>) => ReturnType<ResourceLoader["getPrompts"]>;
  agentsFilesOverride?: (
    base: ReturnType<ResourceLoader["getAgentsFiles"]>,
  ) => ReturnType<ResourceLoader["getAgentsFiles"]>;
  systemPromptOverride?: (base: string | undefined) => string | undefined;
  appendSystemPromptOverride?: (base: string[]) => string[];
}

const nothingFound: FoundResources = { extensions: [], skills: [], prompts: [], diagnostics: [] };

/** Finds what the command line would; nothing is there before the first `reload`. */
export class DefaultResourceLoader implements ResourceLoader {
  readonly #options: DefaultResourceLoaderOptions;
  readonly #around: Around;
  readonly #cwd: string;
  readonly #agentDir: string;
  #ownLoader: ExtensionLoader | undefined;
  /** The session made with this loader, where there is no other around. */
  #session: Omit<Surroundings, "extensionLoader" | "flags"> | undefined;
  #extensions: LoadExtensionsResult = { extensions: [], errors: [], runtime: new ExtensionRuntime() };
  #found = nothingFound;
  #agentsFiles: ContextFile[] = [];
  #systemPrompt: string | undefined;
  #appended: string[] = [];

  constructor(options: DefaultResourceLoaderOptions = {}, around: Around = nothingAround) {
    this.#options = options;
    this.#around = around;
    this.#cwd = options.cwd ?? process.cwd();
    this.#agentDir = options.agentDir ?? around()?.agentDir ?? agentDirectory();
  }

  getExtensions(): LoadExtensionsResult {
    return this.#extensions;
  }

  getSkills() {
    const { skills, diagnostics } = this.#found;
    const base = { skills: [...skills], diagnostics: diagnostics.filter(({ source }) => source === "skills") };
    return this.#options.skillsOverride?.(base) ?? base;
  }

  getPrompts() {
    const { prompts, diagnostics } = this.#found;
    const base = { prompts: [...prompts], diagnostics: diagnostics.filter(({ source }) => source === "prompts") };
    return this.#options.promptsOverride?.(base) ?? base;
  }

  getThemes() {
    return { themes: [], diagnostics: [] };
  }

  getAgentsFiles() {
    const base = { agentsFiles: this.#agentsFiles.map((file) => ({ ...file })) };
    return this.#options.agentsFilesOverride?.(base) ?? base;
  }

  getSystemPrompt(): string | undefined {
    const { systemPromptOverride } = this.#options;
    return systemPromptOverride ? systemPromptOverride(this.#systemPrompt) : this.#systemPrompt;
  }

  getAppendSystemPrompt(): string[] {
    const base = [...this.#appended];
    return this.#options.appendSystemPromptOverride?.(base) ?? base;
  }

  /** Sessions that its extensions make share models and keys with the session that is made now. */
  serve(session: Omit<Surroundings, "extensionLoader" | "flags">): void {
    this.#session = session;
  }

  /** Where the texts came from is not kept. */
  getSystemPromptSource(): undefined {}

  getAppendSystemPromptSources(): never[] {
    return [];
  }

  async extendResources({ skillPaths = [], promptPaths = [] }: ExtraPaths): Promise<void> {
    const named = (kind: "skill" | "prompt", paths: readonly NamedPath[]) =>
      paths.map((given) => {
        const { path, baseDir = this.#cwd } = typeof given === "string" ? { path: given } : given;
        return { kind, path, baseDir };
      });
    this.#found = await extendFound(this.#found, [...named("skill", skillPaths), ...named("prompt", promptPaths)]);
  }

  async reload(): Promise<void> {
    const { noContextFiles, systemPrompt, appendSystemPrompt = [], extensionsOverride } = this.#options;
    const place = { cwd: this.#cwd, agentDir: this.#agentDir };
    const isTrusted = isTrustedIn(place, this.#around());
    const settings = this.#options.settingsManager ?? SettingsManager.load({ ...place, trusted: isTrusted });
    this.#ownLoader?.forget();
    const errors: LoadExtensionsResult["errors"] = [];
    this.#found = await this.#discover(settings, isTrusted, errors);
    const base = await this.#loadExtensions(errors);
    this.#extensions = extensionsOverride?.(base) ?? base;
    this.#agentsFiles = noContextFiles ? [] : loadContextFiles(place).files;
    const files = loadSystemPromptFiles(
      { ...place, isTrusted },
      {
        customPrompt: systemPrompt,
        appendPrompts: typeof appendSystemPrompt === "string" ? [appendSystemPrompt] : appendSystemPrompt,
      },
    );
    this.#systemPrompt = files.customPrompt;
    this.#appended = files.appendPrompts;
  }

  async #discover(
    settings: SettingsManager,
    isTrusted: boolean,
    errors: LoadExtensionsResult["errors"],
  ): Promise<FoundResources> {
    const { additionalSkillPaths = [], additionalPromptTemplatePaths = [] } = this.#options;
    const find = (extensions: readonly string[]) =>
      discoverResources({
        cwd: this.#cwd,
        agentDir: this.#agentDir,
        isTrusted,
        settings,
        commandLine: { extensions, skills: additionalSkillPaths, prompts: additionalPromptTemplatePaths },
        off: {
          extensions: this.#options.noExtensions === true,
          skills: this.#options.noSkills === true,
          prompts: this.#options.noPromptTemplates === true,
        },
        isOffline: isOffline(process.env),
        env: process.env,
      });
    const named = (this.#options.additionalExtensionPaths ?? []).filter((path) => {
      const isThere = isSource(path) || existsSync(resolveHome(this.#cwd, path));
      if (!isThere) errors.push({ path, error: "there is no such file" });
      return isThere;
    });
    try {
      return await find(named);
    } catch (error) {
      // One of the named brings nothing, or cannot be installed: the rest goes on without them.
      errors.push({ path: named.join(", "), error: textOf(error) });
      return find([]);
    }
  }

  async #loadExtensions(errors: LoadExtensionsResult["errors"]): Promise<LoadExtensionsResult> {
    const runtime = new ExtensionRuntime();
    const around = this.#around();
    if (around) runtime.flagValues = around.flags;
    const files = [...this.#found.extensions, ...inlineFiles(this.#options.extensionFactories ?? [])];
    const loader = around?.extensionLoader ?? this.#standaloneLoader();
    const extensions = await loader.load(files, runtime, {
      onError: ({ path, reason }) => errors.push({ path, error: reason }),
    });
    return { extensions, errors, runtime };
  }

  #inside(): Surroundings | undefined {
    return this.#session && { ...this.#session, extensionLoader: this.#standaloneLoader(), flags: new Map() };
  }

  #standaloneLoader(): ExtensionLoader {
    this.#ownLoader ??= new ExtensionLoader({
      cacheDir: join(this.#agentDir, "cache", "extensions"),
      modules: async () => {
        // Loaded with the first extension that is a file: saves a program without any 80 ms.
        const { sdkModules } = await import("./modules.js");
        return sdkModules(() => this.#inside());
      },
    });
    return this.#ownLoader;
  }
}

function isSource(path: string): boolean {
  return /^(?:npm|git|https?|ssh|builtin):/.test(path);
}
