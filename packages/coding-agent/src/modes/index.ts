// The modes by name: what `--mode` may say, and how each is run.

import type { SessionRuntime } from "../core/session-runtime.js";
import type { ModeIo } from "./io.js";
import type { Prompt } from "./one-shot.js";
import type { RpcModeOptions } from "./rpc/rpc-mode.js";

/** What a mode is given beside the session and the streams. */
export interface ModeInput {
  prompts: readonly Prompt[];
  /** The colours extensions use for texts. */
  theme: () => unknown;
  rpc: RpcModeOptions;
}

/** Resolves with the exit code. */
type RunMode = (runtime: SessionRuntime, io: ModeIo, input: ModeInput) => Promise<number>;

// Each mode is loaded when it is chosen, so that none pays for the others.
export const modes: Record<"text" | "json" | "rpc", RunMode> = {
  text: async (runtime, io, input) => (await import("./print.js")).runPrintMode(runtime, io, input),
  json: async (runtime, io, input) => (await import("./json.js")).runJsonMode(runtime, io, input),
  rpc: async (runtime, io, { rpc, theme }) => (await import("./rpc/rpc-mode.js")).runRpcMode(runtime, io, rpc, theme),
};
export type ModeName = keyof typeof modes;
export const modeNames: readonly string[] = Object.keys(modes);
