// The system prompt: who the model is, what it can use, and what its working directory says. The same input always gives
// the same text, so that providers' prompt caches hold.

import type { ContextFile } from "./context-files.js";

export interface SystemPromptParts {
  cwd: string;
  /** The tools on offer, in order. A tool without a snippet is not listed, but still described by its declaration. */
  tools: readonly { name: string; snippet?: string; guidelines?: readonly string[] }[];
  contextFiles: readonly ContextFile[];
  /** Rules of no tool in particular, one sentence each. */
  rules?: readonly string[];
  /** Sections of others by tag name, in front of the addendum. */
  sections?: Readonly<Record<string, string>>;
  /** Replaces the sections preamble, tools, rules and docs. */
  customPrompt?: string;
  /** Follow in the addendum. */
  appendPrompts?: readonly string[];
  /** Instructions to be read when a task calls for them. */
  skills?: readonly { name: string; description: string; path: string }[];
  /** A day such as `2026-01-31`. */
  date?: string;
  /** Where this program's own documents lie. */
  docsPath?: string;
}

/** The prompt's sections in their order: preamble, tools, rules, docs, addendum, project_context, skills, cwd. */
export function buildSystemPrompt(parts: SystemPromptParts): string {
  const own = [preamble, tools(parts), rules(parts), docs(parts)];
  const sections = [
    ...(parts.customPrompt === undefined ? own : [parts.customPrompt]),
    ...Object.entries(parts.sections ?? {}).map(([tag, text]) => `<${tag}>\n${text.trim()}\n</${tag}>`),
    ...(parts.appendPrompts ?? []),
    projectContext(parts),
    skills(parts),
    place(parts),
  ];
  return sections
    .map((section) => section.trim())
    .filter(Boolean)
    .join("\n\n");
}

const preamble = `You are a coding agent. You work in a directory of the user's machine: you read and change files and run commands there with your tools, until the task is done or you need the user's decision.`;

function tools({ tools: offered }: SystemPromptParts): string {
  const lines = offered.flatMap(({ name, snippet }) => (snippet ? [`- ${name}: ${snippet}`] : []));
  if (lines.length === 0) return "";
  return `<tools>\n${lines.join("\n")}\n</tools>`;
}

const commonRules = [
  "Look before you change: read the parts of a file you are going to edit, and how they are used.",
  "Do what was asked, in the style of what is there; leave unrelated code alone.",
  "After a change, run whatever shows that it works, and say so plainly when something fails or was not tried.",
  "Name files by their paths. Keep answers short; explain what is not obvious.",
];

function rules({ tools: offered, rules: more = [] }: SystemPromptParts): string {
  const lines = new Set([...commonRules, ...offered.flatMap(({ guidelines }) => guidelines ?? []), ...more]);
  return `<rules>\n${[...lines].map((rule) => `- ${rule}`).join("\n")}\n</rules>`;
}

function docs({ docsPath }: SystemPromptParts): string {
  if (!docsPath) return "";
  return `<docs>\nDocuments about this program itself (settings, models, extensions, its protocol) lie in ${docsPath}. Read them only when the user asks about it.\n</docs>`;
}

function projectContext({ contextFiles }: SystemPromptParts): string {
  const files = contextFiles.filter(({ content }) => content.trim() !== "");
  if (files.length === 0) return "";
  const blocks = files.map(({ path, content }) => `<instructions path="${path}">\n${content.trim()}\n</instructions>`);
  return `<project_context>\nInstructions for work in this directory. Where they differ, later ones count.\n\n${blocks.join("\n\n")}\n</project_context>`;
}

function skills({ skills: available = [] }: SystemPromptParts): string {
  if (available.length === 0) return "";
  const lines = available.map(({ name, description, path }) => `- ${name}: ${description} (${path})`);
  return `<skills>\nWhen a task matches one of these descriptions, read the file first and follow it.\n${lines.join("\n")}\n</skills>`;
}

function place({ cwd, date }: SystemPromptParts): string {
  return `${date ? `Date: ${date}\n` : ""}Working directory: ${cwd}`;
}
