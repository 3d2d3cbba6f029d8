// What this package offers: the loop, and the contracts around it.

export { Agent, type AgentOptions } from "./agent.js";
export { runAgentLoop } from "./agent-loop.js";
export { isBlock, whyNoJson } from "./check-result.js";
export { coerceArguments } from "./coerce-arguments.js";
export { type RunToolsOptions, runTools, type ToolBatch } from "./run-tools.js";
export * from "./types.js";
export { untilAborted } from "./until-aborted.js";
