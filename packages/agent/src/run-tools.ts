// The tool calls of one assistant message: prepared in order, run in parallel, their results in source order.

import type { ToolCall, ToolResultMessage } from "@earendil-works/pi-ai";
import { excerpt } from "@earendil-works/pi-ai";
import { checkedResult } from "./check-result.js";
import { coerceArguments } from "./coerce-arguments.js";
import type { AgentLoopOptions, AgentToolResult, AnyAgentTool, FinishedToolCall } from "./types.js";
import { untilAborted } from "./until-aborted.js";

/** Milliseconds a tool may go on after its abort before the run stops waiting for it. */
const defaultAbortGraceMs = 5000;

interface Prepared {
  toolCall: ToolCall;
  /** How to run it, or why it is not run. */
  plan: { tool: AnyAgentTool; args: unknown } | { refusal: string; terminate?: boolean };
}

export type RunToolsOptions = Pick<
  AgentLoopOptions,
  "emit" | "signal" | "beforeToolCall" | "afterToolCall" | "abortGraceMs"
> & {
  /** The call that makes these. */
  parentToolCallId?: string;
};

export interface ToolBatch {
  /** One a call, in the order of the calls. */
  results: ToolResultMessage[];
  /** Every tool asked to end the run instead of asking the model again. */
  terminate: boolean;
  /** What the calls gave, in their order. */
  finished: readonly FinishedToolCall[];
}

/**
 * Announces every call in order, decides each, runs those that may run, and returns one result a call.
 * A throwing tool, bad arguments and an abort become error results; this function itself does not throw.
 */
export async function runTools(
  calls: readonly ToolCall[],
  tools: readonly AnyAgentTool[],
  options: RunToolsOptions,
): Promise<ToolBatch> {
  const prepared: Prepared[] = [];
  for (const toolCall of calls) {
    await options.emit({
      type: "tool_execution_start",
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      args: toolCall.arguments,
      ...parentOf(options),
    });
    prepared.push({ toolCall, plan: await prepare(toolCall, tools, options) });
  }
  const inTurn = prepared.some(({ plan }) => "tool" in plan && plan.tool.executionMode === "sequential");
  const finished: FinishedToolCall[] = [];
  if (inTurn) for (const item of prepared) finished.push(await execute(item, options));
  else finished.push(...(await Promise.all(prepared.map((item) => execute(item, options)))));
  return toBatch(finished);
}

/** Gives every call the same error result without running it, announced like any other. */
export async function failToolCalls(
  calls: readonly ToolCall[],
  reason: string,
  options: RunToolsOptions,
): Promise<ToolBatch> {
  for (const { id, name, arguments: args } of calls)
    await options.emit({ type: "tool_execution_start", toolCallId: id, toolName: name, args, ...parentOf(options) });
  const finished: FinishedToolCall[] = [];
  for (const toolCall of calls) finished.push(await execute({ toolCall, plan: { refusal: reason } }, options));
  return toBatch(finished);
}

function toBatch(finished: readonly FinishedToolCall[]): ToolBatch {
  const results = finished.map(({ toolCall, result, isError }): ToolResultMessage => {
    const { content, details, usage, structuredContent } = result;
    return {
      role: "toolResult",
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      content,
      ...(details !== undefined && { details }),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(usage && { usage }),
      isError,
      timestamp: Date.now(),
    };
  });
  return { results, finished, terminate: finished.every(({ result }) => result.terminate === true) };
}

async function prepare(
  toolCall: ToolCall,
  tools: readonly AnyAgentTool[],
  { signal, beforeToolCall }: RunToolsOptions,
): Promise<Prepared["plan"]> {
  if (signal.aborted) return { refusal: "Aborted before it ran" };
  const tool = tools.find(({ name }) => name === toolCall.name);
  if (!tool) return { refusal: `Tool ${toolCall.name} not found` };
  if (toolCall.incompleteArguments !== undefined)
    return {
      refusal: `The arguments of "${toolCall.name}" are not complete JSON, so it was not run: ${excerpt(toolCall.incompleteArguments)}`,
    };
  try {
    const raw = tool.prepareArguments ? tool.prepareArguments(toolCall.arguments) : toolCall.arguments;
    const args = await coerceArguments(tool, raw);
    const asked = beforeToolCall?.(toolCall, args, tool);
    const verdict = asked && (await untilAborted(asked, signal, () => new Error("Aborted before it ran")));
    if (verdict?.block) return { refusal: verdict.reason ?? "Blocked", ...(verdict.terminate && { terminate: true }) };
    return { tool, args };
  } catch (error) {
    return { refusal: textOf(error) };
  }
}

