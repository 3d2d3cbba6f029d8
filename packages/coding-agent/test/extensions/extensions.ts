// Extensions made by hand, for tests of the room that runs them.

import type { ExtensionAPI } from "../../src/extensions/api.js";
import { createApi } from "../../src/extensions/create-api.js";
import { Extension } from "../../src/extensions/extension.js";
import type { ExtensionHost } from "../../src/extensions/host.js";
import { ExtensionRunner } from "../../src/extensions/runner.js";
import { type ExtensionFault, ExtensionRuntime } from "../../src/extensions/runtime.js";

export interface RunnerBench {
  runner: ExtensionRunner;
  runtime: ExtensionRuntime;
  /** The `pi` of each extension, in order. */
  apis: ExtensionAPI[];
  faults: ExtensionFault[];
}

/** A runner of as many extensions, `one`, `two`, … */
export function runnerBench(
  count = 2,
  { slowAfterMs, host = { mode: "rpc" } }: { slowAfterMs?: number; host?: Partial<ExtensionHost> } = {},
): RunnerBench {
  const runtime = new ExtensionRuntime();
  const faults: ExtensionFault[] = [];
  runtime.onFault((fault) => faults.push(fault));
  const names = ["one", "two", "three", "four"].slice(0, count);
  const extensions = names.map(
    (name) => new Extension(name, { path: name, source: "local", scope: "user", origin: "top-level" }),
  );
  const claimTool = (tool: string, extension: Extension) => {
    const owner = extensions.find((other) => other !== extension && other.tools.has(tool));
    if (owner) throw new Error(`Tool "${tool}" is registered by "${owner.path}" already`);
  };
  const apis = extensions.map((extension) => createApi(extension, { runtime, claimTool }));
  const runner = new ExtensionRunner({ extensions, runtime, ...(slowAfterMs !== undefined && { slowAfterMs }) });
  runner.bind({ toolsChanged: () => {}, ...host } as ExtensionHost);
  return { runner, runtime, apis, faults };
}
