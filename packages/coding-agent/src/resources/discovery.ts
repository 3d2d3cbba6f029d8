// Finds what the command line, the project, the user and packages bring: extensions, skills and prompt templates.

import { dirname, join, resolve } from "node:path";
import { commandLineFiles, commandLinePackages } from "./command-line-resources.js";
import type { Diagnostic } from "./diagnostic.js";
import { type Candidates, type DiscoverOptions, notThere } from "./discover-options.js";
import { realPathOf } from "./folder.js";
import type { FoundFile, SourceInfo } from "./found-file.js";
import { projectDirectory, resolveHome } from "./locations.js";
import { packageFiles } from "./package-discovery.js";
import { expandGlob, isGlob, pathFilter, readPathList } from "./path-patterns.js";
import { projectSkillsFolders, userSkillsFolder } from "./project-skills.js";
import { loadPromptTemplates, type PromptTemplate } from "./prompt-templates.js";
import { type FolderRules, filesAt, filesIn, type ResourceKind, resourceKinds } from "./resource-kinds.js";
import { loadSkills, type Skill } from "./skills.js";

export type { DiscoverOptions } from "./discover-options.js";

export interface FoundResources {
  /** The entry files, in the order they are to be loaded. */
  extensions: FoundFile[];
  skills: Skill[];
  prompts: PromptTemplate[];
  diagnostics: Diagnostic[];
}

/**
 * In order: what `-e` names, the project's, the user's, packages, `--skill` and `--prompt-template`. A file that is reached
 * twice counts once, the first time. Throws when the command line names an extension that is not there, brings nothing or
 * cannot be installed; everything else that is wrong is a diagnostic.
 */
export async function discoverResources(options: DiscoverOptions): Promise<FoundResources> {
  const diagnostics: Diagnostic[] = [];
  const found: Candidates = { extensions: [], skills: [], prompts: [] };
  const add = (more: Partial<Candidates>) => {
    for (const kind of resourceKinds) found[kind].push(...(more[kind] ?? []));
  };
  add(await commandLinePackages(options));
  for (const scope of options.isTrusted ? (["project", "user"] as const) : (["user"] as const))
    for (const kind of resourceKinds)
      if (!options.off[kind]) add({ [kind]: await ownFiles(kind, scope, options, diagnostics) });
  const packages = await packageFiles(options, diagnostics);
  for (const kind of resourceKinds) if (!options.off[kind]) add({ [kind]: packages[kind] });
  add(await commandLineFiles(options, diagnostics));
  const { skills, diagnostics: ofSkills } = await loadSkills(once(found.skills));
  const { prompts, diagnostics: ofPrompts } = await loadPromptTemplates(once(found.prompts));
  diagnostics.push(...ofSkills, ...ofPrompts);
  return { extensions: once(found.extensions), skills, prompts, diagnostics };
}

/**
 * What was found with the skills and templates of more paths, which extensions may name later; relative ones are relative
 * to `origin.baseDir`. Of a name the first counts. What is wrong is a diagnostic.
 */
export async function extendResources(
  found: FoundResources,
  paths: { skillPaths?: readonly string[]; promptPaths?: readonly string[] },
  origin: Omit<SourceInfo, "path"> & { baseDir: string },
): Promise<FoundResources> {
  const diagnostics: Diagnostic[] = [];
  const collect = async (kind: "skills" | "prompts", named: readonly string[] = []) => {
    const files: FoundFile[] = [];
    for (const name of named) {
      const path = resolveHome(origin.baseDir, name);
      const at = await filesAt(kind, path, { deepPrompts: false });
      if (!at) diagnostics.push(notThere(kind, path));
      for (const file of at ?? []) files.push({ path: file, sourceInfo: { ...origin, path: file } });
    }
    return once(files, kind === "skills" ? found.skills : found.prompts);
  };
  const skills = await loadSkills(await collect("skills", paths.skillPaths), found.skills);
  const prompts = await loadPromptTemplates(await collect("prompts", paths.promptPaths), found.prompts);
  return {
    extensions: found.extensions,
    skills: [...found.skills, ...skills.skills],
    prompts: [...found.prompts, ...prompts.prompts],
    diagnostics: [...found.diagnostics, ...diagnostics, ...skills.diagnostics, ...prompts.diagnostics],
  };
}

/** What a scope's settings name, then what lies in its folders; its lists choose among both. */
async function ownFiles(
  kind: ResourceKind,
  scope: "user" | "project",
  options: DiscoverOptions,
  diagnostics: Diagnostic[],
): Promise<FoundFile[]> {
  const { settings, agentDir, cwd } = options;
  const base = scope === "user" ? agentDir : projectDirectory(cwd);
  const written = (scope === "user" ? settings.userSettings : settings.projectSettings)[kind];
  const list = readPathList((written as readonly string[] | undefined) ?? []);
  const passes = await pathFilter(list, base);
  const files: FoundFile[] = [];
  for (const entry of list.named) {
    const targets = isGlob(entry) ? await expandGlob(entry, base) : [resolveHome(base, entry)];
    for (const target of targets) {
      const at = await filesAt(kind, target);
      if (!at && !isGlob(entry)) diagnostics.push(notThere(kind, target));
      for (const path of at ?? [])
        files.push({ path, sourceInfo: { path, source: "local", scope, origin: "top-level" } });
    }
  }
  for (const { folder, rules } of foldersOf(kind, scope, base, options))
    for (const path of await filesIn(kind, folder, rules))
      files.push({
        path,
        sourceInfo: { path, source: "auto", scope, origin: "top-level", baseDir: dirname(folder) },
      });
  return files.filter(({ path }) => passes(path));
}

/** Where a scope's resources of a kind lie; `base` is the agent directory or the project's own folder. */
export function foldersOf(
  kind: ResourceKind,
  scope: "user" | "project",
  base: string,
  { cwd, home }: Pick<DiscoverOptions, "cwd" | "home">,
): { folder: string; rules: FolderRules }[] {
  const own = { folder: join(resolve(base), kind), rules: { deepPrompts: false } };
  if (kind !== "skills") return [own];
  const shared = scope === "user" ? [userSkillsFolder(home)] : projectSkillsFolders(cwd, home);
  return [own, ...shared.map((folder) => ({ folder, rules: { looseSkills: false } }))];
}

/** Links, and settings that name what is found anyway, lead to one file on several ways. */
function once(files: readonly FoundFile[], loaded: readonly { filePath: string }[] = []): FoundFile[] {
  const seen = new Set(loaded.map(({ filePath }) => realPathOf(filePath)));
  return files.filter(({ path }) => {
    const real = realPathOf(path);
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  });
}
