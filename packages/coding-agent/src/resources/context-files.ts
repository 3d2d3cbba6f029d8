// The instructions directories hold for agents: one file a directory, from the user's own down to the working directory.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Diagnostic } from "./diagnostic.js";

/** A file of instructions. */
export interface ContextFile {
  path: string;
  content: string;
}

/** In each directory the first of these that is there. */
const fileNames = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/**
 * The context files for a working directory: that of the agent directory, then those from the root down to `cwd`. A
 * file reached twice, through links or because directories coincide, counts once. Never throws.
 */
export function loadContextFiles(place: { cwd: string; agentDir: string }): {
  files: ContextFile[];
  diagnostics: Diagnostic[];
} {
  const files: ContextFile[] = [];
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  for (const directory of [resolve(place.agentDir), ...fromRoot(resolve(place.cwd))]) {
    const path = fileNames.map((name) => join(directory, name)).find(isFile);
    if (!path) continue;
    try {
      const real = realpathSync(path);
      if (seen.has(real)) continue;
      seen.add(real);
      files.push({ path, content: readFileSync(path, "utf8").replace(/^\uFEFF/, "") });
    } catch (error) {
      const message = `Cannot read the context file: ${(error as Error).message}`;
      diagnostics.push({ severity: "warning", source: "context_files", message, path });
    }
  }
  return { files, diagnostics };
}

function fromRoot(directory: string): string[] {
  const directories = [directory];
  for (let at = directory; dirname(at) !== at; at = dirname(at)) directories.push(dirname(at));
  return directories.reverse();
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
