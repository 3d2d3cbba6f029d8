// Extensions, skills and templates as a session is opened with them, whoever found them.

import { dirname, isAbsolute } from "node:path";
import type { ExtensionFactory } from "../extensions/api.js";
import type { InlineExtension } from "../extensions/loader.js";
import { extendResources, type FoundResources } from "../resources/discovery.js";
import type { SourceInfo } from "../resources/found-file.js";
import { resolveHome } from "../resources/locations.js";
import type { LoadedExtensions } from "./create-session.js";
import { expandText, type FoundTexts, foundCommands } from "./found-texts.js";

/** A skill or template, or a folder of them, that an extension names; `path` is absolute. */
export interface ExtensionPath {
  path: string;
  kind: "skill" | "prompt";
  /** The folder of the extension. */
  baseDir: string;
}

export interface LoadedParts extends Pick<LoadedExtensions, "runner" | "registry" | "isProjectTrusted"> {
  /** What is relative in extensions without a file. */
  cwd: string;
  /** What is in use at the moment. */
  found: () => FoundTexts;
  /** Whether skills are listed as commands. */
  skillCommands: boolean;
  /** Adds to what `found` gives. */
  extend: (paths: readonly ExtensionPath[]) => Promise<void>;
}

export function loadedExtensions(parts: LoadedParts): LoadedExtensions {
  const { runner, registry, isProjectTrusted, cwd, found, skillCommands, extend } = parts;
  return {
    runner,
    registry,
    isProjectTrusted,
    commands: () => foundCommands(found(), skillCommands),
    skills: () => found().skills.filter(({ disableModelInvocation }) => !disableModelInvocation),
    expand: (text) => expandText(text, found()),
    extend: (paths) =>
      extend(
        paths.map(({ path, kind, extensionPath }) => {
          const baseDir = isAbsolute(extensionPath) ? dirname(extensionPath) : cwd;
          return { kind, baseDir, path: resolveHome(baseDir, path) };
        }),
      ),
  };
}

/** What was found with what extensions name, in their order. What is wrong is a diagnostic. */
export async function extendFound(found: FoundResources, paths: readonly ExtensionPath[]): Promise<FoundResources> {
  const origin = { source: "extension", scope: "temporary" as const, origin: "top-level" as const };
  let all = found;
  for (const { path, kind, baseDir } of paths) {
    const named = kind === "skill" ? { skillPaths: [path] } : { promptPaths: [path] };
    all = await extendResources(all, named, { ...origin, baseDir });
  }
  return all;
}

/** Extensions whose factories are at hand, as the loader takes them. */
export function inlineFiles(
  given: readonly (ExtensionFactory | InlineExtension)[],
): (InlineExtension & { sourceInfo: SourceInfo })[] {
  return given.map((one, index) => {
    const extension = typeof one === "function" ? { factory: one } : one;
    const path = `<inline:${extension.name ?? index + 1}>`;
    return { ...extension, sourceInfo: { path, source: "inline", scope: "temporary", origin: "top-level" } };
  });
}
