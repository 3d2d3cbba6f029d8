// Writes a session as one self-contained HTML file.

import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { expandHome } from "../../lib/agent-directory.js";
import { writeFileAtomic } from "../../lib/atomic-write.js";
import type { SessionEntry } from "../../sessions/entries.js";
import { SessionFileError } from "../../sessions/session-error.js";
import type { SessionManager } from "../../sessions/session-manager.js";
import { CommandError } from "../errors.js";

export interface ExportOptions {
  /** The file to write; without it `pi-session-<file name or id of the session>.html`. A file that is there is replaced. */
  outputPath?: string | undefined;
  /** What `outputPath` is relative to; by default the session's working directory. */
  cwd?: string;
  /** What the session consists of; by default what it does at the call. */
  moment?: Moment;
}

/** A session's state, which later entries do not change. */
export interface Moment {
  entries: readonly SessionEntry[];
  leafId: string | null;
}

/**
 * Writes the session and gives the file's absolute path. The session's file is not touched. Throws CommandError
 * `nothing_to_do` for a session without messages, `invalid_params` when the output is blank or the session's own file, and
 * `io_error`, leaving no partial file behind.
 */
export async function exportHtml(store: SessionManager, options: ExportOptions = {}): Promise<string> {
  const { entries, leafId } = options.moment ?? { entries: store.getEntries(), leafId: store.getLeafId() };
  if (!entries.some(isSaid)) throw new CommandError("nothing_to_do", "Nothing to export: the session has no messages");
  if (options.outputPath?.trim() === "")
    throw new CommandError("invalid_params", '"outputPath" must not be empty', "outputPath");
  const path = outputPathOf(store, options);
  if (isSameFile(path, store.getSessionFile()))
    throw new CommandError("invalid_params", `Cannot export to "${path}": it is the session's own file`, "outputPath");
  const facts = { sessionId: store.getSessionId(), cwd: store.getCwd(), exportedAt: Date.now() };
  // Saves every program that exports nothing the page with its script, 300 KB of text.
  const { pageOf } = await import("./page.js");
  try {
    await writeFileAtomic(path, pageOf({ entries, leafId, ...facts }));
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(
      "io_error",
      error instanceof SessionFileError ? message : `Cannot write "${path}": ${message}`,
    );
  }
  return path;
}

/** Settings alone are nothing a person wants to look at. */
function isSaid({ type }: SessionEntry): boolean {
  return type === "message" || type === "custom_message" || type === "compaction" || type === "branch_summary";
}

function outputPathOf(store: SessionManager, { outputPath, cwd = store.getCwd() }: ExportOptions): string {
  if (outputPath !== undefined) return resolve(cwd, expandHome(outputPath));
  const file = store.getSessionFile();
  const name = file ? basename(file).replace(/\.jsonl$/, "") : store.getSessionId();
  return join(resolve(cwd), `pi-session-${name}.html`);
}

/** Also behind links. */
function isSameFile(output: string, sessionFile: string | undefined): boolean {
  if (!sessionFile) return false;
  return output === sessionFile || realPath(output) === realPath(sessionFile);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
