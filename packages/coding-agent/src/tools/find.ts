// The find tool: files whose path matches a glob.

import { stat } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import * as Type from "typebox";
import { fileFilter } from "./glob.js";
import type { FindOperations } from "./operations.js";
import { resolveExistingPath, resolvePath } from "./paths.js";
import { listResult, runRipgrep, type SearchDetails } from "./search.js";
import { type BuiltInTool, checkAborted, systemReason, type ToolOptions } from "./tool.js";

export const findParameters = Type.Object({
  pattern: Type.String({ minLength: 1, description: "A glob: *.ts in any folder, src/**/*.test.ts below one" }),
  path: Type.Optional(Type.String({ description: "The folder to search; the working directory when absent" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many files at most; default 1000" })),
});

const defaultLimit = 1000;

/** `operations` finds files in place of this machine. */
export interface FindToolOptions extends ToolOptions {
  operations?: FindOperations;
}

export function createFindTool(options: FindToolOptions): BuiltInTool<typeof findParameters, SearchDetails> {
  return {
    name: "find",
    label: "find",
    description:
      "Find files by a glob pattern. Returns paths relative to the searched folder. Hidden files are included, files that " +
      ".gitignore excludes are not. At most 1000 files or 50KB unless limit says less or more.",
    promptSnippet: "Find files by glob",
    parameters: findParameters,
    async execute(_id, { pattern, path = ".", limit = defaultLimit }, signal) {
      checkAborted(signal);
      const { operations } = options;
      const folder = operations ? resolvePath(path, options.cwd) : resolveExistingPath(path, options.cwd);
      let files: string[] = [];
      let more = false;
      try {
        if (operations) {
          const found = await findElsewhere(pattern, folder, limit, operations);
          more = found.length > limit;
          files = found.slice(0, limit);
        } else {
          if (!(await stat(folder)).isDirectory()) throw new Error("it is not a folder");
          const filter = await fileFilter(pattern);
          await runRipgrep(["--files", ...filter.args], {
            cwd: folder,
            signal,
            onLine: (line) => {
              if (line.oversized || !filter.accepts(line.text)) return true;
              more = files.length === limit;
              if (!more) files.push(line.text);
              return !more;
            },
          });
        }
      } catch (error) {
        checkAborted(signal);
        throw new Error(`Cannot search "${path}": ${systemReason(error)}`);
      }
      if (files.length === 0) return { content: [{ type: "text", text: "No files found matching the pattern" }] };
      return listResult(files, more ? { limit, what: "files" } : undefined);
    },
  };
}

/** One file more than the limit, to know that there are more. */
async function findElsewhere(pattern: string, folder: string, limit: number, operations: FindOperations) {
  if (!(await operations.exists(folder))) throw new Error("no such folder");
  const ignore = ["**/node_modules/**", "**/.git/**"];
  const paths = await operations.glob(pattern, folder, { ignore, limit: limit + 1 });
  return paths.map((file) => (isAbsolute(file) ? relative(folder, file) : file));
}
