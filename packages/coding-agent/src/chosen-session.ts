// Which session the command line asks for: a file, an id, the latest, a new one, or one in memory.

import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ParsedArgs } from "./args.js";
import { expandHome } from "./lib/agent-directory.js";
import { findSessionById } from "./sessions/session-list.js";
import { SessionManager } from "./sessions/session-manager.js";
import { defaultSessionDirectory, sessionsRoot } from "./sessions/session-paths.js";

/**
 * `sessionDir` is the directory that flag, environment or settings name, if any. Throws an error that says what is wrong
 * with the session asked for; nothing is written.
 */
export async function openChosenSession(
  { values }: ParsedArgs,
  cwd: string,
  sessionDir: string | undefined,
): Promise<SessionManager> {
  const { session, "session-id": id } = values;
  if (values["no-session"]) return SessionManager.inMemory(cwd, typeof id === "string" ? { id } : {});
  if (typeof session === "string") return checkedDirectory(await openSession(session, cwd, sessionDir));
  if (typeof id === "string") {
    const existing = (await SessionManager.list(cwd, sessionDir)).find((info) => info.id === id);
    return existing
      ? checkedDirectory(SessionManager.open(existing.path))
      : SessionManager.create(cwd, sessionDir, { id });
  }
  if (values.continue) return SessionManager.continueRecent(cwd, sessionDir);
  return SessionManager.create(cwd, sessionDir);
}

/** A path creates a session there if nothing is there; anything else is the beginning of an id. */
async function openSession(asked: string, cwd: string, sessionDir: string | undefined): Promise<SessionManager> {
  const isPath = /[/\\]/.test(asked) || asked.endsWith(".jsonl");
  if (!isPath) {
    const place = sessionDir
      ? { cwd, directory: sessionDir }
      : { cwd, directory: defaultSessionDirectory(cwd), root: sessionsRoot() };
    const found = findSessionById(asked, place);
    if (!found) throw new Error(`No session found whose id begins with "${asked}"`);
    return SessionManager.open(found.path, { sessionDir });
  }
  const path = resolve(cwd, expandHome(asked));
  return existsSync(path) ? SessionManager.open(path) : SessionManager.create(cwd, sessionDir, { file: path });
}

/** A session runs in its own directory, which may be gone. */
function checkedDirectory(store: SessionManager): SessionManager {
  const cwd = store.getCwd();
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return store;
  throw new Error(`Cannot open session "${store.getSessionFile()}": its working directory "${cwd}" is gone`);
}
