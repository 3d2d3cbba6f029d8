// The decisions about projects that are kept in trust.json: folder → whether it and what lies below it is trusted.

import { dirname, join } from "node:path";
import type { Diagnostic } from "./diagnostic.js";
import { realPathOf } from "./folder.js";
import { faultAt, readJsonFile } from "./json-file.js";

export interface SavedTrust {
  /** The decision for the nearest folder; undefined when there is none. */
  trusted?: boolean;
  /** The file cannot be read: nothing in it counts. */
  isBroken: boolean;
  diagnostics: Diagnostic[];
}

export function trustPath(agentDir: string): string {
  return join(agentDir, "trust.json");
}

/** What is kept about a folder or, nearest first, those above it. Never throws. */
export function savedTrust(agentDir: string, cwd: string): SavedTrust {
  const file = readJsonFile(trustPath(agentDir), "trust");
  if (file.diagnostics.length > 0) return { isBroken: true, diagnostics: file.diagnostics };
  const decisions = file.value ?? {};
  const diagnostics: Diagnostic[] = [];
  for (let at = realPathOf(cwd); ; at = dirname(at)) {
    const decision = Object.hasOwn(decisions, at) ? decisions[at] : undefined;
    if (typeof decision === "boolean") return { trusted: decision, isBroken: false, diagnostics };
    if (decision !== undefined && decision !== null)
      diagnostics.push(faultAt(file, "trust", [at], "must be true or false; it is ignored", "warning"));
    if (dirname(at) === at) return { isBroken: false, diagnostics };
  }
}

/** Keeps a decision for a folder. Throws when the file is broken or cannot be written; it then stays as it is. */
export async function saveTrust(agentDir: string, cwd: string, trusted: boolean): Promise<void> {
  // Loaded when something is saved: saves their 10 ms at start.
  const { updateJsonFile } = await import("./update-json-file.js");
  const decision = { [realPathOf(cwd)]: trusted };
  await updateJsonFile(trustPath(agentDir), "trust", (file) => void Object.assign(file, decision), { mode: 0o600 });
}
