// How session files and their directories are named.

import { join, resolve } from "node:path";
import { agentDirectory } from "../lib/agent-directory.js";

/** The directory that holds one directory of sessions for each working directory. */
export function sessionsRoot(): string {
  return join(agentDirectory(), "sessions");
}

/** The directory for the sessions of `cwd` when none was chosen. */
export function defaultSessionDirectory(cwd: string): string {
  return join(sessionsRoot(), sessionDirectoryName(cwd));
}

/** `/home/me/project` → `--home-me-project--`. */
export function sessionDirectoryName(cwd: string): string {
  return `--${resolve(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-")}--`;
}

/** `2026-01-02T03:04:05.678Z`, `abc` → `2026-01-02T03-04-05-678Z_abc.jsonl`. */
export function sessionFileName(timestamp: string, id: string): string {
  return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** Whether `id` may name a session: letters, digits, `.`, `_` and `-`, with a letter or digit at both ends. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id);
}
