// The manifest of a package: the member `pi` of its package.json, and the files it names.

import { join } from "node:path";
import type { Static } from "typebox";
import * as Type from "typebox";
import { checkValue } from "../lib/check-value.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import { kindOf } from "./folder.js";
import { resolveHome } from "./locations.js";
import { expandGlob, isGlob, pathFilter, readPathList } from "./path-patterns.js";
import { filesAt, type ResourceKind } from "./resource-kinds.js";

const paths = Type.Optional(Type.Array(Type.String()));

/** What this program reads of a package.json. */
const PackageFile = Type.Object({
  version: Type.Optional(Type.String()),
  main: Type.Optional(Type.String()),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  pi: Type.Optional(Type.Object({ extensions: paths, skills: paths, prompts: paths, themes: paths })),
});
export type PackageFile = Static<typeof PackageFile>;

/** Undefined when there is no package.json, or none that can be used. */
export function readPackageFile(folder: string): PackageFile | undefined {
  let value: unknown;
  try {
    value = JSON.parse(
      readRegularFile(join(folder, "package.json"))
        .toString("utf8")
        .replace(/^\uFEFF/, ""),
    );
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const file = { ...value } as Record<string, unknown>;
  // A member that is wrong is left out alone: most of a package.json is not ours.
  for (const { path } of checkValue(PackageFile, value)) delete file[String(path[0])];
  return file as PackageFile;
}

/** The manifest of a package; undefined when it has none, and its folders are looked at by their names. */
export function readManifest(folder: string): { resources: NonNullable<PackageFile["pi"]> } | undefined {
  const resources = readPackageFile(folder)?.pi;
  return resources && { resources };
}

/** The files the entries of a manifest name, in the order of the entries, and the plain paths where nothing is. */
export async function manifestEntries(
  kind: ResourceKind,
  root: string,
  entries: readonly string[],
): Promise<{ files: string[]; missing: string[] }> {
  const list = readPathList(entries);
  const missing: string[] = [];
  const files = new Set<string>();
  for (const entry of list.named) {
    const targets = isGlob(entry) ? await expandGlob(entry, root) : [resolveHome(root, entry)];
    for (const target of targets) for (const file of (await filesAt(kind, target)) ?? []) files.add(file);
    if (!isGlob(entry) && !kindOf(targets[0] as string)) missing.push(entry);
  }
  const passes = await pathFilter(list, root);
  return { files: [...files].filter(passes), missing };
}
