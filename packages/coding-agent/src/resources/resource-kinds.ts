// The kinds of resources that files bring, and which files of a folder are such resources.

import { basename, join } from "node:path";
import { kindOf, listFolder, realPathOf } from "./folder.js";
import { type IgnoreRules, isIgnored, rulesBelow, withIgnoreFiles } from "./ignore-files.js";
import { manifestEntries, readManifest } from "./manifest.js";

export const resourceKinds = ["extensions", "skills", "prompts"] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface FolderRules {
  /** Markdown files directly in a folder of skills are skills too. Default true. */
  looseSkills?: boolean;
  /** Prompt templates of folders further down count too. Default true. */
  deepPrompts?: boolean;
}

const extensionNames = /(?<!\.d)\.[jt]s$/;
/** What may be named as the file of an extension; more than is looked for in folders. */
const loadableExtension = /\.[cm]?[jt]sx?$/;

/** The resources in a folder that holds resources of one kind, in order of their names; empty when there is no folder. */
export async function filesIn(kind: ResourceKind, folder: string, rules: FolderRules = {}): Promise<string[]> {
  if (kind === "extensions") return extensionFilesIn(folder);
  if (kind === "prompts") return promptFilesIn(folder, rules.deepPrompts ?? true, new Set());
  return skillFiles(folder, rules);
}

/** The files of skills below a folder, at once; Markdown files directly in it among them unless `looseSkills` is false. */
export function skillFiles(folder: string, { looseSkills = true }: Pick<FolderRules, "looseSkills"> = {}): string[] {
  return skillFilesIn(folder, { loose: looseSkills, rules: [], seen: new Set() });
}

/**
 * The resources a path stands for that somebody named: the file itself, or what the folder holds. Undefined when nothing is
 * there, or a file that cannot be such a resource.
 */
export async function filesAt(kind: ResourceKind, path: string, rules?: FolderRules): Promise<string[] | undefined> {
  const found = kindOf(path);
  if (found === "folder") return kind === "extensions" ? extensionsOfFolder(path) : filesIn(kind, path, rules);
  if (found === undefined) return undefined;
  return (kind === "extensions" ? loadableExtension : /\.md$/i).test(basename(path)) ? [path] : undefined;
}

/** A folder somebody named is one extension (by its manifest or index file), or holds several. */
async function extensionsOfFolder(folder: string): Promise<string[]> {
  return (await entryFilesOf(folder)) ?? extensionFilesIn(folder);
}

/** The entry files of a folder that is one extension; undefined when it is none. */
export async function entryFilesOf(folder: string): Promise<string[] | undefined> {
  const declared = readManifest(folder)?.resources.extensions;
  if (declared) return (await manifestEntries("extensions", folder, declared)).files;
  const index = ["index.ts", "index.js"].map((name) => join(folder, name)).find((path) => kindOf(path) === "file");
  return index ? [index] : undefined;
}

/** One level deep: files, and folders that are one extension. */
async function extensionFilesIn(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of listFolder(folder)) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.kind === "folder") files.push(...((await entryFilesOf(entry.path)) ?? []));
    else if (extensionNames.test(entry.name)) files.push(entry.path);
  }
  return files;
}

function promptFilesIn(folder: string, deep: boolean, seen: Set<string>): string[] {
  if (deep && !isNew(folder, seen)) return [];
  return listFolder(folder).flatMap(({ name, path, kind }) => {
    if (kind === "file") return /\.md$/i.test(name) ? [path] : [];
    return deep && isWalked(name) ? promptFilesIn(path, true, seen) : [];
  });
}

/** Down to the first `SKILL.md`: what lies below it belongs to that skill. */
function skillFilesIn(folder: string, walk: { loose: boolean; rules: IgnoreRules; seen: Set<string> }): string[] {
  const entries = listFolder(folder);
  if (entries.length === 0 || !isNew(folder, walk.seen)) return [];
  const rules = withIgnoreFiles(walk.rules, folder, entries);
  const own = entries.find(({ name, kind }) => name === "SKILL.md" && kind === "file");
  if (own) return isIgnored(rules, own) ? [] : [own.path];
  return entries.flatMap((entry) => {
    if (!isWalked(entry.name) || isIgnored(rules, entry)) return [];
    if (entry.kind === "folder")
      return skillFilesIn(entry.path, { loose: false, rules: rulesBelow(rules, entry.path), seen: walk.seen });
    return walk.loose && /\.md$/i.test(entry.name) ? [entry.path] : [];
  });
}

function isWalked(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules";
}

/** Links may lead in circles. */
function isNew(folder: string, seen: Set<string>): boolean {
  const real = realPathOf(folder);
  if (seen.has(real)) return false;
  seen.add(real);
  return true;
}
