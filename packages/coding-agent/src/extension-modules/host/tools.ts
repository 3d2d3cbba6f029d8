// The built-in tools in the form in which extensions make them: for a working directory, with options.

import type { AgentToolUpdate } from "@earendil-works/pi-agent-core";
import { type BashToolOptions, createBashTool as makeBash } from "../../tools/bash.js";
import { type EditToolOptions, createEditTool as makeEdit } from "../../tools/edit.js";
import { type FindToolOptions, createFindTool as makeFind } from "../../tools/find.js";
import { type GrepToolOptions, createGrepTool as makeGrep } from "../../tools/grep.js";
import { type LsToolOptions, createLsTool as makeLs } from "../../tools/ls.js";
import type { BashOperations } from "../../tools/operations.js";
import { createReadTool as makeRead, type ReadToolOptions } from "../../tools/read.js";
import { runCommand } from "../../tools/run-command.js";
import type { AnyBuiltInTool, ToolOptions } from "../../tools/tool.js";
import { createWriteTool as makeWrite, type WriteToolOptions } from "../../tools/write.js";

type Execute = (id: string, params: unknown, signal?: AbortSignal, onUpdate?: AgentToolUpdate) => Promise<unknown>;

/** A tool to register, to spread into another, or to call: `signal` and `onUpdate` may be left out. */
export type ToolForExtensions = Omit<AnyBuiltInTool, "execute"> & { execute: Execute };

function factory<O extends ToolOptions>(make: (options: O) => AnyBuiltInTool) {
  return (cwd: string = process.cwd(), options: Omit<O, "cwd"> = {} as Omit<O, "cwd">): ToolForExtensions => {
    const tool = make({ ...options, cwd } as O);
    return {
      ...tool,
      execute: (id, params, signal, onUpdate = () => undefined) => tool.execute(id, params, signal, onUpdate),
    };
  };
}

export const createReadTool = factory<ReadToolOptions>(makeRead);
export const createBashTool = factory<BashToolOptions>(makeBash);
export const createEditTool = factory<EditToolOptions>(makeEdit);
export const createWriteTool = factory<WriteToolOptions>(makeWrite);
export const createGrepTool = factory<GrepToolOptions>(makeGrep);
export const createFindTool = factory<FindToolOptions>(makeFind);
export const createLsTool = factory<LsToolOptions>(makeLs);

// A tool here is its whole definition, prompt texts included.
export const createReadToolDefinition = createReadTool;
export const createBashToolDefinition = createBashTool;
export const createEditToolDefinition = createEditTool;
export const createWriteToolDefinition = createWriteTool;
export const createGrepToolDefinition = createGrepTool;
export const createFindToolDefinition = createFindTool;
export const createLsToolDefinition = createLsTool;

interface OptionsByTool {
  read?: Omit<ReadToolOptions, "cwd">;
  bash?: Omit<BashToolOptions, "cwd">;
  edit?: Omit<EditToolOptions, "cwd">;
  write?: Omit<WriteToolOptions, "cwd">;
  grep?: Omit<GrepToolOptions, "cwd">;
  find?: Omit<FindToolOptions, "cwd">;
  ls?: Omit<LsToolOptions, "cwd">;
}

/** The tools that are active unless others are asked for. */
export function createCodingTools(cwd: string, options: OptionsByTool = {}): ToolForExtensions[] {
  return [
    createReadTool(cwd, options.read),
    createBashTool(cwd, options.bash),
    createEditTool(cwd, options.edit),
    createWriteTool(cwd, options.write),
  ];
}

/** The tools that change nothing. */
export function createReadOnlyTools(cwd: string, options: OptionsByTool = {}): ToolForExtensions[] {
  return [
    createReadTool(cwd, options.read),
    createGrepTool(cwd, options.grep),
    createFindTool(cwd, options.find),
    createLsTool(cwd, options.ls),
  ];
}

/** Runs commands on this machine, as the bash tool does: output is cleaned, and an abort ends all of its processes. */
export function createLocalBashOperations(options: { shellPath?: string } = {}): BashOperations {
  return {
    async exec(command, cwd, { onData, signal, timeout, env }) {
      const result = await runCommand(command, {
        cwd,
        shellPath: options.shellPath,
        env: env ?? process.env,
        signal,
        timeoutSeconds: timeout,
        // What an extension gives back here is not waited for.
        onOutput: (text) => void onData(Buffer.from(text)),
      });
      if (result.cancelled) throw new Error("aborted");
      if (result.timedOut) throw new Error(`timeout:${timeout}`);
      return { exitCode: result.exitCode ?? null };
    },
  };
}
