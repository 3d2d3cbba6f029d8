// Skills read at once, for extensions that do not wait: the files a folder or a list of paths holds.

import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseFrontmatter } from "../extension-modules/host/documents.js";
import { textOf } from "../lib/error-text.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import { listFolder, realPathOf } from "../resources/folder.js";
import type { SourceInfo } from "../resources/found-file.js";
import { agentDirectory, projectDirectory, resolveHome } from "../resources/locations.js";
import { makeSkill, type Skill } from "../resources/skills.js";

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
}

/** Of a name the first counts. Never throws: what is wrong is a diagnostic. */
export function loadSkills(options: LoadSkillsOptions): LoadSkillsResult {
  const { cwd, agentDir = agentDirectory(), skillPaths = [], includeDefaults = true } = options;
  const result: LoadSkillsResult = { skills: [], diagnostics: [] };
  if (includeDefaults) {
    addFolder(result, join(agentDir, "skills"), { source: "local", scope: "user" });
    addFolder(result, join(projectDirectory(cwd), "skills"), { source: "local", scope: "project" });
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

function addFolder(result: LoadSkillsResult, folder: string, origin: Origin): void {
  for (const path of skillFiles(folder, true, new Set())) addFile(result, path, origin);
}

function addFile({ skills, diagnostics }: LoadSkillsResult, path: string, origin: Origin): void {
  const say = (message: string, type: SkillDiagnostic["type"] = "warning") => diagnostics.push({ type, message, path });
  try {
    const { frontmatter } = parseFrontmatter(readRegularFile(path).toString("utf8"));
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

/** Down to the first `SKILL.md`: what lies below it belongs to that skill. */
function skillFiles(folder: string, isTop: boolean, seen: Set<string>): string[] {
  const real = realPathOf(folder);
  // Links may lead in circles.
  if (seen.has(real)) return [];
  seen.add(real);
  const entries = listFolder(folder).filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  const own = entries.find(({ path, kind }) => kind === "file" && basename(path) === "SKILL.md");
  if (own) return [own.path];
  return entries.flatMap(({ path, kind }) => {
    if (kind === "folder") return skillFiles(path, false, seen);
    return isTop && /\.md$/i.test(path) ? [path] : [];
  });
}
