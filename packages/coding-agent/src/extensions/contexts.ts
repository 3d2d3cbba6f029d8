// Makes the contexts of handlers, tools and commands from the session in use.

import type { ExtensionCommandContext, ExtensionContext, ExtensionToolContext, ReplacedSessionContext } from "./api.js";
import type { ReplaceOptions } from "./host.js";
import type { ExtensionRuntime } from "./runtime.js";
import type { ExtensionUI } from "./ui.js";

/**
 * The context of handlers. One serves all: it reads everything from the session when it is asked. `around` makes what
 * extensions see of a UI that reaches somebody.
 */
export function handlerContext(runtime: ExtensionRuntime, around: (ui: ExtensionUI) => ExtensionUI): ExtensionContext {
  const hasUi = () => runtime.host.mode === "tui" || runtime.host.mode === "rpc";
  return {
    get ui() {
      return hasUi() ? around(runtime.host.ui) : runtime.host.ui;
    },
    get mode() {
      return runtime.host.mode;
    },
    get hasUI() {
      return hasUi();
    },
    get cwd() {
      return runtime.host.cwd;
    },
    get sessionManager() {
      return runtime.host.sessionManager;
    },
    get modelRegistry() {
      return runtime.host.modelRegistry;
    },
    get model() {
      return runtime.host.model;
    },
    get thinkingLevel() {
      return runtime.host.thinkingLevel;
    },
    get scopedModels() {
      return runtime.host.scopedModels;
    },
    get signal() {
      return runtime.host.signal;
    },
    isProjectTrusted: () => runtime.host.isProjectTrusted,
    isIdle: () => runtime.host.isIdle(),
    hasPendingMessages: () => runtime.host.hasPendingMessages(),
    abort: () => runtime.host.abort(),
    shutdown: () => runtime.host.shutdown(),
    getSystemPrompt: () => runtime.host.systemPrompt(),
    getContextUsage: () => runtime.host.contextUsage(),
    compact: (options = {}) => runtime.host.compact(options),
  };
}

export function commandContext(runtime: ExtensionRuntime, base: ExtensionContext): ExtensionCommandContext {
  const replace = <Options extends ReplaceOptions<ReplacedSessionContext>>(options: Options | undefined) =>
    options as ReplaceOptions<unknown> | undefined;
  return extended<ExtensionContext, Omit<ExtensionCommandContext, keyof ExtensionContext>>(base, {
    waitForIdle: () => runtime.host.waitForIdle(),
    getSystemPromptOptions: () => runtime.host.systemPromptOptions(),
    navigateTree: (entryId, options = {}) => runtime.host.navigateTree(entryId, options),
    newSession: (options) => runtime.host.sessions.newSession(replace(options)),
    switchSession: (path, options) => runtime.host.sessions.switchSession(path, replace(options)),
    fork: (entryId, options) => runtime.host.sessions.fork(entryId, replace(options)),
    reload: () => runtime.host.sessions.reload(),
  });
}

/** A command's context in a session that took the place of another. */
export function replacedContext(runtime: ExtensionRuntime, base: ExtensionCommandContext): ReplacedSessionContext {
  return extended<ExtensionCommandContext, Pick<ReplacedSessionContext, "sendMessage" | "sendUserMessage">>(base, {
    sendMessage: async (message, options = {}) => runtime.host.sendMessage(message, options),
    sendUserMessage: async (content, options = {}) => runtime.host.sendUserMessage(content, options),
  });
}

export function toolContext(
  runtime: ExtensionRuntime,
  base: ExtensionContext,
  toolCallId: string,
): ExtensionToolContext {
  return extended<ExtensionContext, Pick<ExtensionToolContext, "tools" | "executeTool">>(base, {
    get tools() {
      return runtime.host.callableTools();
    },
    executeTool: async (name, args, options = {}) => runtime.host.executeTool(toolCallId, name, args, options),
  });
}

/** A new object with the members of both; members that are computed stay so. */
function extended<Base extends object, More extends object>(base: Base, more: More): Base & More {
  const members = { ...Object.getOwnPropertyDescriptors(base), ...Object.getOwnPropertyDescriptors(more) };
  return Object.defineProperties({}, members) as Base & More;
}
