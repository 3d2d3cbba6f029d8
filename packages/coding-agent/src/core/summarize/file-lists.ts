// Which files a conversation read and changed, so that a summary can name them all.

import type { AgentMessage } from "../messages.js";

/** Paths as the tools were given them, each once, in alphabetical order. A file that was changed is not among those read. */
export interface FileLists {
  readFiles: string[];
  modifiedFiles: string[];
}

/** Files of the messages' tool calls, added to those of an earlier summary. */
export function collectFiles(messages: readonly AgentMessage[], earlier?: Partial<FileLists>): FileLists {
  const read = new Set(strings(earlier?.readFiles));
  const modified = new Set(strings(earlier?.modifiedFiles));
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const { path } = block.arguments;
      if (typeof path !== "string" || !path) continue;
      if (block.name === "read") read.add(path);
      else if (block.name === "edit" || block.name === "write") modified.add(path);
    }
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

/** The end of a summary: both lists, one path a line; nothing for an empty one. */
export function fileListsText({ readFiles, modifiedFiles }: FileLists): string {
  const block = (name: string, paths: string[]) =>
    paths.length > 0 ? `\n\n<${name}>\n${paths.join("\n")}\n</${name}>` : "";
  return block("read-files", readFiles) + block("modified-files", modifiedFiles);
}

/** A summary without the lists at its end. */
export function withoutFileLists(summary: string): string {
  return summary.replace(/(?:\n\n<(read|modified)-files>\n(?:(?!<).*\n)*<\/\1-files>)+$/, "");
}

/** The lists at the end of a summary; empty where it has none. */
export function fileListsIn(summary: string): FileLists {
  const ending = summary.slice(withoutFileLists(summary).length);
  const pathsOf = (name: string) => {
    const [, paths = ""] = new RegExp(`<${name}>\\n([^<]*)</${name}>`).exec(ending) ?? [];
    return paths.split("\n").filter(Boolean);
  };
  return { readFiles: pathsOf("read-files"), modifiedFiles: pathsOf("modified-files") };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
