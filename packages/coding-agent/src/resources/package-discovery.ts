// The resources of the packages that are named in the settings of the project and of the user.

import type { Diagnostic } from "./diagnostic.js";
import type { Candidates, DiscoverOptions } from "./discover-options.js";
import { changeSelection, narrowPackage, readPackage } from "./package-resources.js";
import { needsInstall, notInstalledText } from "./packages/installed.js";
import { packageRoot, scopeDirectory } from "./packages/locations.js";
import { sourceOf } from "./packages/package-settings.js";
import { hideCredentials, identityOf, type PackageSource, parseSource } from "./packages/source.js";
import { resourceKinds } from "./resource-kinds.js";
import type { PackageEntry } from "./settings.js";

/** One package to be loaded: the entry that counts, and the project's change to a user's entry. */
interface ChosenPackage {
  scope: "user" | "project";
  source: PackageSource;
  entry: PackageEntry;
  change?: PackageEntry;
}

/** The project's packages, then the user's. One that cannot be used is a diagnostic. */
export async function packageFiles(options: DiscoverOptions, diagnostics: Diagnostic[]): Promise<Candidates> {
  const found: Candidates = { extensions: [], skills: [], prompts: [] };
  for (const chosen of choosePackages(options, diagnostics)) {
    const shown = hideCredentials(sourceOf(chosen.entry));
    const warn = (message: string) => void diagnostics.push({ severity: "warning", source: "packages", message });
    const root = packageRoot(chosen.source, chosen.scope, options);
    if (needsInstall(chosen.source, root)) {
      const problem = await install(chosen, options);
      if (problem !== undefined) warn(`Cannot use the package "${shown}": ${problem}`);
    }
    const content = await readPackage(root);
    if (!content) {
      if (chosen.source.type === "local") warn(`Cannot use the package "${shown}": nothing is at "${root}"`);
      continue;
    }
    for (const path of content.missing) warn(`The package "${shown}" names "${path}", which is not there`);
    let files = await narrowPackage(content, chosen.entry);
    if (chosen.change) files = await changeSelection(content, files, chosen.change);
    for (const kind of resourceKinds)
      for (const path of files[kind])
        found[kind].push({
          path,
          sourceInfo: { path, source: shown, scope: chosen.scope, origin: "package", baseDir: content.baseDir },
        });
  }
  return found;
}

/** A project's entry replaces the user's for the same package, or changes it when it says `autoload: false`. */
function choosePackages(options: DiscoverOptions, diagnostics: Diagnostic[]): ChosenPackage[] {
  const { settings } = options;
  const chosen = new Map<string, ChosenPackage>();
  const changes = new Map<string, PackageEntry>();
  const user = read("user", settings.userSettings.packages, options, diagnostics);
  const ofUser = new Set(user.map(({ identity }) => identity));
  for (const { identity, ...candidate } of read("project", settings.projectSettings.packages, options, diagnostics)) {
    const isChange = typeof candidate.entry === "object" && candidate.entry.autoload === false;
    if (isChange && ofUser.has(identity)) changes.set(identity, candidate.entry);
    else if (!chosen.has(identity)) chosen.set(identity, candidate);
  }
  for (const { identity, ...candidate } of user) {
    const change = changes.get(identity);
    if (!chosen.has(identity)) chosen.set(identity, { ...candidate, ...(change && { change }) });
  }
  return [...chosen.values()];
}

function read(
  scope: "user" | "project",
  written: unknown,
  options: DiscoverOptions,
  diagnostics: Diagnostic[],
): (ChosenPackage & { identity: string })[] {
  return ((written as readonly PackageEntry[] | undefined) ?? []).flatMap((entry) => {
    try {
      const source = parseSource(sourceOf(entry));
      return [{ scope, source, entry, identity: identityOf(source, scopeDirectory(scope, options)) }];
    } catch (error) {
      diagnostics.push({ severity: "warning", source: "packages", message: (error as Error).message });
      return [];
    }
  });
}

/** Why a package could not be installed; undefined when it was. */
async function install({ scope, source, entry }: ChosenPackage, options: DiscoverOptions): Promise<string | undefined> {
  if (source.type === "local") return undefined;
  if (options.isOffline) return notInstalledText;
  try {
    // Loaded when a package is missing: saves npm's and git's part of the program at every other start.
    const { PackageStore } = await import("./packages/package-store.js");
    const store = new PackageStore({ ...options, npmCommand: options.settings.settings.npmCommand });
    await store.install(sourceOf(entry), scope);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
