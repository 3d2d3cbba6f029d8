// SYSTEM.md and APPEND_SYSTEM.md: files that replace or extend the system prompt.

import { join } from "node:path";
import { readRegularFile } from "../lib/read-regular-file.js";
import type { Diagnostic } from "./diagnostic.js";
import { kindOf } from "./folder.js";
import { projectDirectory } from "./locations.js";

export interface SystemPromptFiles {
  /** Replaces the system prompt; absent to keep it. */
  customPrompt?: string;
  /** Follow the system prompt. */
  appendPrompts: string[];
  diagnostics: Diagnostic[];
}

/**
 * What the command line gave wins over the files; of each file the project's, when it is trusted, wins over the user's. A
 * file that cannot be read is a diagnostic, and the other one is not taken in its place.
 */
export function loadSystemPromptFiles(
  place: { cwd: string; agentDir: string; isTrusted: boolean },
  given: { customPrompt?: string | undefined; appendPrompts?: readonly string[] | undefined } = {},
): SystemPromptFiles {
  const diagnostics: Diagnostic[] = [];
  const read = (name: string): string | undefined => {
    const folders = [...(place.isTrusted ? [projectDirectory(place.cwd)] : []), place.agentDir];
    const path = folders.map((folder) => join(folder, name)).find((candidate) => kindOf(candidate) !== undefined);
    if (path === undefined) return undefined;
    try {
      return readRegularFile(path)
        .toString("utf8")
        .replace(/^\uFEFF/, "");
    } catch (error) {
      const message = `Cannot read the system prompt: ${(error as Error).message}`;
      diagnostics.push({ severity: "error", source: "system_prompt", message, path });
      return undefined;
    }
  };
  const customPrompt = given.customPrompt ?? read("SYSTEM.md");
  const appended = given.appendPrompts && given.appendPrompts.length > 0 ? undefined : read("APPEND_SYSTEM.md");
  return {
    ...(customPrompt !== undefined && { customPrompt }),
    appendPrompts: given.appendPrompts?.length ? [...given.appendPrompts] : appended === undefined ? [] : [appended],
    diagnostics,
  };
}
