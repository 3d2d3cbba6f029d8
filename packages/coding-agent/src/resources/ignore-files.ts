// The ignore files of folders that are walked: `.gitignore`, `.ignore` and `.fdignore`, inner ones winning.

import { relative } from "node:path";
import { ignoreLibrary } from "../lib/ignore-library.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import type { FolderEntry } from "./folder.js";

const names = new Set([".gitignore", ".ignore", ".fdignore"]);

interface Rules {
  folder: string;
  test: (path: string) => { ignored: boolean; unignored: boolean };
}

/** The rules in force in a folder, outermost first. */
export type IgnoreRules = readonly Rules[];

/** The rules of the folders above with those that `entries`, the content of `folder`, bring. */
export function withIgnoreFiles(outer: IgnoreRules, folder: string, entries: readonly FolderEntry[]): IgnoreRules {
  const files = entries.filter(({ name, kind }) => kind === "file" && names.has(name));
  if (files.length === 0) return outer;
  const matcher = ignoreLibrary()();
  for (const { path } of files) {
    try {
      matcher.add(readRegularFile(path).toString("utf8"));
    } catch {
      // A file that cannot be read ignores nothing.
    }
  }
  return [...outer, { folder, test: (path) => matcher.test(path) }];
}

/** The rules that count below a folder that is walked: those that ignore it have been overruled by inner ones. */
export function rulesBelow(rules: IgnoreRules, folder: string): IgnoreRules {
  return rules.filter((rule) => !rule.test(`${relative(rule.folder, folder)}/`).ignored);
}

/** Whether the innermost rule that says something about an entry says to ignore it. */
export function isIgnored(rules: IgnoreRules, { path, kind }: FolderEntry): boolean {
  for (const { folder, test } of [...rules].reverse()) {
    const { ignored, unignored } = test(`${relative(folder, path)}${kind === "folder" ? "/" : ""}`);
    if (ignored || unignored) return ignored;
  }
  return false;
}
