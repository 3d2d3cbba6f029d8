// Makes the `pi` of one extension: registrations go to the extension, actions to the session in use.

import type { CommandDefinition, ExtensionAPI, FlagDefinition } from "./api.js";
import { exec } from "./exec.js";
import type { AnyHandler, Extension } from "./extension.js";
import type { ProviderRegistration } from "./host.js";
import type { ExtensionRuntime } from "./runtime.js";
import { checkToolDefinition } from "./tool-definition.js";

export interface ApiOptions {
  runtime: ExtensionRuntime;
  /** Throws when another extension has a tool of the name. */
  claimTool: (name: string, extension: Extension) => void;
}

export function createApi(extension: Extension, { runtime, claimTool }: ApiOptions): ExtensionAPI {
  const register = (kind: string) => (name: unknown, what?: unknown) => {
    runtime.assertLive();
    extension.renderers.set(typeof name === "string" ? `${kind}:${name}` : kind, what ?? name);
  };
  return {
    on: (event: string, handler: unknown) => {
      runtime.assertLive();
      if (typeof handler !== "function") throw new Error(`Cannot handle "${event}": the handler is not a function`);
      return extension.on(event, handler as AnyHandler);
    },
    registerTool(definition) {
      runtime.assertLive();
      checkToolDefinition(definition);
      claimTool(definition.name, extension);
      const { path, sourceInfo } = extension;
      const tool = { definition, sourceInfo, extensionPath: path };
      extension.tools.set(definition.name, tool);
      if (isBound(runtime)) runtime.host.toolsChanged(tool);
    },
    registerCommand(name: string, definition: CommandDefinition) {
      runtime.assertLive();
      if (typeof name !== "string" || !/^\S+$/.test(name))
        throw new Error(`Cannot register command "${name}": a name has no spaces`);
      if (typeof definition?.handler !== "function")
        throw new Error(`Cannot register command "${name}": handler is not a function`);
      extension.commands.set(name, definition);
    },
    registerFlag(name: string, definition: FlagDefinition) {
      runtime.assertLive();
      if (typeof name !== "string" || !/^[\w][\w-]*$/.test(name))
        throw new Error(`Cannot register flag "${name}": a name is letters, digits and dashes`);
      if (definition?.type !== "boolean" && definition?.type !== "string")
        throw new Error(`Cannot register flag "${name}": its type is "boolean" or "string"`);
      extension.flags.set(name, definition);
    },
    getFlag: (name) => runtime.flagValues.get(name) ?? extension.flags.get(name)?.default,
    registerProvider(given: string | object, config?: ProviderRegistration) {
      if (typeof given === "string") return runtime.registerProvider(extension, given, config ?? {});
      const provider = given as { id?: unknown; name?: unknown };
      const id = provider.id ?? provider.name;
      if (typeof id !== "string") throw new Error("Cannot register a provider without an id");
      runtime.registerProvider(extension, id, fromProvider(given));
    },
    unregisterProvider: (name) => runtime.unregisterProvider(extension, name),
    events: runtime.bus,
    exec: async (command, args = [], options = {}) => {
      runtime.assertLive();
      const cwd = options.cwd ?? (isBound(runtime) ? runtime.host.cwd : undefined);
      return exec(command, args, { ...options, ...(cwd !== undefined && { cwd }) }, runtime.environment());
    },
    sendMessage(message, options = {}) {
      const { host } = runtime;
      runtime.later("send_message", () => host.sendMessage(message, options));
    },
    sendUserMessage(content, options = {}) {
      const { host } = runtime;
      runtime.later("send_user_message", () => host.sendUserMessage(content, options));
    },
    appendEntry: (customType, data) => runtime.host.appendEntry(customType, data),
    setSessionName: (name) => runtime.host.setSessionName(name),
    getSessionName: () => runtime.host.sessionManager.getSessionName(),
    setLabel: (entryId, label) => runtime.host.setLabel(entryId, label),
    getActiveTools: () => runtime.host.getActiveTools(),
    getAllTools: () => runtime.host.getAllTools(),
    setActiveTools: (names) => runtime.host.setActiveTools(names),
    getCommands: () => runtime.host.getCommands(),
    setModel: async (model) => runtime.host.setModel(model),
    getThinkingLevel: () => runtime.host.thinkingLevel,
    setThinkingLevel: (level) => runtime.host.setThinkingLevel(level),
    getSettings: () => runtime.host.getSettings(),
    registerMessageRenderer: register("message"),
    registerEntryRenderer: register("entry"),
    registerToolRenderer: register("tool"),
    registerMarkdownTransformer: register("markdown"),
    registerShortcut: register("shortcut"),
    registerVirtualModel() {
      throw new Error("Virtual models are not supported");
    },
    unregisterVirtualModel() {},
    registerMcpServer: (name) =>
      runtime.fault(extension.path, "register_mcp_server", `MCP servers are not supported: "${name}" is not connected`),
    unregisterMcpServer() {},
    getMcpServers: () => [],
  } as ExtensionAPI;
}

/** Whether there is a session to act on; throws when it is gone. */
function isBound(runtime: ExtensionRuntime): boolean {
  runtime.assertLive();
  return runtime.isBound;
}

/** A provider object → the registration it stands for. */
function fromProvider(provider: object): ProviderRegistration {
  const { getModels, models, ...rest } = provider as ProviderRegistration & { getModels?: () => readonly object[] };
  const listed = typeof getModels === "function" ? getModels.call(provider) : models;
  const streams = provider as Pick<ProviderRegistration, "streamSimple">;
  return {
    ...rest,
    ...(listed && { models: listed }),
    // Called on the provider, which may use `this`.
    ...(typeof streams.streamSimple === "function" && {
      streamSimple: (model, context, options) =>
        (streams.streamSimple as NonNullable<typeof streams.streamSimple>).call(provider, model, context, options),
    }),
  };
}
