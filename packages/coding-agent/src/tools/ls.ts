// The ls tool: the names in a folder.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as Type from "typebox";
import type { LsOperations } from "./operations.js";
import { resolveExistingPath, resolvePath } from "./paths.js";
import { listResult, type SearchDetails } from "./search.js";
import { type BuiltInTool, checkAborted, systemReason, type ToolOptions } from "./tool.js";

export const lsParameters = Type.Object({
  path: Type.Optional(Type.String({ description: "The folder; the working directory when absent" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many names at most; default 500" })),
});

const defaultLimit = 500;

/** `operations` lists folders in place of this machine. */
export interface LsToolOptions extends ToolOptions {
  operations?: LsOperations;
}

export function createLsTool(options: LsToolOptions): BuiltInTool<typeof lsParameters, SearchDetails> {
  return {
    name: "ls",
    label: "ls",
    description:
      "List the names in a folder in alphabetical order, hidden ones included; folders end in '/'. At most 500 names or " +
      "50KB unless limit says less or more.",
    promptSnippet: "List a folder",
    parameters: lsParameters,
    async execute(_id, { path = ".", limit = defaultLimit }, signal) {
      checkAborted(signal);
      const { operations } = options;
      const folder = operations ? resolvePath(path, options.cwd) : resolveExistingPath(path, options.cwd);
      const listed = operations ? listElsewhere(folder, operations) : readdir(folder, { withFileTypes: true });
      const entries = await listed.catch((error: unknown) => {
        throw new Error(`Cannot list "${path}": ${systemReason(error)}`);
      });
      checkAborted(signal);
      const sorted = entries
        .map((entry) => ({ entry, key: entry.name.toLowerCase() }))
        .sort((a, b) => compare(a.key, b.key) || compare(a.entry.name, b.entry.name))
        .slice(0, limit);
      const names: string[] = [];
      for (const { entry } of sorted) {
        const isFolder =
          entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(join(folder, entry.name))));
        names.push(isFolder ? `${entry.name}/` : entry.name);
      }
      checkAborted(signal);
      if (names.length === 0) return { content: [{ type: "text", text: "(empty folder)" }] };
      return listResult(names, entries.length > limit ? { limit, what: "names" } : undefined);
    },
  };
}

async function listElsewhere(folder: string, operations: LsOperations) {
  if (!(await operations.exists(folder))) throw new Error("no such folder");
  if (!(await operations.stat(folder)).isDirectory()) throw new Error("it is not a folder");
  const names = await operations.readdir(folder);
  const isFolder = async (name: string) => (await operations.stat(join(folder, name))).isDirectory();
  return Promise.all(
    names.map(async (name) => {
      // A link that leads nowhere is listed too.
      const folderThere = await isFolder(name).catch(() => false);
      return { name, isDirectory: () => folderThere, isSymbolicLink: () => false };
    }),
  );
}

async function leadsToFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
