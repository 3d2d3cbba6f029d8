// Whether a project may bring settings and resources of its own.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "./diagnostic.js";
import { projectDirectory } from "./locations.js";
import { projectSkillsFolders } from "./project-skills.js";
import { savedTrust, saveTrust } from "./saved-trust.js";

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

/** What the project at `cwd` brings that is not used while it is not trusted; paths. */
export function protectedResources(cwd: string, home?: string): string[] {
  const own = protectedNames.map((name) => join(projectDirectory(cwd), name)).filter((path) => existsSync(path));
  return [...own, ...projectSkillsFolders(cwd, home)];
}

export interface TrustQuestion {
  cwd: string;
  agentDir: string;
  /** `--approve` or `--no-approve`. */
  approve?: boolean;
  /** The user's setting. */
  defaultProjectTrust: "ask" | "always" | "never";
}

/** What somebody who was asked says; with `remember` it holds for other processes too. */
export interface TrustAnswer {
  trusted: "yes" | "no" | "undecided";
  remember?: boolean;
}

export interface TrustDecision {
  isTrusted: boolean;
  /** Who decided: the command line, somebody who was asked, trust.json, or the setting. */
  by: "command-line" | "asked" | "saved" | "setting";
  diagnostics: Diagnostic[];
}

/** The decision without asking anybody: the command line, then the nearest saved decision, then the setting. */
export function decideTrust({ cwd, agentDir, approve, defaultProjectTrust }: TrustQuestion): TrustDecision {
  if (approve !== undefined) return { isTrusted: approve, by: "command-line", diagnostics: [] };
  const { trusted, isBroken, diagnostics } = savedTrust(agentDir, cwd);
  if (isBroken) return { isTrusted: false, by: "saved", diagnostics };
  if (trusted !== undefined) return { isTrusted: trusted, by: "saved", diagnostics };
  return { isTrusted: defaultProjectTrust === "always", by: "setting", diagnostics };
}

/**
 * The decision, asking `decide` (the handlers of extensions) before saved decisions count. It is asked only when the command
 * line says nothing and the project brings something that needs trust. A decision that cannot be remembered is a diagnostic.
 */
export async function resolveTrust(
  question: TrustQuestion,
  decide?: () => Promise<TrustAnswer>,
): Promise<TrustDecision> {
  const { cwd, agentDir, approve } = question;
  if (approve !== undefined || !decide || protectedResources(cwd).length === 0) return decideTrust(question);
  const { trusted, remember } = await decide();
  if (trusted === "undecided") return decideTrust(question);
  const diagnostics: Diagnostic[] = [];
  if (remember === true) {
    await saveTrust(agentDir, cwd, trusted === "yes").catch((error: Error) =>
      diagnostics.push({ severity: "warning", source: "trust", message: `The decision is not kept: ${error.message}` }),
    );
  }
  return { isTrusted: trusted === "yes", by: "asked", diagnostics };
}

/** Tells what a project that is not trusted brings in vain; undefined when there is nothing. */
export function untrustedDiagnostic(cwd: string, passOver: readonly string[] = []): Diagnostic | undefined {
  const unused = protectedResources(cwd).filter((path) => !passOver.includes(path));
  if (unused.length === 0) return undefined;
  const names = unused.map((path) => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path));
  return {
    severity: "warning",
    source: "project",
    message: `The project is not trusted: ${names.join(", ")} ${names.length === 1 ? "is" : "are"} not used; see --approve`,
    path: projectDirectory(cwd),
  };
}
