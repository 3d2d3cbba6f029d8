// A resource loader → what a session is opened with: extensions with the program's own tools, skills, templates, texts.

import type { DirectoryResources } from "../core/create-session.js";
import { loadedExtensions } from "../core/loaded-extensions.js";
import { Extension } from "../extensions/extension.js";
import { ExtensionRunner } from "../extensions/runner.js";
import { ExtensionRuntime, type ProviderTarget } from "../extensions/runtime.js";
import { type AnyToolDefinition, checkToolDefinition } from "../extensions/tool-definition.js";
import type { Environment } from "../resources/config-value.js";
import type { SettingsManager } from "../resources/settings-manager.js";
import type { ModelRuntime } from "./model-runtime.js";
import type { ResourceLoader } from "./resource-loader.js";

export interface DirectoryParts {
  cwd: string;
  loader: ResourceLoader;
  modelRuntime: ModelRuntime;
  /** Where the extensions' providers go. */
  providers: ProviderTarget;
  settingsManager: SettingsManager;
  env: Environment;
  isTrusted: boolean;
  customTools: readonly AnyToolDefinition[];
}

/** Throws for a custom tool that is none. Extensions' providers are registered here. */
export function directoryOf(parts: DirectoryParts): DirectoryResources {
  const { cwd, loader, modelRuntime, settingsManager, env, customTools } = parts;
  const { settings } = settingsManager;
  const given = loader.getExtensions();
  const runtime = given.runtime instanceof ExtensionRuntime ? given.runtime : new ExtensionRuntime();
  // Last: the program's tools win over those of extensions.
  const extensions = [...given.extensions, ...(customTools.length > 0 ? [ownTools(customTools)] : [])];
  const runner = new ExtensionRunner({ extensions, runtime });
  runtime.bindProviders(parts.providers);
  const loaded = loadedExtensions({
    runner,
    registry: modelRuntime.registry,
    isProjectTrusted: parts.isTrusted,
    cwd,
    found: () => ({ skills: loader.getSkills().skills, prompts: loader.getPrompts().prompts }),
    skillCommands: settings.enableSkillCommands,
    extend: async (paths) => {
      const named = (wanted: "skill" | "prompt") => paths.filter(({ kind }) => kind === wanted);
      await loader.extendResources({ skillPaths: named("skill"), promptPaths: named("prompt"), themePaths: [] });
    },
  });
  return {
    cwd,
    models: modelRuntime.models,
    settings,
    env,
    extensions: loaded,
    contextFiles: loader.getAgentsFiles().agentsFiles,
    promptFiles: { system: loader.getSystemPrompt(), append: loader.getAppendSystemPrompt().join("\n\n") || undefined },
  };
}

/** The program's own tools as one more extension: they are given a context as extensions' tools are. */
function ownTools(tools: readonly AnyToolDefinition[]): Extension {
  const origin = { source: "sdk", scope: "temporary" as const, origin: "top-level" as const };
  const extension = new Extension("<sdk>", { path: "<sdk>", ...origin });
  for (const definition of tools) {
    checkToolDefinition(definition);
    const sourceInfo = { path: `<sdk:${definition.name}>`, ...origin };
    extension.tools.set(definition.name, { definition, sourceInfo, extensionPath: "<sdk>" });
  }
  return extension;
}
