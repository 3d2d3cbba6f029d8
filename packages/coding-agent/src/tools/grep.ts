// The grep tool: lines that match a pattern.

import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as Type from "typebox";
import type { SplitLine } from "../lib/jsonl.js";
import { refuseNul } from "../lib/nul-character.js";
import { openRegularFile } from "../lib/open-regular-file.js";
import { fileFilter } from "./glob.js";
import type { GrepOperations } from "./operations.js";
import { resolveExistingPath } from "./paths.js";
import { listResult, runRipgrep, type SearchDetails } from "./search.js";
import { type BuiltInTool, checkAborted, systemReason, type ToolOptions } from "./tool.js";
import { truncateLine } from "./truncate.js";

export const grepParameters = Type.Object({
  pattern: Type.String({ minLength: 1, description: "A regular expression, or plain text with literal" }),
  path: Type.Optional(Type.String({ description: "The folder or file to search; the working directory when absent" })),
  glob: Type.Optional(Type.String({ minLength: 1, description: "Only files matching this glob, such as *.ts" })),
  ignoreCase: Type.Optional(Type.Boolean({ description: "Upper and lower case are the same" })),
  literal: Type.Optional(Type.Boolean({ description: "The pattern is plain text" })),
  context: Type.Optional(Type.Integer({ minimum: 0, description: "Lines to show around each match; default 0" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many matches at most; default 100" })),
});

const defaultLimit = 100;
/** Characters of one line that are shown. */
const maxLineCharacters = 500;

/** `operations` says what is a folder; the search itself is done on this machine. */
export interface GrepToolOptions extends ToolOptions {
  operations?: GrepOperations;
}

export function createGrepTool(options: GrepToolOptions): BuiltInTool<typeof grepParameters, SearchDetails> {
  return {
    name: "grep",
    label: "grep",
    description:
      "Search the contents of files. Returns matching lines as path:line: text, with paths relative to the searched folder. " +
      "Hidden files are included, files that .gitignore excludes are not. At most 100 matches or 50KB; lines longer than " +
      "500 characters are cut.",
    promptSnippet: "Search file contents",
    parameters: grepParameters,
    async execute(_id, params, signal) {
      checkAborted(signal);
      const { path = ".", limit = defaultLimit } = params;
      refuseNul(params.pattern, "Cannot search for", "a pattern");
      const target = resolveExistingPath(path, options.cwd);
      const matches = new Matches(limit);
      try {
        const isFolder = options.operations
          ? await options.operations.isDirectory(target)
          : (await stat(target)).isDirectory();
        const isFile = !isFolder;
        if (isFile) await checkReadable(target);
        const filter = params.glob === undefined ? undefined : await fileFilter(params.glob);
        matches.accepts = filter?.accepts ?? matches.accepts;
        const args = ["--json", ...(filter?.args ?? [])];
        if (params.ignoreCase) args.push("--ignore-case");
        if (params.literal) args.push("--fixed-strings");
        if (params.context) args.push(`--context=${params.context}`);
        args.push("-e", params.pattern, "--", isFile ? basename(target) : ".");
        await runRipgrep(args, {
          cwd: isFile ? dirname(target) : target,
          signal,
          onLine: (line) => matches.take(line),
        });
      } catch (error) {
        checkAborted(signal);
        throw new Error(`Cannot search "${path}": ${systemReason(error)}`);
      }
      if (matches.count === 0) return { content: [{ type: "text", text: "No matches found" }] };
      const notes = matches.wereCut
        ? [`Some lines are cut at ${maxLineCharacters} characters; use read to see them`]
        : [];
      return listResult(matches.lines, matches.more ? { limit, what: "matches" } : undefined, notes);
    },
  };
}

/** Throws for a file ripgrep would wait at for ever: a pipe, a device, or one of the kernel's that has nothing to tell yet. */
async function checkReadable(file: string): Promise<void> {
  const { handle } = await openRegularFile(file);
  await handle.read(Buffer.alloc(1), 0, 1, 0).finally(() => handle.close());
}

/** Text ripgrep gives: as it is, or as base64 when it is not UTF-8. */
interface RipgrepText {
  text?: string;
  bytes?: string;
}

/** The records of `rg --json` that are used here. */
interface RipgrepRecord {
  type: "begin" | "match" | "context" | "end" | "summary";
  data: { path?: RipgrepText; lines?: RipgrepText; line_number?: number | null };
}

/** Turns ripgrep's records into lines until the limit is passed. */
class Matches {
  readonly lines: string[] = [];
  accepts: (path: string) => boolean = () => true;
  count = 0;
  more = false;
  wereCut = false;
  readonly #limit: number;
  #path = "";

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when no more records are wanted. */
  take(line: SplitLine): boolean {
    if (line.oversized) return this.#addMatch(() => `${this.#path}: [a match in a line too long to show]`);
    const { type, data } = JSON.parse(line.text) as RipgrepRecord;
    if (type === "begin") {
      this.#path = decode(data.path).replace(/^\.\//, "");
      return true;
    }
    if (type === "match") return this.#addMatch(() => this.#format(data, ":"));
    if (type === "context" && this.accepts(this.#path)) this.lines.push(this.#format(data, "-"));
    return true;
  }

  #addMatch(format: () => string): boolean {
    if (!this.accepts(this.#path)) return true;
    this.more = this.count === this.#limit;
    if (this.more) return false;
    this.count++;
    this.lines.push(format());
    return true;
  }

  #format(data: RipgrepRecord["data"], mark: ":" | "-"): string {
    const number = data.line_number ?? 0;
    const { text, wasTruncated } = truncateLine(decode(data.lines).replace(/\r?\n$/, ""), maxLineCharacters);
    this.wereCut ||= wasTruncated;
    return `${this.#path}${mark}${number}${mark} ${text}`;
  }
}

function decode(value: RipgrepText | undefined): string {
  return value?.text ?? Buffer.from(value?.bytes ?? "", "base64").toString("utf8");
}
