// Packages as programs manage them: installed and written down, removed, updated, listed, and what they bring.

import { textOf } from "../lib/error-text.js";
import { isOffline } from "../resources/discover-options.js";
import { discoverResources } from "../resources/discovery.js";
import { kindOf } from "../resources/folder.js";
import type { FoundFile } from "../resources/found-file.js";
import { agentDirectory } from "../resources/locations.js";
import { needsInstall } from "../resources/packages/installed.js";
import { packageRoot } from "../resources/packages/locations.js";
import { PackageSettings, type SettingsScope as Scope, sourceOf } from "../resources/packages/package-settings.js";
import type { PackageStore } from "../resources/packages/package-store.js";
import { parseSource } from "../resources/packages/source.js";
import type { PackageEntry } from "../resources/settings.js";
import type { SettingsManager } from "../resources/settings-manager.js";

/** Absent or false: for the user; true: for the project. */
interface ScopeOption {
  local?: boolean;
}

export interface ProgressEvent {
  type: "start" | "complete" | "error";
  action: "install" | "remove" | "update";
  source: string;
  message?: string;
}

export interface ConfiguredPackage {
  source: string;
  scope: Scope;
  /** The settings choose among what the package brings. */
  filtered: boolean;
  /** Its folder; absent when it is not installed. */
  installedPath?: string;
}

export interface ResolvedResource {
  path: string;
  enabled: boolean;
  metadata: Omit<FoundFile["sourceInfo"], "path">;
}

export class DefaultPackageManager {
  readonly #place: { cwd: string; agentDir: string };
  readonly #packages: PackageSettings;
  readonly #settings: SettingsManager;
  #progress: ((event: ProgressEvent) => void) | undefined;

  constructor(options: { cwd: string; agentDir?: string; settingsManager: SettingsManager }) {
    this.#place = { cwd: options.cwd, agentDir: options.agentDir ?? agentDirectory() };
    this.#packages = new PackageSettings(this.#place);
    this.#settings = options.settingsManager;
  }

  setProgressCallback(report: ((event: ProgressEvent) => void) | undefined): void {
    this.#progress = report;
  }

  /** What the settings name, the user's first; a project's only where it is trusted. */
  listConfiguredPackages(): ConfiguredPackage[] {
    return (["user", "project"] as const).flatMap((scope) =>
      this.#entries(scope).map((entry) => {
        const source = sourceOf(entry);
        const installedPath = this.getInstalledPath(source, scope);
        return { source, scope, filtered: typeof entry === "object", ...(installedPath && { installedPath }) };
      }),
    );
  }

  /** The folder a package is used from; undefined when it is not installed, or its source is written wrongly. */
  getInstalledPath(source: string, scope: Scope): string | undefined {
    try {
      const parsed = parseSource(source);
      const root = packageRoot(parsed, scope, this.#place);
      return needsInstall(parsed, root) || kindOf(root) === undefined ? undefined : root;
    } catch {
      return undefined;
    }
  }

  /** Everything that would be loaded in the directory; packages that are missing are installed, unless `PI_OFFLINE` is set. */
  async resolve(): Promise<Record<"extensions" | "skills" | "prompts" | "themes", ResolvedResource[]>> {
    const none = { extensions: [], skills: [], prompts: [] };
    const found = await discoverResources({
      ...this.#place,
      isTrusted: this.#settings.isProjectTrusted(),
      settings: this.#settings,
      commandLine: none,
      off: { extensions: false, skills: false, prompts: false },
      isOffline: isOffline(process.env),
      env: process.env,
    });
    const of = ({ path, ...metadata }: FoundFile["sourceInfo"], file: string) => ({
      path: file,
      enabled: true,
      metadata,
    });
    return {
      extensions: found.extensions.map(({ path, sourceInfo }) => of(sourceInfo, path)),
      skills: found.skills.map(({ filePath, sourceInfo }) => of(sourceInfo, filePath)),
      prompts: found.prompts.map(({ filePath, sourceInfo }) => of(sourceInfo, filePath)),
      themes: [],
    };
  }

  /** Rejects, leaving what was there, when it cannot be done. */
  async install(source: string, { local = false }: ScopeOption = {}): Promise<void> {
    const scope = local ? "project" : "user";
    await this.#tell("install", source, async () =>
      (await this.#store()).install(this.#packages.asStored(source, scope), scope),
    );
  }

  async installAndPersist(source: string, options: ScopeOption = {}): Promise<void> {
    // Before anything is installed that could not be written down.
    this.#packages.entries(options.local ? "project" : "user");
    await this.install(source, options);
    await this.addSourceToSettings(source, options);
  }

  async remove(source: string, { local = false }: ScopeOption = {}): Promise<void> {
    const scope = local ? "project" : "user";
    await this.#tell("remove", source, async () =>
      (await this.#store()).remove(this.#packages.asStored(source, scope), scope),
    );
  }

  /** False when the settings did not name it. */
  async removeAndPersist(source: string, options: ScopeOption = {}): Promise<boolean> {
    this.#packages.entries(options.local ? "project" : "user");
    await this.remove(source, options);
    return this.removeSourceFromSettings(source, options);
  }

  /** All packages the settings name, or one. Rejects for the first that cannot be updated. */
  async update(source?: string): Promise<void> {
    const store = await this.#store();
    for (const scope of ["user", "project"] as const)
      for (const entry of this.#entries(scope)) {
        const own = sourceOf(entry);
        if (source !== undefined && !this.#packages.isSame(own, this.#packages.asStored(source, scope), scope))
          continue;
        await this.#tell("update", own, () => store.update(own, scope));
      }
  }

  /** False when it is there already; another version of the package is replaced. Rejects when the settings are broken. */
  async addSourceToSettings(source: string, { local = false }: ScopeOption = {}): Promise<boolean> {
    const scope = local ? "project" : "user";
    return this.#changed(await this.#packages.add(this.#packages.asStored(source, scope), scope));
  }

  /** False when it was not there. Rejects when the settings are broken. */
  async removeSourceFromSettings(source: string, { local = false }: ScopeOption = {}): Promise<boolean> {
    const scope = local ? "project" : "user";
    return this.#changed(await this.#packages.remove(this.#packages.asStored(source, scope), scope));
  }

  #changed(isChanged: boolean): boolean {
    if (isChanged) this.#settings.reload();
    return isChanged;
  }

  #entries(scope: Scope): readonly PackageEntry[] {
    const { userSettings, projectSettings } = this.#settings;
    const { packages } = scope === "user" ? userSettings : projectSettings;
    return (packages as readonly PackageEntry[] | undefined) ?? [];
  }

  async #store(): Promise<PackageStore> {
    // Loaded when packages are changed: saves its lock and its programs otherwise.
    const { PackageStore } = await import("../resources/packages/package-store.js");
    return new PackageStore({ ...this.#place, npmCommand: this.#settings.settings.npmCommand, env: process.env });
  }

  async #tell(action: ProgressEvent["action"], source: string, work: () => Promise<unknown>): Promise<void> {
    this.#progress?.({ type: "start", action, source });
    try {
      await work();
    } catch (error) {
      const message = textOf(error);
      this.#progress?.({ type: "error", action, source, message });
      throw error;
    }
    this.#progress?.({ type: "complete", action, source });
  }
}
