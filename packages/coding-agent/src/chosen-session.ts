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
  terminal?: Terminal,
): Promise<SessionManager> {
  const { session, "session-id": id } = values;
  if (typeof values.fork === "string") return forkSession(values.fork, cwd, sessionDir, id);
  if (values.resume) return checkedDirectory(await askForSession(cwd, sessionDir, terminal));
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

/** Lines shown to a person and the answer typed; absent when stdin is no terminal. */
export interface Terminal {
  say(text: string): void;
  ask(question: string): Promise<string>;
}

/** A path creates a session there if nothing is there; anything else is the beginning of an id. */
async function openSession(asked: string, cwd: string, sessionDir: string | undefined): Promise<SessionManager> {
  const path = pathOf(asked, cwd, sessionDir);
  if (existsSync(path)) return SessionManager.open(path, { ...(!isPath(asked) && { sessionDir }) });
  return SessionManager.create(cwd, sessionDir, { file: path });
}

/** A copy of the other session's active branch, which goes on in this directory. */
function forkSession(
  asked: string,
  cwd: string,
  sessionDir: string | undefined,
  id: string | true | undefined,
): SessionManager {
  const source = SessionManager.open(pathOf(asked, cwd, sessionDir));
  const fork = SessionManager.forkFrom(source, source.getLeafId(), {
    cwd,
    sessionDir: sessionDir ?? defaultSessionDirectory(cwd),
    ...(typeof id === "string" && { id }),
  });
  if (fork.getEntries().some(({ type }) => type === "message")) fork.flush();
  return fork;
}

function isPath(asked: string): boolean {
  return /[/\\]/.test(asked) || asked.endsWith(".jsonl");
}

function pathOf(asked: string, cwd: string, sessionDir: string | undefined): string {
  if (isPath(asked)) return resolve(cwd, expandHome(asked));
  const place = sessionDir
    ? { cwd, directory: sessionDir }
    : { cwd, directory: defaultSessionDirectory(cwd), root: sessionsRoot() };
  const found = findSessionById(asked, place);
  if (!found) throw new Error(`No session found whose id begins with "${asked}"`);
  return found.path;
}

/** Sessions a person is shown to choose from. */
const shownSessions = 20;

async function askForSession(
  cwd: string,
  sessionDir: string | undefined,
  terminal: Terminal | undefined,
): Promise<SessionManager> {
  if (!terminal) throw new Error("--resume needs a terminal; use --session with a file or the beginning of an id");
  const sessions = (await SessionManager.list(cwd, sessionDir)).slice(0, shownSessions);
  if (sessions.length === 0) throw new Error("There is no session of this directory");
  for (const [index, { name, firstMessage, modified, messageCount }] of sessions.entries()) {
    const title = (name ?? firstMessage).replace(/\s+/g, " ").slice(0, 70);
    terminal.say(
      `${String(index + 1).padStart(3)}  ${modified.toISOString().slice(0, 16)}  ${messageCount} messages  ${title}`,
    );
  }
  const answer = await terminal.ask("Number of the session: ");
  const chosen = sessions[Number(answer.trim()) - 1];
  if (!chosen) throw new Error(`"${answer.trim()}" is not a number from 1 to ${sessions.length}`);
  return SessionManager.open(chosen.path, { sessionDir });
}

/** A session runs in its own directory, which may be gone. */
function checkedDirectory(store: SessionManager): SessionManager {
  const cwd = store.getCwd();
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return store;
  throw new Error(`Cannot open session "${store.getSessionFile()}": its working directory "${cwd}" is gone`);
}
