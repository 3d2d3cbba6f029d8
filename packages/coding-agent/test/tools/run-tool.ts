// Calls a built-in tool as the loop does and gives its text.

import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import type { AnyBuiltInTool } from "../../src/tools/index.js";

export async function runTool(tool: AnyBuiltInTool, params: unknown, signal?: AbortSignal): Promise<AgentToolResult> {
  return tool.execute("call_1", params, signal, () => undefined);
}

export async function textOf(tool: AnyBuiltInTool, params: unknown): Promise<string> {
  const { content } = await runTool(tool, params);
  return content.map((block) => (block.type === "text" ? block.text : `<${block.mimeType}>`)).join("\n");
}
