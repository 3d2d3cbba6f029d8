// Resolves the paths models write: relative to the working directory, with `~`, with an `@` in front.

import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { refuseNul } from "../lib/nul-character.js";

/** The absolute path of what a model wrote. Throws when it holds a NUL character. */
export function resolvePath(path: string, cwd: string): string {
  refuseNul(path, "Cannot use path", "a path");
  const plain = path.startsWith("@") && !startsWithExisting(path, cwd) ? path.slice(1) : path;
  if (plain === "~" || plain.startsWith("~/")) return join(homedir(), plain.slice(1));
  return resolve(cwd, plain);
}

/**
 * Like `resolvePath`, for a file that should be there: when it is not, the spellings that file systems use for its name are
 * tried (decomposed accents, narrow spaces and curly apostrophes of screenshots).
 */
export function resolveExistingPath(path: string, cwd: string): string {
  const resolved = resolvePath(path, cwd);
  const spellings = [
    resolved,
    resolved.normalize("NFD"),
    resolved.normalize("NFC"),
    resolved.replace(/ (?=[AP]M\.)/g, "\u202f"),
    resolved.replaceAll("'", "\u2019"),
  ];
  for (const spelling of new Set(spellings)) if (existsSync(spelling)) return spelling;
  return resolved;
}

/** The file a path stands for in the end, so that two names of one file compare equal; it need not exist. */
export function canonicalPath(path: string): string {
  let current = resolve(path);
  for (let depth = 0; depth < 40; depth++) {
    try {
      return realpathSync(current);
    } catch {
      const link = readLink(current);
      if (link === undefined) return join(canonicalFolder(dirname(current)), basename(current));
      current = resolve(dirname(current), link);
    }
  }
  return current;
}

function canonicalFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return dirname(folder) === folder ? folder : join(canonicalFolder(dirname(folder)), basename(folder));
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // no link, or nothing at all
  }
}

// `@scope/name` is a folder's own name in node_modules.
function startsWithExisting(path: string, cwd: string): boolean {
  return existsSync(resolve(cwd, path.split("/")[0]!));
}
