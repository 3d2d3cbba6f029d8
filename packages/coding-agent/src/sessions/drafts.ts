// The hidden files a session is written to before it takes its place: their names, and removing those left behind.

import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAbandoned, SessionLock } from "./session-lock.js";

/** Where this process writes a session file before it is put into its place. Only who has the session's lock writes it. */
export function draftOf(sessionFile: string): string {
  return join(dirname(sessionFile), `.${basename(sessionFile)}.${process.pid}.tmp`);
}

/**
 * Removes the drafts of sessions in a directory whose writers were killed; `names` are the directory's files, and
 * `own` is the name of a session that is not called `….jsonl`. Those of living processes stay, since these have the
 * session's lock. Never throws.
 */
export function removeLeftDrafts(directory: string, names: readonly string[], own?: string): void {
  for (const name of names) {
    const session = /^\.(.+)\.\d{1,10}\.tmp$/.exec(name)?.[1];
    // Others write hidden files too.
    const isSession = session?.endsWith(".jsonl") || session === own;
    if (session !== undefined && isSession) removeDraft(join(directory, name), join(directory, session));
    // A lock is written beside its place too, in an instant.
    else if (/\.jsonl\.lock\.[0-9a-f]{8}-[0-9a-f-]{27}$/.test(name)) removeLockDraft(join(directory, name));
  }
}

function removeDraft(draft: string, session: string): void {
  const lock = new SessionLock(session);
  try {
    if (lock.take() === undefined) rmSync(draft, { force: true });
  } catch {
    // A directory that nothing can be changed in keeps its drafts.
  } finally {
    lock.release();
  }
}

function removeLockDraft(path: string): void {
  try {
    if (isAbandoned(path)) rmSync(path, { force: true });
  } catch {
    // As above.
  }
}
