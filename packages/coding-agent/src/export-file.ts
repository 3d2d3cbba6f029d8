// `--export session.jsonl [page.html]`: a session file as an HTML page, without starting anything.

import { resolve } from "node:path";
import type { ParsedArgs } from "./args.js";
import { exportHtml } from "./core/export-html/export-html.js";
import { expandHome } from "./lib/agent-directory.js";
import { SessionManager } from "./sessions/session-manager.js";

/**
 * Paths are relative to `cwd`, where the page goes when no name is given. Gives the page's absolute path. Throws an error
 * that says why the file cannot be exported; the file is not changed.
 */
export async function exportFile(file: string, { messages, files }: ParsedArgs, cwd: string): Promise<string> {
  const [outputPath, ...others] = messages;
  if (others.length > 0 || files.length > 0) throw new Error("--export takes a session file and the page to write");
  return exportHtml(SessionManager.open(resolve(cwd, expandHome(file))), { outputPath, cwd });
}