async function execute(item: Prepared, options: RunToolsOptions): Promise<FinishedToolCall> {
  const { toolCall, plan } = item;
  let finished: FinishedToolCall;
  let durationMs: number | undefined;
  if ("refusal" in plan) {
    const result = { ...errorResult(plan.refusal), ...(plan.terminate && { terminate: true }) };
    finished = { toolCall, args: toolCall.arguments, result, isError: true };
  } else if (options.signal.aborted) {
    finished = { toolCall, args: plan.args, result: errorResult("Aborted before it ran"), isError: true };
  } else {
    const startedAt = performance.now();
    finished = { toolCall, args: plan.args, ...(await runOne(toolCall, plan.tool, plan.args, options)) };
    durationMs = Math.round(performance.now() - startedAt);
    finished = await patched(finished, options);
  }
  await options.emit({
    type: "tool_execution_end",
    toolCallId: toolCall.id,
    toolName: toolCall.name,
    result: finished.result,
    isError: finished.isError,
    ...(durationMs !== undefined && { durationMs }),
    ...parentOf(options),
  });
  return finished;
}

/** A throwing hook makes the result an error; the rest of the batch goes on. */
async function patched(finished: FinishedToolCall, { afterToolCall }: RunToolsOptions): Promise<FinishedToolCall> {
  if (!afterToolCall) return finished;
  try {
    const after = (await afterToolCall(finished)) ?? finished;
    if (after === finished) return finished;
    const { isError: _, ...result } = checkedResult(after.result, finished.toolCall.name);
    return { ...after, result, isError: after.isError === true };
  } catch (error) {
    return { ...finished, result: errorResult(textOf(error)), isError: true };
  }
}

async function runOne(
  toolCall: ToolCall,
  tool: AnyAgentTool,
  args: unknown,
  options: RunToolsOptions,
): Promise<{ result: AgentToolResult; isError: boolean }> {
  const { signal, emit } = options;
  let over = false; // a tool that was given up, or reports after its end, is not heard any more
  let giveUp: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    onAbort = () => {
      giveUp = setTimeout(
        () => reject(new Error("Aborted (the tool did not stop in time)")),
        options.abortGraceMs ?? defaultAbortGraceMs,
      );
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  abandoned.catch(() => {});
  try {
    const running = (async () =>
      tool.execute(toolCall.id, args, signal, (partialResult) => {
        if (over) return undefined;
        const { id, name, arguments: callArguments } = toolCall;
        const event = { toolCallId: id, toolName: name, args: callArguments, ...parentOf(options) };
        // Throws into the tool when it is nothing that can be shown.
        return emit({ type: "tool_execution_update", ...event, partialResult: checkedResult(partialResult, name) });
      }))();
    running.catch(() => {}); // its failure after it was given up is nobody's
    const result = await Promise.race([running, abandoned]);
    const { isError = false, ...checked } = checkedResult(result, toolCall.name);
    return { result: checked, isError };
  } catch (error) {
    return { result: errorResult(textOf(error), (error as { details?: unknown } | null)?.details), isError: true };
  } finally {
    over = true;
    clearTimeout(giveUp);
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}

/** Tools attach what they know to an error as `details`, so that a failed command still names its log. */
function errorResult(text: string, details?: unknown): AgentToolResult {
  return { content: [{ type: "text", text }], ...(details !== undefined && { details }) };
}

function parentOf({ parentToolCallId }: RunToolsOptions): { parentToolCallId?: string } {
  return parentToolCallId === undefined ? {} : { parentToolCallId };
}

/** What was thrown may be anything, also something that refuses to become a text. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "Something was thrown that has no text";
  }
}
