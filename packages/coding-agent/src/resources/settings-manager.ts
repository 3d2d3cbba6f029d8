// The settings in force: defaults, the user's file, the project's file when trusted, and what was said on the command line.

import { join } from "node:path";
import { checkValue } from "../lib/check-value.js";
import type { Diagnostic } from "./diagnostic.js";
import { faultAt, type JsonFile, type JsonObject, readJsonFile } from "./json-file.js";
import { agentDirectory, projectDirectory } from "./locations.js";
import { selectNames } from "./select-names.js";
import { defaultSettings, joinedSettings, Settings, userOnlySettings } from "./settings.js";

/** What may be said of the settings: any part of them. */
export type SettingsLayer = { [Key in keyof Settings]?: Settings[Key] extends object ? object : Settings[Key] };

export interface SettingsManagerOptions {
  agentDir: string;
  cwd: string;
  /** Whether the project's own settings count. */
  trusted: boolean;
  /** Wins over all files; never saved. */
  overrides?: SettingsLayer;
}

/**
 * Settings of one working directory. Files are read by `load` and `reload` only; a value that is wrong is reported and
 * left out, and no file is ever written over because it is broken.
 */
export class SettingsManager {
  readonly #options: SettingsManagerOptions | undefined;
  readonly #overrides: JsonObject;
  #settings!: Settings;
  #diagnostics: Diagnostic[] = [];
  #user: JsonObject = {};
  #project: JsonObject = {};

  private constructor(options: SettingsManagerOptions | undefined, overrides: SettingsLayer) {
    this.#options = options;
    this.#overrides = overrides as JsonObject;
    this.reload();
  }

  /** Never throws: what is wrong with a file is in `diagnostics`. */
  static load(options: SettingsManagerOptions): SettingsManager {
    return new SettingsManager(options, options.overrides ?? {});
  }

  /** The settings for a directory, the project's own where it is said to be trusted; the name the SDK promises. */
  static create(
    cwd: string = process.cwd(),
    agentDir: string = agentDirectory(),
    { projectTrusted = false }: { projectTrusted?: boolean } = {},
  ): SettingsManager {
    return SettingsManager.load({ agentDir, cwd, trusted: projectTrusted });
  }

  /** Settings without files; `set` changes them in memory. */
  static inMemory(settings: SettingsLayer = {}): SettingsManager {
    return new SettingsManager(undefined, settings);
  }

  /** What is in force. Must not be changed. */
  get settings(): Readonly<Settings> {
    return this.#settings;
  }

  /** Whether the project's own settings count. */
  isProjectTrusted(): boolean {
    return this.#options?.trusted ?? false;
  }

