// The packages that settings files name: how their sources are written there, which are the same, and changes to the lists.

import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { expandHome } from "../../lib/agent-directory.js";
import { checkValue } from "../../lib/check-value.js";
import { makeFolders } from "../../lib/make-folders.js";
import { kindOf } from "../folder.js";
import { type JsonObject, readJsonFile } from "../json-file.js";
import { type PackageEntry, Settings } from "../settings.js";
import { type PackageScope, scopeDirectory } from "./locations.js";
import { identityOf, parseSource } from "./source.js";

/** Whose settings name a package. */
export type SettingsScope = Exclude<PackageScope, "temporary">;

export function sourceOf(entry: PackageEntry): string {
  return typeof entry === "string" ? entry : entry.source;
}

/** The lists of the user and of one project. They are read from the files at every call, and changed under a lock. */
export class PackageSettings {
  readonly #place: { cwd: string; agentDir: string };

  constructor(place: { cwd: string; agentDir: string }) {
    this.#place = place;
  }

  pathOf(scope: SettingsScope): string {
    return join(scopeDirectory(scope, this.#place), "settings.json");
  }

  /** A source as it stands in the settings: a local path relative to the file. Throws for one that is written wrongly. */
  asStored(given: string, scope: SettingsScope): string {
    const source = parseSource(given);
    if (source.type !== "local") return given.trim();
    const path = expandHome(source.path);
    if (isAbsolute(path)) return path;
    const stored = relative(scopeDirectory(scope, this.#place), resolve(this.#place.cwd, path));
    return stored.startsWith(".") ? stored : `./${stored}`;
  }

  /** Whether two sources, as they are stored, name one package, in whatever version. */
  isSame(one: string, other: string, scope: SettingsScope): boolean {
    return this.#identity(one, scope) === this.#identity(other, scope);
  }

  /** What the file says, also of a project that is not trusted. Throws when the file or its list is broken. */
  entries(scope: SettingsScope): readonly PackageEntry[] {
    const file = readJsonFile(this.pathOf(scope), "settings");
    const [fault] = file.diagnostics;
    if (fault) throw new Error(`Cannot change "${file.path}": ${fault.message}`);
    return listOf(file.value?.packages);
  }

  /** The entry of a stored source. Throws like `entries`. */
  find(stored: string, scope: SettingsScope): PackageEntry | undefined {
    return this.entries(scope).find((entry) => this.isSame(sourceOf(entry), stored, scope));
  }

  /**
   * Writes a stored source down; in place of another version of the package, of which what was chosen stays chosen. False
   * when it was there like this. Rejects, leaving the file as it is, when it is broken.
   */
  async add(stored: string, scope: SettingsScope): Promise<boolean> {
    return this.#change(scope, (entries) => {
      const at = entries.findIndex((entry) => this.isSame(sourceOf(entry), stored, scope));
      const before = entries[at];
      if (before === undefined) return [...entries, stored];
      if (sourceOf(before) === stored) return undefined;
      const entry = typeof before === "object" ? { ...before, source: stored } : stored;
      return entries.map((other, index) => (index === at ? entry : other));
    });
  }

  /** False when it was not there. Rejects like `add`. */
  async remove(stored: string, scope: SettingsScope): Promise<boolean> {
    return this.#change(scope, (entries) => {
      const left = entries.filter((entry) => !this.isSame(sourceOf(entry), stored, scope));
      return left.length < entries.length ? left : undefined;
    });
  }

  /** A source that is written wrongly is only itself. */
  #identity(source: string, scope: SettingsScope): string {
    try {
      return identityOf(parseSource(source), scopeDirectory(scope, this.#place));
    } catch {
      return source;
    }
  }

  async #change(
    scope: SettingsScope,
    change: (entries: readonly PackageEntry[]) => PackageEntry[] | undefined,
  ): Promise<boolean> {
    // Before its folder is made; and nothing is written where nothing changes.
    if (!change(this.entries(scope))) return false;
    // Loaded when something is saved: saves their 10 ms at start.
    const { updateJsonFile } = await import("../update-json-file.js");
    const path = this.pathOf(scope);
    // A project's file is for everybody who works on it.
    const isNewProject = scope === "project" && kindOf(path) === undefined;
    if (isNewProject) makeFolders(dirname(path));
    let isChanged = false;
    const apply = (file: JsonObject) => {
      const changed = change(listOf(file.packages));
      isChanged = changed !== undefined;
      if (changed) file.packages = changed;
    };
    await updateJsonFile(path, "settings", apply, isNewProject ? { mode: 0o644 } : {});
    return isChanged;
  }
}

/** Throws when the settings hold something else than a list of packages: it would not be used, and not be kept either. */
function listOf(value: unknown): PackageEntry[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('Cannot change the settings: "packages" must be a list');
  const [problem] = checkValue(Settings, { packages: value }, { partial: true });
  if (problem) throw new Error(`Cannot change the settings: "${problem.path.join(".")}" ${problem.expected}`);
  return value as PackageEntry[];
}
