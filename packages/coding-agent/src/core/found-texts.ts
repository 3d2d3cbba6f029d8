// Skills and templates in use: as commands of a session, and put into the texts that call them.

import { textOf } from "../lib/error-text.js";
import type { SlashCommand } from "../modes/rpc/rpc-types.js";
import { expandPromptTemplate, type PromptTemplate } from "../resources/prompt-templates.js";
import { expandSkillCommand, type Skill } from "../resources/skills.js";
import { CommandError } from "./errors.js";

export interface FoundTexts {
  skills: readonly Skill[];
  prompts: readonly PromptTemplate[];
}

/** The text with the skill or template it calls put in. Throws CommandError `io_error` when a skill cannot be read. */
export function expandText(text: string, { skills, prompts }: FoundTexts): string {
  if (!text.startsWith("/")) return text;
  try {
    const withSkill = expandSkillCommand(text, skills);
    return withSkill === text ? expandPromptTemplate(text, prompts) : withSkill;
  } catch (error) {
    throw new CommandError("io_error", textOf(error), "message");
  }
}

/** Templates, then skills, as clients see them. */
export function foundCommands({ prompts, skills }: FoundTexts, withSkills: boolean): SlashCommand[] {
  const locationOf = ({ scope }: { scope: string }) =>
    (({ user: "user", project: "project" }) as const)[scope as "user" | "project"] ?? "path";
  const command = (
    source: "prompt" | "skill",
    { name, description, filePath, sourceInfo }: Skill | PromptTemplate,
  ): SlashCommand => ({
    name: source === "skill" ? `skill:${name}` : name,
    ...(description !== undefined && { description }),
    source,
    location: locationOf(sourceInfo),
    path: filePath,
    sourceInfo,
  });
  return [
    ...prompts.map((prompt) => command("prompt", prompt)),
    ...(withSkills ? skills.map((skill) => command("skill", skill)) : []),
  ];
}
