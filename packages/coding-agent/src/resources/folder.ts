// Looks at folders: what is in them, in a fixed order, links followed.

import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

export interface FolderEntry {
  name: string;
  path: string;
  kind: "file" | "folder";
}

/** What is at a path, links followed; undefined for nothing, pipes and devices. */
export function kindOf(path: string): FolderEntry["kind"] | undefined {
  try {
    const status = statSync(path);
    return status.isDirectory() ? "folder" : status.isFile() ? "file" : undefined;
  } catch {
    return undefined;
  }
}

/** The files and folders of a folder, by name; empty when there is none or it cannot be read. */
export function listFolder(path: string): FolderEntry[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const at = join(path, entry.name);
    const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : kindOf(at);
    return kind ? [{ name: entry.name, path: at, kind }] : [];
  });
}

/** The path without links; the path itself when nothing is there. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
