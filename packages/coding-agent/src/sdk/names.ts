// The run-time names of the SDK as an extension imports them: bound to the session the extension runs in.

import { ExtensionRuntime } from "../extensions/runtime.js";
import { AgentSession } from "./agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "./create-agent-session.js";
import { ModelRegistry, ModelRuntime } from "./model-runtime.js";
import { DefaultPackageManager } from "./package-manager.js";
import { DefaultResourceLoader, type DefaultResourceLoaderOptions } from "./resource-loader.js";
import { type LoadSkillsOptions, loadSkills, loadSkillsFromDir } from "./skills.js";
import type { Around } from "./surroundings.js";

/** What the extensions of one session act on the session with; for loaders that bring none. */
export function createExtensionRuntime(): ExtensionRuntime {
  return new ExtensionRuntime();
}

export function sdkNames(around: Around): Record<string, unknown> {
  class BoundResourceLoader extends DefaultResourceLoader {
    constructor(options: DefaultResourceLoaderOptions = {}) {
      super(options, around);
    }
  }
  Object.defineProperty(BoundResourceLoader, "name", { value: DefaultResourceLoader.name });
  return {
    AgentSession,
    createAgentSession: (options?: CreateAgentSessionOptions) => createAgentSession(options, around),
    createExtensionRuntime,
    DefaultPackageManager,
    DefaultResourceLoader: BoundResourceLoader,
    loadSkills: (options: LoadSkillsOptions) => loadSkills(options, around),
    loadSkillsFromDir,
    ModelRegistry,
    ModelRuntime,
  };
}
