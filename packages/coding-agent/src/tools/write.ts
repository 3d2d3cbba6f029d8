// The write tool: makes a file or replaces its whole content.

import { dirname } from "node:path";
import * as Type from "typebox";
import { writeFileAtomic } from "../lib/atomic-write.js";
import { makeFolders } from "../lib/make-folders.js";
import { withFileMutationQueue } from "./file-queue.js";
import type { WriteOperations } from "./operations.js";
import { resolvePath } from "./paths.js";
import { type BuiltInTool, checkAborted, systemReason, type ToolOptions } from "./tool.js";

export const writeParameters = Type.Object({
  path: Type.String({ description: "The file, relative to the working directory or absolute" }),
  content: Type.String({ description: "The whole new content" }),
});

/** `operations` writes files in place of this machine. */
export interface WriteToolOptions extends ToolOptions {
  operations?: WriteOperations;
}

export function createWriteTool(options: WriteToolOptions): BuiltInTool<typeof writeParameters> {
  return {
    name: "write",
    label: "write",
    description:
      "Write a file: it is created if it is not there, with its folders, and replaced as a whole if it is. Use edit to " +
      "change a part of a file.",
    promptSnippet: "Create or replace whole files",
    promptGuidelines: ["Use write only for new files and complete rewrites."],
    parameters: writeParameters,
    async execute(_id, { path, content }, signal) {
      const target = resolvePath(path, options.cwd);
      return withFileMutationQueue(target, async () => {
        checkAborted(signal);
        try {
          const { operations } = options;
          if (operations) {
            await operations.mkdir(dirname(target));
            await operations.writeFile(target, content);
          } else {
            makeFolders(dirname(target));
            await writeFileAtomic(target, content);
          }
        } catch (error) {
          throw new Error(`Cannot write "${path}": ${systemReason(error)}`);
        }
        return { content: [{ type: "text", text: `Wrote ${Buffer.byteLength(content)} bytes to ${path}` }] };
      });
    },
  };
}
