// The sessions on disk: list them by pages, rename one, move one to the trash.

import { realpathSync, renameSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { textOf } from "../lib/error-text.js";
import { makeFolders } from "../lib/make-folders.js";
import type { SessionSummary } from "../modes/rpc/rpc-types.js";
import { SessionFileError, SessionLockedError } from "../sessions/session-error.js";
import type { SessionInfo } from "../sessions/session-list.js";
import { SessionManager } from "../sessions/session-manager.js";
import { CommandError, requireName } from "./errors.js";

export interface StoredSessionsOptions {
  agentDir: string;
  /** The directory sessions were asked to be in; absent for the usual one. */
  sessionDir: string | undefined;
  /** The file of the session in use. */
  openFile: () => string | undefined;
}

/** Sessions of one page when the caller names no limit. */
const pageSize = 50;

export class StoredSessions {
  readonly #options: StoredSessionsOptions;

  constructor(options: StoredSessionsOptions) {
    this.#options = options;
  }

  /** Latest first. The cursor is the path of the last session of the page before; one that is gone is `not_found`. */
  async list(request: {
    cwd?: string | undefined;
    cursor?: string | undefined;
    limit?: number | undefined;
  }): Promise<{ sessions: SessionSummary[]; nextCursor?: string }> {
    const { cwd, cursor, limit = pageSize } = request;
    const { sessionDir } = this.#options;
    const all =
      cwd === undefined ? await SessionManager.listAll(sessionDir) : await SessionManager.list(cwd, sessionDir);
    let from = 0;
    if (cursor !== undefined) {
      from = all.findIndex(({ path }) => path === cursor) + 1;
      if (from === 0) throw new CommandError("not_found", `Session not found: ${cursor}`, "cursor");
    }
    const page = all.slice(from, from + limit);
    const last = page.at(-1);
    const hasMore = from + page.length < all.length;
    return { sessions: page.map(summaryOf), ...(hasMore && last && { nextCursor: last.path }) };
  }

  /** Throws CommandError `invalid_params` for an empty name, as `openStore` does, `session_locked`, and `io_error` when the name could not be written. */
  async rename(path: string, name: string): Promise<void> {
    const line = requireName(name);
    const store = openStore(path);
    try {
      await store.acquire();
      store.appendSessionInfo(line, { flush: true });
    } catch (error) {
      throw refusalOf(error);
    } finally {
      store.release();
    }
    if (store.writeFailure) throw refusalOf(store.writeFailure);
  }

  /** Returns where the file is now. Throws CommandError `busy` for the open session, `not_found`, `io_error`. */
  async delete(path: string): Promise<string> {
    const file = resolve(path);
    const { agentDir, openFile } = this.#options;
    if (isSameFile(file, openFile())) throw new CommandError("busy", "The open session cannot be deleted");
    const store = openStore(file); // only a session is moved, and only when nobody writes it
    try {
      await store.acquire(0);
    } catch (error) {
      throw refusalOf(error);
    }
    const trash = join(agentDir, "trash");
    const target = join(trash, `${Date.now()}_${basename(file)}`);
    try {
      makeFolders(trash, 0o700);
      renameSync(file, target);
    } catch (error) {
      throw new CommandError("io_error", `Cannot delete session "${file}": ${(error as Error).message}`);
    } finally {
      store.release();
    }
    return target;
  }
}

/** Links included. */
function isSameFile(path: string, other: string | undefined): boolean {
  if (other === undefined || path === other) return path === other;
  try {
    return realpathSync(path) === realpathSync(other);
  } catch {
    return false; // one of them is not there
  }
}

function refusalOf(error: unknown): CommandError {
  const code = error instanceof SessionLockedError ? "session_locked" : "io_error";
  return new CommandError(code, textOf(error));
}

const codes = {
  missing: "not_found",
  unreadable: "io_error",
  not_a_session: "invalid_params",
  newer_version: "not_supported",
  exists: "io_error",
} as const;

/** Opens a session file for a command. Throws CommandError with the code its fault stands for; nothing is changed. */
export function openStore(path: string, sessionDir?: string): SessionManager {
  try {
    return SessionManager.open(path, { ...(sessionDir !== undefined && { sessionDir }) });
  } catch (error) {
    if (error instanceof SessionFileError) throw new CommandError(codes[error.kind], error.message);
    throw error;
  }
}

function summaryOf(info: SessionInfo): SessionSummary {
  const { path, id, cwd, name, created, modified, messageCount, firstMessage, parentSessionPath } = info;
  return {
    path,
    id,
    cwd,
    ...(name !== undefined && { name }),
    firstMessage: messageCount > 0 ? firstMessage : "",
    created: created.toISOString(),
    modified: modified.toISOString(),
    messageCount,
    ...(parentSessionPath !== undefined && { parentSession: parentSessionPath }),
  };
}
