// What the tools that search have in common: running ripgrep, and a result that says where it was cut.

import type { ChildProcess } from "node:child_process";
import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import { LineSplitter, type SplitLine } from "../lib/jsonl.js";
import { processGroups, spawnGroup } from "../lib/shell.js";
import { checkAborted } from "./tool.js";
import { defaultMaxBytes, formatSize, type TruncationDetails, truncateHead } from "./truncate.js";

/** `truncation` when the size limit cut the result, `limitReached` when the number of results did. */
export interface SearchDetails {
  truncation?: TruncationDetails;
  limitReached?: number;
}

/** Ripgrep's options for every search: hidden files too, ignore files respected with and without git, no user settings. */
const baseArguments = ["--no-config", "--hidden", "--no-require-git", "--glob=!.git", "--no-messages", "--sort=path"];

/** Bytes of one line of ripgrep's output above which the line is left out. */
const maxOutputLine = 16 * 1024 * 1024;
/** Characters of ripgrep's complaints that are kept. */
const maxComplaint = 4000;

/**
 * Runs ripgrep in `cwd` and hands over its output line by line until `onLine` returns false. Throws with ripgrep's own words
 * when it fails, and when the call is aborted.
 */
export async function runRipgrep(
  args: readonly string[],
  options: { cwd: string; signal: AbortSignal | undefined; onLine: (line: SplitLine) => boolean },
): Promise<void> {
  checkAborted(options.signal);
  // Saves every start without a search the look-up of the binary.
  const { rgPath } = await import("@vscode/ripgrep");
  checkAborted(options.signal);
  const child = startRipgrep(rgPath, args, options.cwd);
  const stop = () => void (child.pid !== undefined && processGroups.end(child.pid, "SIGKILL"));
  options.signal?.addEventListener("abort", stop, { once: true });
  try {
    const splitter = new LineSplitter({ maxBytes: maxOutputLine });
    let wanted = true;
    let complaint = "";
    const take = (lines: SplitLine[]) => {
      for (const line of lines) {
        if (!wanted) return;
        wanted = options.onLine(line);
        if (!wanted) stop();
      }
    };
    child.stdout!.on("data", (bytes: Buffer) => wanted && take(splitter.push(bytes)));
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(0, maxComplaint);
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", (error) => reject(new Error(`Cannot start ripgrep: ${error.message}`)));
      child.once("close", (exitCode) => resolve(exitCode));
    });
    checkAborted(options.signal);
    if (wanted) take(splitter.end());
    // 1 = nothing found; 2 with a complaint = a fault, without one = some files could not be read.
    if (wanted && code !== 0 && code !== 1 && complaint.trim() !== "")
      throw new Error(complaint.trim().replace(/^rg: /, ""));
  } finally {
    options.signal?.removeEventListener("abort", stop);
  }
}

function startRipgrep(rgPath: string, args: readonly string[], cwd: string): ChildProcess {
  try {
    return spawnGroup(rgPath, [...baseArguments, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`Cannot start ripgrep: ${code === "E2BIG" ? "the pattern is too long for the system" : message}`);
  }
}

/** Lines as a tool's result, cut to the limits of output, with a notice for each limit that cut it. */
export function listResult(
  lines: readonly string[],
  reached: { limit: number; what: string } | undefined,
  notes: readonly string[] = [],
): AgentToolResult<SearchDetails> {
  const { content, ...truncation } = truncateHead(lines.join("\n"), { maxLines: Number.POSITIVE_INFINITY });
  const notices = [...notes];
  if (reached)
    notices.unshift(
      `The limit of ${reached.limit} ${reached.what} is reached; there are more. Raise limit or narrow the search`,
    );
  if (truncation.truncated) notices.push(`The limit of ${formatSize(defaultMaxBytes)} is reached`);
  const details: SearchDetails = {
    ...(truncation.truncated ? { truncation: { ...truncation, maxLines: truncation.totalLines } } : {}),
    ...(reached ? { limitReached: reached.limit } : {}),
  };
  return {
    content: [{ type: "text", text: notices.length > 0 ? `${content}\n\n[${notices.join(". ")}]` : content }],
    details: Object.keys(details).length > 0 ? details : undefined,
  };
}
