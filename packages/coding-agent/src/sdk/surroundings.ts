// What a session made by an extension shares with the session it is made in.

import type { ExtensionLoader } from "../extensions/loader.js";
import type { ModelRuntime } from "./model-runtime.js";

export interface Surroundings {
  cwd: string;
  agentDir: string;
  /** Whether the resources of the project at `cwd` count. */
  isTrusted: boolean;
  /** Models and keys, with the providers of the session's extensions. */
  modelRuntime: ModelRuntime;
  /** Modules of extensions are evaluated once for all sessions. */
  extensionLoader: ExtensionLoader;
  /** Values of extensions' flags. */
  flags: ReadonlyMap<string, boolean | string>;
}

/** Gives what is around at the moment of the call; undefined where there is no session yet. */
export type Around = () => Surroundings | undefined;

export const nothingAround: Around = () => undefined;
