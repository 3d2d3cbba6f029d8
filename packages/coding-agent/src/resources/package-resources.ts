// What one package brings: by its manifest, by its folders' names, or as the single file it is, narrowed by the settings.

import { dirname, join } from "node:path";
import { kindOf } from "./folder.js";
import { manifestEntries, readManifest, readPackageFile } from "./manifest.js";
import { anyExact, pathFilter, readPathList, selectFiles } from "./path-patterns.js";
import { entryFilesOf, filesIn, type ResourceKind, resourceKinds } from "./resource-kinds.js";
import type { PackageEntry } from "./settings.js";

export type FilesByKind = Record<ResourceKind, string[]>;

export interface PackageContent {
  /** The folder that patterns and `baseDir` are relative to. */
  baseDir: string;
  files: FilesByKind;
  /** Plain paths of the manifest where nothing is. */
  missing: string[];
}

const nothing = (): FilesByKind => ({ extensions: [], skills: [], prompts: [] });

/** Undefined when nothing is there. A file is one extension. */
export async function readPackage(root: string): Promise<PackageContent | undefined> {
  const kind = kindOf(root);
  if (kind === undefined) return undefined;
  const content: PackageContent = { baseDir: root, files: nothing(), missing: [] };
  if (kind === "file") return { ...content, baseDir: dirname(root), files: { ...content.files, extensions: [root] } };
  const manifest = readManifest(root);
  for (const name of resourceKinds) {
    if (!manifest) content.files[name] = await filesIn(name, join(root, name));
    else {
      const { files, missing } = await manifestEntries(name, root, manifest.resources[name] ?? []);
      content.files[name] = files;
      content.missing.push(...missing);
    }
  }
  return content;
}

/**
 * What a file or folder named on the command line brings; beyond what a package does, a folder may be one extension by its
 * index file or the `main` of its package.json. Undefined when there is nothing to load.
 */
export async function readNamedPackage(root: string): Promise<PackageContent | undefined> {
  const content = await readPackage(root);
  if (!content || resourceKinds.some((kind) => content.files[kind].length > 0)) return content;
  if (readManifest(root)) return undefined;
  const main = readPackageFile(root)?.main;
  const entries = (await entryFilesOf(root)) ?? (main === undefined ? [] : [join(root, main)]);
  const extensions = entries.filter((path) => kindOf(path) === "file");
  return extensions.length > 0 ? { ...content, files: { ...content.files, extensions } } : undefined;
}

/** What of a package an entry of the settings lets through. */
export async function narrowPackage(content: PackageContent, entry: PackageEntry): Promise<FilesByKind> {
  if (typeof entry === "string") return content.files;
  const all = entry.autoload !== false;
  const files = nothing();
  for (const kind of resourceKinds) {
    const list = entry[kind];
    if (list === undefined) files[kind] = all ? content.files[kind] : [];
    else if (list.length > 0) files[kind] = await selectFiles(content.files[kind], list, content.baseDir, { all });
  }
  return files;
}

/** A project's entry with `autoload: false` changes what the user's entry lets through instead of replacing it. */
export async function changeSelection(
  content: PackageContent,
  selected: FilesByKind,
  change: PackageEntry,
): Promise<FilesByKind> {
  if (typeof change === "string") return selected;
  const files = nothing();
  for (const kind of resourceKinds) {
    const entries = change[kind];
    if (entries === undefined) files[kind] = selected[kind];
    else if (entries.length > 0) {
      const list = readPathList(entries);
      const passes = await pathFilter(list, content.baseDir);
      const named = await selectFiles(content.files[kind], list.named, content.baseDir, { all: false });
      const isAdded = anyExact(list.added, content.baseDir);
      files[kind] = content.files[kind].filter(
        (file) => (selected[kind].includes(file) || named.includes(file) || isAdded(file)) && passes(file),
      );
    }
  }
  return files;
}
