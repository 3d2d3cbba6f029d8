// The list of built-in tools.

import { createBashTool } from "./bash.js";
import { createEditTool } from "./edit.js";
import { createFindTool } from "./find.js";
import { createGrepTool } from "./grep.js";
import { createLsTool } from "./ls.js";
import { createReadTool } from "./read.js";
import type { AnyBuiltInTool, ToolOptions } from "./tool.js";
import { createWriteTool } from "./write.js";

export type { AnyBuiltInTool, BuiltInTool, Clock, ToolOptions } from "./tool.js";

/** Name → how the tool is made; a tool of ours is a line here. The order is that of requests and of the system prompt. */
const toolFactories = {
  read: createReadTool,
  bash: createBashTool,
  edit: createEditTool,
  write: createWriteTool,
  grep: createGrepTool,
  find: createFindTool,
  ls: createLsTool,
} satisfies Record<string, (options: ToolOptions) => AnyBuiltInTool>;

export type ToolName = keyof typeof toolFactories;

export const toolNames = Object.keys(toolFactories) as readonly ToolName[];

/** The tools that are active unless others are asked for. */
export const defaultToolNames: readonly ToolName[] = ["read", "bash", "edit", "write"];

/** Makes every built-in tool for one working directory. */
export function createTools(options: ToolOptions): Record<ToolName, AnyBuiltInTool> {
  const made = Object.entries(toolFactories).map(([name, create]) => [name, create(options)] as const);
  return Object.fromEntries(made) as Record<ToolName, AnyBuiltInTool>;
}
