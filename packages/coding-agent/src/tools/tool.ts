// The contract of the built-in tools: what they are given, and what the system prompt says about them.

import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { TSchema } from "typebox";
import type { ImageLimits } from "../lib/image.js";

/** Time as a tool sees it, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds that only grow. */
  now(): number;
  /** Runs `action` later; the returned function calls it off. */
  after(milliseconds: number, action: () => void): () => void;
}

export interface ToolOptions {
  /** The folder relative paths start at and commands run in. */
  cwd: string;
  shellPath?: string;
  /** Lines run before every command of the bash tool, such as `shopt -s expand_aliases`. */
  commandPrefix?: string;
  /** The whole environment of a command, asked for at each; that of this process unless given. */
  environment?: () => Record<string, string | undefined>;
  /** Where logs of long outputs go; the system's folder for temporary files unless given. */
  tempDirectory?: string;
  /** False leaves large images as they are. Default true. */
  autoResizeImages?: boolean;
  imageLimits?: ImageLimits;
  clock?: Clock;
}

/** A built-in tool and its words in the system prompt, which are there while the tool is active. */
export interface BuiltInTool<TParameters extends TSchema = TSchema, TDetails = unknown>
  extends AgentTool<TParameters, TDetails> {
  /** One line that follows the tool's name in the list of tools. */
  promptSnippet: string;
  /** Rules for the model, one sentence each. */
  promptGuidelines?: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a list of tools of different parameters has no narrower type
export type AnyBuiltInTool = BuiltInTool<any, any>;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Throws when the call was aborted. */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Error("Operation aborted");
}

/** What went wrong, as the system says it without the path: `ENOENT: no such file or directory`. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's text is `CODE: reason, call 'path'`.
  return "code" in error ? error.message.replace(/, \w+(?: '[\s\S]*)?$/, "") : error.message;
}
