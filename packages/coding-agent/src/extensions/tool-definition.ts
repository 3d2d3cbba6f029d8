// The tools extensions define, and how one of them becomes a tool of the loop.

import { type AgentToolResult, type AnyAgentTool, whyNoJson } from "@earendil-works/pi-agent-core";
import type { Static, TSchema } from "typebox";
import { textOf } from "../lib/error-text.js";

/**
 * How the model reaches a tool. `direct` and `model-only` tools are declared to it while active; those of the other
 * kinds are not, and `hidden` ones cannot be reached at all.
 */
export type ToolExposure = "direct" | "model-only" | "codemode" | "deferred" | "hidden";

/**
 * A tool as an extension writes it. `execute` gets validated parameters; a throw is an error result with its message.
 * `renderCall`, `renderResult` and `renderShell` draw on terminals, and are kept uncalled.
 */
export interface ToolDefinition<TParameters extends TSchema = TSchema, TDetails = unknown, Context = unknown> {
  name: string;
  label?: string;
  description: string;
  parameters: TParameters;
  /** One line that follows the tool's name in the system prompt while it is active. */
  promptSnippet?: string;
  /** Rules for the model while the tool is active, one sentence each. */
  promptGuidelines?: string[];
  executionMode?: "sequential" | "parallel";
  /** `false`: registered, and left for `setActiveTools` to activate. */
  defaultActive?: boolean;
  exposure?: ToolExposure;
  /** Runs before the arguments are validated. */
  prepareArguments?: (args: unknown) => unknown;
  execute(
    toolCallId: string,
    params: Static<TParameters>,
    signal: AbortSignal | undefined,
    onUpdate: ((partial: AgentToolResult<TDetails>) => void) | undefined,
    ctx: Context,
  ): Promise<AgentToolResult<TDetails>> | AgentToolResult<TDetails>;
  renderCall?: unknown;
  renderResult?: unknown;
  renderShell?: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of tools of different parameters has no narrower type
export type AnyToolDefinition = ToolDefinition<any, any, any>;

/** Throws an error that names what is missing. */
export function checkToolDefinition(definition: unknown): asserts definition is AnyToolDefinition {
  const tool = definition as Partial<AnyToolDefinition> | null;
  if (typeof tool?.name !== "string" || !tool.name.trim()) throw new Error("Cannot register a tool without a name");
  const fail = (what: string): never => {
    throw new Error(`Cannot register tool "${tool.name}": ${what}`);
  };
  if (typeof tool.execute !== "function") fail("execute is not a function");
  if (typeof tool.parameters !== "object" || tool.parameters === null) fail("parameters is not a JSON Schema");
  if (whyNoJson(tool.parameters) !== undefined) fail("parameters cannot be written as JSON");
}

/** The tool as the loop runs it; `contextOf` makes what `execute` gets as its last argument. */
export function toAgentTool(definition: AnyToolDefinition, contextOf: (toolCallId: string) => unknown): AnyAgentTool {
  const { name, label, description = "", parameters, executionMode, prepareArguments } = definition;
  return {
    name,
    ...(label !== undefined && { label }),
    description,
    parameters,
    ...(executionMode && { executionMode }),
    // Called on the definition, which may use `this`.
    ...(prepareArguments && { prepareArguments: (args: unknown) => definition.prepareArguments?.(args) }),
    execute: async (toolCallId, params, signal, onUpdate) => {
      const update = (partial: AgentToolResult) => void onUpdate(partial);
      try {
        return withDefaults(await definition.execute(toolCallId, params, signal, update, contextOf(toolCallId)));
      } catch (error) {
        // An abort is the loop's to tell.
        if (signal?.aborted) throw error;
        return { content: [{ type: "text", text: textOf(error) }], details: {}, isError: true };
      }
    },
  };
}

/** Tools of looser times give a plain text, or no details. */
function withDefaults(result: AgentToolResult): AgentToolResult {
  const loose = result as unknown;
  if (typeof loose === "string") return { content: [{ type: "text", text: loose }], details: {} };
  const { content } = (loose ?? {}) as { content?: unknown };
  if (typeof content === "string") return { ...result, content: [{ type: "text", text: content }] };
  return result;
}
