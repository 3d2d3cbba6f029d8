// What resources are looked for by, and what is found before it is read.

import { isFlagSet } from "../lib/environment-flag.js";
import type { Diagnostic } from "./diagnostic.js";
import type { FoundFile } from "./found-file.js";
import type { ResourceKind } from "./resource-kinds.js";
import type { SettingsManager } from "./settings-manager.js";

export interface DiscoverOptions {
  cwd: string;
  agentDir: string;
  /** Whether the project's own resources count. */
  isTrusted: boolean;
  settings: SettingsManager;
  /** What was named for this process: paths, and for extensions sources of packages. */
  commandLine: Record<ResourceKind, readonly string[]>;
  /** Kinds of which only what the command line names counts. */
  off: Record<ResourceKind, boolean>;
  /** Nothing is installed: packages that are not there are reported. */
  isOffline?: boolean;
  /** The environment of npm and git; absent: this process's. */
  env?: Record<string, string | undefined>;
  home?: string;
}

/** Files by kind, in order, before they are read. */
export type Candidates = Record<ResourceKind, FoundFile[]>;

/** Whether an environment says that nothing may be fetched. */
export function isOffline(env: Record<string, string | undefined>): boolean {
  return isFlagSet(env.PI_OFFLINE);
}

/** A named path where nothing of its kind is. */
export function notThere(kind: ResourceKind, path: string): Diagnostic {
  const what = { extensions: "extension", skills: "skill", prompts: "prompt template" }[kind];
  return {
    severity: "warning",
    source: kind,
    message: `There is no ${what} at "${path}"; it is left out`,
    path,
  };
}
