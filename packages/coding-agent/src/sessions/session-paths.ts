// How session files and their directories are named.

import { basename, join, resolve } from "node:path";
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

/** Characters of an id: with the time before it and the longest name of a lock behind it, a file name has 255 bytes. */
const longestId = 160;
/** Bytes of a session's file name that leave room for those of its locks and drafts. */
const longestName = 200;

/**
 * Why `id` cannot name a session; undefined when it can: letters, digits, `.`, `_` and `-`, with a letter or digit at both
 * ends, and 160 characters at most.
 */
export function sessionIdFault(id: string): string | undefined {
  if (id.length > longestId) return `an id has ${longestId} characters at most, this one has ${id.length}`;
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id)) return undefined;
  return 'an id is letters, digits, ".", "_" and "-", with a letter or digit at both ends';
}

/** Why no session can be in this file; undefined when one can. */
export function sessionPathFault(path: string): string | undefined {
  const bytes = Buffer.byteLength(basename(path));
  if (bytes > longestName) return `its file name has ${bytes} bytes, ${longestName} are allowed`;
  return undefined;
}
