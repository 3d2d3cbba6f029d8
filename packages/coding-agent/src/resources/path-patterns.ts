// Lists of paths in settings and manifests: plain paths, globs, `!glob` to exclude, `+path` and `-path` for single ones.

import { basename, dirname, join } from "node:path";
import { expandHome } from "../lib/agent-directory.js";
import { listFolder, realPathOf } from "./folder.js";
import { resolveHome } from "./locations.js";

export interface PathList {
  /** Paths and globs without a mark. */
  named: string[];
  excluded: string[];
  added: string[];
  removed: string[];
}

/** The list taken apart; names of built-in extensions, of which there are none, are left out. */
export function readPathList(list: readonly string[]): PathList {
  const parts: PathList = { named: [], excluded: [], added: [], removed: [] };
  for (const entry of list) {
    const [mark, rest] = [entry[0], entry.slice(1)];
    const [into, pattern] =
      mark === "!"
        ? [parts.excluded, rest]
        : mark === "+"
          ? [parts.added, rest]
          : mark === "-"
            ? [parts.removed, rest]
            : [parts.named, entry];
    if (pattern !== "" && !pattern.startsWith("builtin:")) into.push(pattern);
  }
  return parts;
}

export function isGlob(pattern: string): boolean {
  return /[*?[\]{}]/.test(pattern);
}

type Matcher = (file: string) => boolean;

/** Whether a file passes a list: excluded ones do not, `+path` brings them back, `-path` has the last word. */
export async function pathFilter(list: PathList, base: string): Promise<Matcher> {
  const isExcluded = await anyPattern(list.excluded, base);
  const isAdded = anyExact(list.added, base);
  const isRemoved = anyExact(list.removed, base);
  return (file) => (isAdded(file) || !isExcluded(file)) && !isRemoved(file);
}

/** The files a list selects of those on offer. `all`: without a plain name everything is selected to begin with. */
export async function selectFiles(
  files: readonly string[],
  entries: readonly string[],
  base: string,
  options: { all: boolean },
): Promise<string[]> {
  const list = readPathList(entries);
  const passes = await pathFilter(list, base);
  const isNamed = await anyPattern(list.named, base, { below: true });
  const isAdded = anyExact(list.added, base);
  const narrows = list.named.length > 0 || !options.all;
  return files.filter((file) => (!narrows || isNamed(file) || isAdded(file)) && passes(file));
}

/** True for files at one of the paths; a skill is meant by its folder, too. */
export function anyExact(paths: readonly string[], base: string): Matcher {
  const wanted = new Set(paths.map((path) => resolveHome(base, path)));
  return (file) => namesOf(file).some((name) => wanted.has(name));
}

/** Plain paths and globs; a pattern without a slash is for names as well. `below`: a folder stands for what is in it. */
export async function anyPattern(
  patterns: readonly string[],
  base: string,
  options: { below?: boolean } = {},
): Promise<Matcher> {
  const matchers: Matcher[] = [];
  for (const pattern of patterns) {
    const isName = !pattern.includes("/");
    if (isGlob(pattern)) {
      const matches = await globMatcher(pattern, base);
      const matchesName = isName ? await globMatcher(`**/${pattern}`, base) : () => false;
      matchers.push((path) => matches(path) || matchesName(path));
    } else {
      const path = resolveHome(base, pattern);
      matchers.push(
        (file) =>
          file === path || (isName && basename(file) === pattern) || (options.below === true && isBelow(file, path)),
      );
    }
  }
  return (file) => namesOf(file).some((name) => matchers.some((matches) => matches(name)));
}

/** The files and folders a glob matches, in order of their names. Hidden ones and `node_modules` are passed over. */
export async function expandGlob(pattern: string, base: string): Promise<string[]> {
  const matches = await globMatcher(pattern, base);
  const steps = pattern.split("/");
  const start = resolveHome(
    base,
    steps.slice(0, steps.findIndex(isGlob)).join("/") || (pattern[0] === "/" ? "/" : "."),
  );
  const found: string[] = [];
  const seen = new Set<string>();
  const walk = (folder: string) => {
    for (const { name, path, kind } of listFolder(folder)) {
      if (name.startsWith(".") || name === "node_modules") continue;
      if (matches(path)) found.push(path);
      if (kind !== "folder") continue;
      const real = realPathOf(path);
      if (seen.has(real)) continue;
      seen.add(real); // links may lead in circles
      walk(path);
    }
  };
  walk(start);
  return found;
}

/** For absolute paths. A pattern that begins with `**` matches anywhere, also above `base`. */
async function globMatcher(pattern: string, base: string): Promise<Matcher> {
  // Loaded with the first glob: saves 4 ms at a start without one.
  const { default: picomatch } = await import("picomatch");
  const tail = pattern.replace(/^(?:\.\/)+/, "");
  const literal = base.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");
  const absolute = tail.startsWith("**") || tail.startsWith("/") ? tail : join(literal, expandHome(tail));
  return picomatch(tail.startsWith("~") ? expandHome(tail) : absolute, { dot: true });
}

/** A skill's file can be named by its folder. */
function namesOf(file: string): string[] {
  return basename(file) === "SKILL.md" ? [file, dirname(file)] : [file];
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}
