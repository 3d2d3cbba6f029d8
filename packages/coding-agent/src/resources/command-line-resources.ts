// The resources the command line names for this process.

import { dirname } from "node:path";
import type { Diagnostic } from "./diagnostic.js";
import { type Candidates, type DiscoverOptions, notThere } from "./discover-options.js";
import { kindOf } from "./folder.js";
import type { FoundFile } from "./found-file.js";
import { resolveHome } from "./locations.js";
import { readNamedPackage } from "./package-resources.js";
import { hideCredentials, isRemote } from "./packages/source.js";
import { filesAt, resourceKinds } from "./resource-kinds.js";

/** What each `-e` brings, in order. Throws, naming it, when one brings nothing. */
export async function commandLinePackages(options: DiscoverOptions): Promise<Candidates> {
  const found: Candidates = { extensions: [], skills: [], prompts: [] };
  for (const named of new Set(options.commandLine.extensions)) {
    const shown = hideCredentials(named);
    if (named.startsWith("builtin:"))
      throw new Error(`Cannot load the extension "${shown}": there are no built-in extensions`);
    const root = isRemote(named) ? await fetchPackage(named, options) : resolveHome(options.cwd, named);
    if (kindOf(root) === undefined) throw new Error(`Cannot load the extension "${shown}": nothing is at "${root}"`);
    const content = await readNamedPackage(root);
    if (!content)
      throw new Error(
        `Cannot load the extension "${shown}": the folder has no manifest, no folder of resources and no index file`,
      );
    for (const kind of resourceKinds)
      for (const path of content.files[kind])
        found[kind].push({ path, sourceInfo: { path, source: "cli", scope: "temporary", origin: "top-level" } });
  }
  return found;
}

/** What `--skill` and `--prompt-template` name. */
export async function commandLineFiles(
  options: DiscoverOptions,
  diagnostics: Diagnostic[],
): Promise<Partial<Candidates>> {
  const collect = async (kind: "skills" | "prompts"): Promise<FoundFile[]> => {
    const files: FoundFile[] = [];
    for (const named of options.commandLine[kind]) {
      const target = resolveHome(options.cwd, named);
      const at = await filesAt(kind, target, { deepPrompts: false });
      if (!at || at.length === 0) diagnostics.push({ ...notThere(kind, target), severity: "error" });
      for (const path of at ?? [])
        files.push({
          path,
          sourceInfo: { path, source: "local", scope: "temporary", origin: "top-level", baseDir: dirname(path) },
        });
    }
    return files;
  };
  return { skills: await collect("skills"), prompts: await collect("prompts") };
}

/** A copy that was fetched before is used as it is. */
async function fetchPackage(named: string, options: DiscoverOptions): Promise<string> {
  // Loaded when a package has to be fetched: saves npm's and git's part of the program at every other start.
  const { PackageStore } = await import("./packages/package-store.js");
  const store = new PackageStore({ ...options, npmCommand: options.settings.settings.npmCommand });
  return store.ensure(named, "temporary", { isOffline: options.isOffline ?? false }).catch((error: Error) => {
    throw new Error(`Cannot load the extension "${hideCredentials(named)}": ${error.message}`);
  });
}