  /** What is in force, as a copy. */
  getSettings(): Settings {
    return structuredClone(this.#settings);
  }

  /** What the user's file says, as a copy; in memory what was given. */
  getGlobalSettings(): JsonObject {
    return structuredClone(this.#options ? this.#user : this.#overrides);
  }

  /** What the project's file says, as a copy. */
  getProjectSettings(): JsonObject {
    return structuredClone(this.#project);
  }

  /** Lays settings over all files, for this object only. */
  applyOverrides(overrides: SettingsLayer): void {
    Object.assign(this.#overrides, merge(this.#overrides, overrides as JsonObject));
    this.#combine();
  }

  // The single values by the names that extensions call.
  getDefaultProvider = () => this.#settings.defaultProvider;
  getDefaultModel = () => this.#settings.defaultModel;
  getDefaultThinkingLevel = () => this.#settings.defaultThinkingLevel;
  getEnabledModels = () => this.#settings.enabledModels;
  getCompactionSettings = () => {
    const { enabled, reserveTokens, keepRecentTokens } = this.#settings.compaction;
    return { enabled, reserveTokens, keepRecentTokens };
  };
  getRetrySettings = () => ({ ...this.#settings.retry });
  getBranchSummarySettings = () => ({ ...this.#settings.branchSummary });
  getSteeringMode = () => this.#settings.steeringMode ?? "one-at-a-time";
  getFollowUpMode = () => this.#settings.followUpMode ?? "one-at-a-time";
  getEnableSkillCommands = () => this.#settings.enableSkillCommands;
  getShellPath = () => this.#settings.shellPath;
  getShellCommandPrefix = () => this.#settings.shellCommandPrefix;
  getImageAutoResize = () => this.#settings.images.autoResize;
  getBlockImages = () => this.#settings.images.blockImages;
  getPackages = () => [...this.#settings.packages];
  getExtensionPaths = () => [...this.#settings.extensions];
  getSkillPaths = () => [...this.#settings.skills];
  getPromptTemplatePaths = () => [...this.#settings.prompts];
  getSessionDir = () => this.#settings.sessionDir;
  getDefaultProjectTrust = () => this.#settings.defaultProjectTrust;

  /** Resolves when what was set is in the file; `set` waits for that itself. */
  async flush(): Promise<void> {}

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** The user's file without what is wrong in it; unknown keys included. */
  get userSettings(): Readonly<JsonObject> {
    return this.#user;
  }

  /** The project's file likewise; empty when the project is not trusted. */
  get projectSettings(): Readonly<JsonObject> {
    return this.#project;
  }

  /** Reads the files again. */
  reload(): void {
    this.#diagnostics = [];
    if (this.#options) {
      this.#user = this.#read(this.#userPath);
      this.#project = this.#options.trusted
        ? this.#read(join(projectDirectory(this.#options.cwd), "settings.json"), true)
        : {};
    }
    this.#combine();
  }

  /**
   * Changes one setting, named with dots (`compaction.enabled`), in the user's file; undefined removes it. Other keys
   * of the file stay, whoever wrote them. Throws when the value is wrong, or the file is broken or cannot be written.
   */
  async set(key: string, value: unknown): Promise<void> {
    const path = key.split(".");
    const [problem] = value === undefined ? [] : checkValue(Settings, nest(path, value), { partial: true });
    if (problem) throw new Error(`Cannot set "${problem.path.join(".")}": it ${problem.expected}`);
    if (!this.#options) {
      assign(this.#overrides, path, value);
      this.#combine();
      return;
    }
    // Loaded when something is saved: saves their 10 ms at start.
    const { updateJsonFile } = await import("./update-json-file.js");
    await updateJsonFile(this.#userPath, "settings", (file) => assign(file, path, value));
    this.reload();
  }

  get #userPath(): string {
    return join(this.#options?.agentDir ?? agentDirectory(), "settings.json");
  }

  #read(path: string, isProject = false): JsonObject {
    const file = readJsonFile(path, "settings");
    this.#diagnostics.push(...file.diagnostics);
    const value = structuredClone(file.value ?? {});
    for (const { path: at, expected } of checkValue(Settings, value, { partial: true }))
      this.#drop(file, value, at, expected);
    if (isProject)
      for (const key of userOnlySettings)
        if (Object.hasOwn(value, key)) this.#drop(file, value, [key], "counts in user settings only", "warning");
    return value;
  }

  #drop(
    file: JsonFile,
    value: JsonObject,
    path: (string | number)[],
    reason: string,
    severity: Diagnostic["severity"] = "error",
  ): void {
    this.#diagnostics.push(faultAt(file, "settings", path, `${reason}; it is ignored`, severity));
    // A list with a wrong item is wrong as a whole: what its other items meant together is unknown.
    const list = path.findIndex((step) => typeof step === "number");
    assign(value, (list < 0 ? path : path.slice(0, list)) as string[], undefined);
  }

  #combine(): void {
    let settings = defaultSettings() as unknown as JsonObject;
    for (const layer of [this.#user, this.#project, this.#overrides]) settings = merge(settings, layer);
    this.#settings = settings as unknown as Settings;
  }
}

function merge(base: JsonObject, layer: JsonObject, isTop = true): JsonObject {
  const merged = { ...base };
  for (const [key, value] of Object.entries(layer)) {
    const before = base[key];
    if (value === undefined) continue;
    if (isTop && key === "defaultTools") merged[key] = selectNames(before as string[], value as string[]);
    else if (isTop && (joinedSettings as string[]).includes(key))
      merged[key] = [...(before as unknown[]), ...(value as unknown[])];
    else merged[key] = isObject(value) ? merge(isObject(before) ? before : {}, value, false) : value;
  }
  return merged;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

/** Sets the member at `path`, making objects on the way; undefined removes it. */
function assign(target: JsonObject, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length > 0) {
    if (!isObject(target[key])) {
      if (value === undefined) return;
      target[key] = {};
    }
    assign(target[key] as JsonObject, rest, value);
  } else if (value === undefined) delete target[key];
  else target[key] = value;
}
