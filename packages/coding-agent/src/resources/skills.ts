// Skills: reads their files, checks names and descriptions, and puts the one that was asked for into a text.

import { basename, dirname } from "node:path";
import { textOf as errorText } from "../lib/error-text.js";
import { FrontmatterError, readFrontmatter, stripFrontmatter } from "../lib/frontmatter.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import type { Diagnostic } from "./diagnostic.js";
import type { FoundFile, SourceInfo } from "./found-file.js";

/** Instructions that are read when a task calls for them. */
export interface Skill {
  name: string;
  description: string;
  filePath: string;
  /** The folder its own paths are relative to. */
  baseDir: string;
  sourceInfo: SourceInfo;
  /** The model is not told of it; it is used by its command only. */
  disableModelInvocation: boolean;
}

/** Limits of the Agent Skills specification, in characters. */
const longestName = 64;
const longestDescription = 1024;

/**
 * The skills of files in their order; of a name the first counts. What is wrong is a diagnostic: broken front matter and a
 * missing description keep a skill out, other faults do not. `taken` has skills that were there before.
 */
export async function loadSkills(
  files: readonly FoundFile[],
  taken: readonly Skill[] = [],
): Promise<{ skills: Skill[]; diagnostics: Diagnostic[] }> {
  const skills: Skill[] = [];
  const diagnostics: Diagnostic[] = [];
  if (files.length === 0) return { skills, diagnostics };
  const byName = new Map(taken.map((skill) => [skill.name, skill]));
  for (const { path, sourceInfo } of files) {
    const say = (message: string, severity: Diagnostic["severity"] = "warning", at: object = {}) =>
      void diagnostics.push({ severity, source: "skills", message, path, ...at });
    try {
      const { frontmatter } = await readFrontmatter(readRegularFile(path).toString("utf8"));
      const skill = makeSkill(path, sourceInfo, frontmatter, say);
      if (!skill) continue;
      const first = byName.get(skill.name);
      if (first) say(`The skill "${skill.name}" is there already, from "${first.filePath}"; this one is ignored`);
      else {
        byName.set(skill.name, skill);
        skills.push(skill);
      }
    } catch (error) {
      const { line, column } = error instanceof FrontmatterError ? error : {};
      const reason =
        error instanceof FrontmatterError ? `its front matter is no YAML: ${error.message}` : errorText(error);
      say(`Cannot read the skill: ${reason}`, "error", {
        ...(line !== undefined && { line }),
        ...(column !== undefined && { column }),
      });
    }
  }
  return { skills, diagnostics };
}

/** The skill that a file's front matter describes; undefined when it is none. `say` is told what is wrong with it. */
export function makeSkill(
  path: string,
  sourceInfo: SourceInfo,
  frontmatter: Record<string, unknown>,
  say: (message: string) => void,
): Skill | undefined {
  const isOwnFolder = basename(path) === "SKILL.md";
  const declared = textOf(frontmatter.name);
  const description = textOf(frontmatter.description);
  if (description === undefined) {
    // A Markdown file beside skills may be anything; one that says it is a skill is meant to be one.
    if (isOwnFolder || declared !== undefined) say("The skill has no description; it is ignored");
    return undefined;
  }
  const name = declared ?? (isOwnFolder ? basename(dirname(path)) : basename(path).replace(/\.md$/i, ""));
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))
    say(`The skill's name "${name}" should have lowercase letters, digits and single hyphens only`);
  if (name.length > longestName) say(`The skill's name is longer than ${longestName} characters`);
  if (description.length > longestDescription)
    say(`The skill's description is longer than ${longestDescription} characters`);
  return {
    name,
    description,
    filePath: path,
    baseDir: dirname(path),
    sourceInfo,
    disableModelInvocation: frontmatter["disable-model-invocation"] === true,
  };
}

/** On one line, as it stands in lists. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return String(value).replace(/\s+/g, " ").trim() || undefined;
}

/**
 * `/skill:name arguments` → the skill's instructions, as they are in its file now, and the arguments behind them. Any other
 * text, also one naming a skill that is not there, stays as it is. Throws when the file cannot be read.
 */
export function expandSkillCommand(text: string, skills: readonly Skill[]): string {
  const [, name, given = ""] = /^\/skill:(\S+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const skill = name === undefined ? undefined : skills.find((candidate) => candidate.name === name);
  if (!skill) return text;
  let body: string;
  try {
    body = stripFrontmatter(readRegularFile(skill.filePath).toString("utf8"));
  } catch (error) {
    throw new Error(`Cannot read the skill "${skill.name}": ${errorText(error)}`);
  }
  const block = [
    `<skill name="${attribute(skill.name)}" location="${attribute(skill.filePath)}">`,
    `References are relative to ${skill.baseDir}.`,
    "",
    body,
    "</skill>",
  ].join("\n");
  return given.trim() === "" ? block : `${block}\n\n${given.trim()}`;
}

function attribute(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
