// Skills read at once, for extensions that do not wait: the files a folder or a list of paths holds.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { yaml } from "../extension-modules/lazy-libraries.js";
import { textOf } from "../lib/error-text.js";
import { readFrontmatterNow } from "../lib/frontmatter.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import { foldersOf } from "../resources/discovery.js";
import { realPathOf } from "../resources/folder.js";
import type { SourceInfo } from "../resources/found-file.js";
import { agentDirectory, projectDirectory, resolveHome } from "../resources/locations.js";
import { type FolderRules, skillFiles } from "../resources/resource-kinds.js";
import { makeSkill, type Skill } from "../resources/skills.js";
import { type Around, nothingAround } from "./surroundings.js";
import { isTrustedIn } from "./trusted.js";

/** What is wrong with a skill that was looked for. */
export interface SkillDiagnostic {
  type: "warning" | "error";
  message: string;
  path: string;
}

export interface LoadSkillsResult {
  skills: Skill[];
  diagnostics: SkillDiagnostic[];
}

export interface LoadSkillsOptions {
  cwd: string;
  /** Default: the user's. */
  agentDir?: string;
  /** Files and folders, relative to `cwd`. */
  skillPaths?: readonly string[];
  /** Whether the user's and the project's own folders count too. Default true. */
  includeDefaults?: boolean;
  /** Where the user's skills for all agents lie, in `.agents/skills`. Default: the user's home. */
  home?: string;
}

/**
 * Of a name the first counts; the project's only where it is trusted, as the program around or the user decided. Never
 * throws: what is wrong is a diagnostic.
 */
export function loadSkills(options: LoadSkillsOptions, around: Around = nothingAround): LoadSkillsResult {
  const { cwd, agentDir = agentDirectory(), skillPaths = [], includeDefaults = true, home } = options;
  const result: LoadSkillsResult = { skills: [], diagnostics: [] };
  const addScope = (scope: "user" | "project", base: string) => {
    for (const { folder, rules } of foldersOf("skills", scope, base, { cwd, ...(home !== undefined && { home }) }))
      addFolder(result, folder, { source: "local", scope }, rules);
  };
  if (includeDefaults) {
    addScope("user", agentDir);
    if (isTrustedIn({ cwd, agentDir }, around())) addScope("project", projectDirectory(cwd));
  }
  for (const named of skillPaths) {
    const path = resolveHome(cwd, named);
    const stats = statSync(path, { throwIfNoEntry: false });
    const origin: Origin = { source: "local", scope: "temporary" };
    if (!stats) result.diagnostics.push({ type: "warning", message: "skill path does not exist", path });
    else if (stats.isDirectory()) addFolder(result, path, origin);
    else addFile(result, path, origin);
  }
  return result;
}

/** The skills below a folder. `source` stands in their `sourceInfo`. */
export function loadSkillsFromDir({ dir, source }: { dir: string; source: string }): LoadSkillsResult {
  const result: LoadSkillsResult = { skills: [], diagnostics: [] };
  addFolder(result, dir, { source, scope: "temporary" });
  return result;
}

type Origin = Pick<SourceInfo, "source" | "scope">;

function addFolder(result: LoadSkillsResult, folder: string, origin: Origin, rules?: FolderRules): void {
  for (const path of skillFiles(folder, rules)) addFile(result, path, origin);
}

function addFile({ skills, diagnostics }: LoadSkillsResult, path: string, origin: Origin): void {
  const say = (message: string, type: SkillDiagnostic["type"] = "warning") => diagnostics.push({ type, message, path });
  try {
    const { frontmatter } = readFrontmatterNow(readRegularFile(path).toString("utf8"), yaml);
    const sourceInfo: SourceInfo = { path, ...origin, origin: "top-level", baseDir: dirname(path) };
    const skill = makeSkill(path, sourceInfo, frontmatter, (message) => void say(message));
    if (!skill) return;
    const first = skills.find(({ name }) => name === skill.name);
    if (!first) skills.push(skill);
    else if (realPathOf(first.filePath) !== realPathOf(path))
      say(`The skill "${skill.name}" is there already, from "${first.filePath}"; this one is ignored`);
  } catch (error) {
    say(`Cannot read the skill: ${textOf(error)}`, "error");
  }
}
