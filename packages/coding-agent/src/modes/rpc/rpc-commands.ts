// One handler a command; the compiler asks for each of them.

import { CommandError } from "../../core/errors.js";
import type { SessionRuntime } from "../../core/session-runtime.js";
import type { Capabilities, Diagnostic, RpcCommandName, RpcData, RpcParams, SlashCommand } from "./rpc-types.js";

/** What handlers work on. `session` is the current one; a handler that replaces it goes through `runtime`. */
export interface RpcContext {
  runtime: SessionRuntime;
  diagnostics: () => Diagnostic[];
  capabilities: () => Capabilities;
  commands: () => SlashCommand[];
  /** Texts that have not reached the session yet. */
  waitingTexts: () => number;
}

/** One command on its way. */
export interface RpcCall {
  /** As it came, for those that echo its id in events. */
  record: { id?: unknown };
  /** Commands that were cancelled on its behalf before they were started. */
  cancelled: number;
}

type Handler<K extends RpcCommandName> = (
  context: RpcContext,
  params: RpcParams<K>,
  call: RpcCall,
) => RpcData<K> | Promise<RpcData<K>>;

/** Stands for a command whose engine is not there yet. */
function notSupported(): never {
  throw new CommandError("not_supported", "This command is not supported yet");
}

export const rpcHandlers: { [K in RpcCommandName]: Handler<K> } = {
  prompt: async ({ runtime }, { message, images, streamingBehavior }) => {
    const disposition = await runtime.session.prompt(message, { images, streamingBehavior, source: "rpc" });
    return { disposition };
  },
  steer: async ({ runtime }, { message, images = [] }) => {
    return { disposition: await runtime.session.steer(message, { images, source: "rpc" }) };
  },
  follow_up: async ({ runtime }, { message, images = [] }) => {
    return { disposition: await runtime.session.followUp(message, { images, source: "rpc" }) };
  },
  clear_queue: ({ runtime }) => runtime.session.clearQueue(),
  abort: async ({ runtime }, _, { cancelled }) => ({ stopped: cancelled + (await runtime.session.abort()) }),
  new_session: ({ runtime }, { parentSession }) => runtime.newSession(parentSession),
  get_state: ({ runtime, waitingTexts }) => {
    const state = runtime.session.state();
    const accepting = (state.accepting ?? 0) + waitingTexts();
    return accepting > 0 ? { ...state, isStreaming: true, accepting } : state;
  },
  get_messages: ({ runtime }) => ({ messages: [...runtime.session.messages] }),
  set_model: async ({ runtime }, { provider, modelId }) => {
    await runtime.session.acquireForChange();
    return runtime.session.models.set(provider, modelId);
  },
  cycle_model: async ({ runtime }) => {
    await runtime.session.acquireForChange();
    return runtime.session.models.cycle();
  },
  get_available_models: ({ runtime }) => ({ models: [...runtime.session.availableModels()] }),
  set_thinking_level: async ({ runtime }, { level }) => {
    await runtime.session.acquireForChange();
    return { level: await runtime.session.models.setLevel(level) };
  },
  cycle_thinking_level: async ({ runtime }) => {
    await runtime.session.acquireForChange();
    return runtime.session.models.cycleLevel();
  },
  get_available_thinking_levels: ({ runtime }) => ({ levels: runtime.session.models.levels() }),
  set_steering_mode: ({ runtime }, { mode }) => void runtime.session.setQueueMode("steering", mode),
  set_follow_up_mode: ({ runtime }, { mode }) => void runtime.session.setQueueMode("followUp", mode),
  compact: ({ runtime }, { customInstructions }) => runtime.session.compact(customInstructions),
  set_auto_compaction: ({ runtime }, { enabled }) => void runtime.session.setAutoCompaction(enabled),
  set_auto_retry: ({ runtime }, { enabled }) => void runtime.session.setAutoRetry(enabled),
  abort_retry: ({ runtime }) => ({ stopped: runtime.session.abortRetry() }),
  bash: ({ runtime }, { command, excludeFromContext }, { record }) =>
    runtime.session.bash({ command, excludeFromContext, ...("id" in record && { id: record.id }) }),
  abort_bash: ({ runtime }, _, { cancelled }) => ({ stopped: cancelled + runtime.session.abortBash() }),
  get_session_stats: ({ runtime }) => runtime.session.stats(),
  export_html: notSupported,
  switch_session: notSupported,
  fork: notSupported,
  clone: notSupported,
  get_fork_messages: notSupported,
  get_entries: notSupported,
  get_tree: notSupported,
  get_last_assistant_text: ({ runtime }) => ({ text: runtime.session.lastAssistantText() }),
  set_session_name: ({ runtime }, { name }) => runtime.session.setName(name).then(() => undefined),
  get_commands: ({ commands }) => ({ commands: commands() }),
  get_capabilities: ({ capabilities }) => capabilities(),
  get_diagnostics: ({ diagnostics }) => ({ diagnostics: diagnostics() }),
};

/** Commands that do something, for `get_capabilities`. */
export function supportedCommands(): RpcCommandName[] {
  const names = Object.keys(rpcHandlers) as RpcCommandName[];
  return names.filter((name) => rpcHandlers[name] !== (notSupported as unknown));
}
