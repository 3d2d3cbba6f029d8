// Whether a project may bring settings and resources of its own.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectDirectory } from "./locations.js";

/** What a project can bring that counts only when it is trusted. */
const protectedNames = [
  "settings.json",
  "mcp.json",
  "SYSTEM.md",
  "APPEND_SYSTEM.md",
  "extensions",
  "skills",
  "prompts",
  "themes",
];

/**
 * Whether the project at hand is trusted: as `--approve` or `--no-approve` says, else only when the user's settings
 * trust every project.
 */
export function isProjectTrusted(choice: {
  approve?: boolean;
  defaultProjectTrust: "ask" | "always" | "never";
}): boolean {
  return choice.approve ?? choice.defaultProjectTrust === "always";
}

/** What the project at `cwd` brings that is not used while it is not trusted; paths. */
export function protectedResources(cwd: string): string[] {
  return protectedNames.map((name) => join(projectDirectory(cwd), name)).filter((path) => existsSync(path));
}
