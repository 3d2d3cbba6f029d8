// One handler a command; the compiler asks for each of them.

import { resolve } from "node:path";
import type { AgentSession } from "../../core/agent-session.js";
import { CommandError } from "../../core/errors.js";
import type { SessionRuntime } from "../../core/session-runtime.js";
import type { StoredSessions } from "../../core/stored-sessions.js";
import type { Capabilities, Diagnostic, RpcCommandName, RpcData, RpcParams, SlashCommand } from "./rpc-types.js";

/** What handlers work on. `session` is the current one; a handler that replaces it goes through `runtime`. */
export interface RpcContext {
  runtime: SessionRuntime;
  stored: StoredSessions;
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
  abort: async ({ runtime }, _, { cancelled }) => ({ stopped: cancelled + (await runtime.abort()) }),
  new_session: ({ runtime }, { parentSession }) => runtime.newSession(parentSession),
  get_state: ({ runtime, waitingTexts }) => {
    const state = runtime.session.state();
    const accepting = (state.accepting ?? 0) + waitingTexts();
    const starting = runtime.starting && { starting: true };
    return accepting > 0 ? { ...state, isStreaming: true, accepting, ...starting } : { ...state, ...starting };
  },
  get_messages: ({ runtime }, { limit }) => ({
    messages: limit === undefined ? [...runtime.session.messages] : runtime.session.messages.slice(-limit),
  }),
  set_model: async ({ runtime }, { provider, modelId }) => {
    await runtime.session.acquireForChange();
    return runtime.session.models.set(provider, modelId);
  },
  cycle_model: async ({ runtime }) => {
    await runtime.session.acquireForChange();
    return runtime.session.models.cycle();
  },
  get_available_models: async ({ runtime }) => ({ models: [...(await runtime.session.availableModels())] }),
  set_thinking_level: async ({ runtime }, { level }) => {
    await runtime.session.acquireForChange();
    return { level: await runtime.session.models.setLevel(level) };
  },
  cycle_thinking_level: async ({ runtime }) => {
    await runtime.session.acquireForChange();
    return runtime.session.models.cycleLevel();
  },
  get_available_thinking_levels: ({ runtime }) => ({ levels: runtime.session.models.levels() }),
  set_steering_mode: ({ runtime }, { mode }) => {
    runtime.session.queueModes.steering = mode;
    return undefined;
  },
  set_follow_up_mode: ({ runtime }, { mode }) => {
    runtime.session.queueModes.followUp = mode;
    return undefined;
  },
  compact: ({ runtime }, { customInstructions }) => runtime.session.compact(customInstructions),
  set_auto_compaction: ({ runtime }, { enabled }) => void runtime.session.setAutoCompaction(enabled),
  set_auto_retry: ({ runtime }, { enabled }) => void runtime.session.setAutoRetry(enabled),
  abort_retry: ({ runtime }) => ({ stopped: runtime.session.abortRetry() }),
  bash: ({ runtime }, { command, excludeFromContext }, { record }) =>
    runtime.session.bash({ command, excludeFromContext, ...("id" in record && { id: record.id }) }),
  abort_bash: ({ runtime }, _, { cancelled }) => ({ stopped: cancelled + runtime.session.abortBash() }),
  get_session_stats: ({ runtime }) => runtime.session.stats(),
  export_html: async ({ runtime }, { outputPath }) => {
    const { store } = runtime.session;
    const moment = { entries: store.getEntries(), leafId: store.getLeafId() };
    // Saves every start that exports nothing 1 ms a module.
    const { exportHtml } = await import("../../core/export-html/export-html.js");
    return { path: await exportHtml(store, { outputPath, moment }) };
  },
  switch_session: ({ runtime }, { sessionPath }) => runtime.switchSession(sessionPath),
  fork: ({ runtime }, { entryId }) => runtime.fork(entryId),
  clone: ({ runtime }) => runtime.clone(),
  get_fork_messages: ({ runtime }) => ({ messages: runtime.forkMessages() }),
  get_entries: ({ runtime }, range) => entriesOf(runtime.session.store, range),
  get_tree: ({ runtime }) => ({ tree: runtime.session.store.getTree(), leafId: runtime.session.store.getLeafId() }),
  list_sessions: ({ stored }, request) => stored.list(request),
  rename_session: async ({ runtime, stored }, { sessionPath, name }) => {
    if (resolve(sessionPath) === runtime.session.store.getSessionFile()) await runtime.session.setName(name);
    else await stored.rename(sessionPath, name);
    return undefined;
  },
  delete_session: async ({ stored }, { sessionPath }) => ({ trashPath: await stored.delete(sessionPath) }),
  set_label: ({ runtime }, { entryId, label }) => runtime.session.setLabel(entryId, label).then(() => undefined),
  navigate_tree: ({ runtime }, { entryId, summarize, customInstructions }) =>
    runtime.session.navigate({ entryId, summarize, instructions: customInstructions }),
  get_last_assistant_text: ({ runtime }) => ({ text: runtime.session.lastAssistantText() }),
  set_session_name: ({ runtime }, { name }) => runtime.session.setName(name).then(() => undefined),
  get_commands: ({ commands }) => ({ commands: commands() }),
  get_capabilities: ({ capabilities }) => capabilities(),
  get_diagnostics: ({ diagnostics }) => ({ diagnostics: diagnostics() }),
};

/** A part of the entries in append order. Throws CommandError `not_found` for a cursor that is no entry. */
function entriesOf(
  store: AgentSession["store"],
  { since, before, limit }: RpcParams<"get_entries">,
): RpcData<"get_entries"> {
  const all = store.getEntries();
  const place = (id: string) => {
    // Cursors are near the end as a rule.
    const at = store.getEntry(id) ? all.findLastIndex((entry) => entry.id === id) : -1;
    if (at < 0) throw new CommandError("not_found", `Entry not found: ${id}`, since === id ? "since" : "before");
    return at;
  };
  const from = since === undefined ? 0 : place(since) + 1;
  const to = before === undefined ? all.length : place(before);
  const range = all.slice(from, Math.max(from, to));
  // What is next to the cursor counts: the first ones after it, else the last ones.
  const entries = limit === undefined ? range : since === undefined ? range.slice(-limit) : range.slice(0, limit);
  return { entries, leafId: store.getLeafId() };
}

/** For `get_capabilities`. */
export function supportedCommands(): RpcCommandName[] {
  return Object.keys(rpcHandlers) as RpcCommandName[];
}
