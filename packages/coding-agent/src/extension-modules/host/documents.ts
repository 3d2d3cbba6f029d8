// Reading what skills, prompts and files are written as: front matter, skill blocks, differences.

import { readFrontmatterNow } from "../../lib/frontmatter.js";
import { diff, yaml } from "../lazy-libraries.js";

/** The YAML between `---` lines at the start of a text, and the text after it. Throws for YAML that is none. */
export function parseFrontmatter(text: string): { frontmatter: Record<string, unknown>; body: string } {
  return readFrontmatterNow(text, yaml);
}

/** The text without its front matter. Throws like `parseFrontmatter`. */
export function stripFrontmatter(text: string): string {
  return parseFrontmatter(text).body;
}

/** A skill as it stands in a user's message. */
export interface SkillBlock {
  name: string;
  location: string;
  content: string;
  /** What the user wrote behind it. */
  userMessage?: string;
}

/** Reads the block a message begins with; null when it begins with none. */
export function parseSkillBlock(text: string): SkillBlock | null {
  const found = /^<skill name="([^"]+)" location="([^"]+)">\n([\s\S]*?)\n<\/skill>(?:\n\n([\s\S]+))?$/.exec(text);
  if (!found) return null;
  const [, name = "", location = "", content = "", said] = found;
  return { name, location, content, ...(said?.trim() && { userMessage: said.trim() }) };
}

/**
 * What changed, as lines numbered by their place: ` 12 same`, `-12 old`, `+12 new`, with `context` lines around each
 * change and `...` for what is left out. `firstChangedLine` counts from 1 in the new text; undefined without a change.
 */
export function generateDiffString(before: string, after: string, context = 4) {
  const changes = diff().diffLines(before, after);
  const width = String(Math.max(linesOf(before).length, linesOf(after).length)).length;
  const lines: string[] = [];
  let [oldLine, newLine] = [1, 1];
  let firstChangedLine: number | undefined;
  for (const [index, change] of changes.entries()) {
    const parts = linesOf(change.value);
    if (change.added || change.removed) {
      firstChangedLine ??= newLine;
      for (const part of parts) {
        const number = change.added ? newLine++ : oldLine++;
        lines.push(`${change.added ? "+" : "-"}${String(number).padStart(width)} ${part}`);
      }
      continue;
    }
    const head = index === 0 ? 0 : context;
    const tail = index === changes.length - 1 ? 0 : context;
    for (const [at, part] of parts.entries()) {
      const isShown = at < head || at >= parts.length - tail;
      if (isShown) lines.push(` ${String(oldLine).padStart(width)} ${part}`);
      else if (at === head) lines.push(` ${" ".repeat(width)} ...`);
      oldLine += 1;
      newLine += 1;
    }
  }
  return { diff: lines.join("\n"), firstChangedLine };
}

/** A unified diff of a file. */
export function generateUnifiedPatch(path: string, before: string, after: string, context = 4): string {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = diff();
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    context,
    headerOptions: FILE_HEADERS_ONLY,
  });
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
