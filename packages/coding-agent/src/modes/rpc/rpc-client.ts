// The typed client of RPC mode: starts the process, matches answers to calls, hands out events. Loads no agent code.

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ImageContent, ThinkingLevel } from "@earendil-works/pi-ai";
import { LineSplitter } from "../../lib/jsonl.js";
import type { JsonAgentSessionEvent } from "../json-event.js";
import type {
  QueueMode,
  RpcCommandName,
  RpcData,
  RpcErrorCode,
  RpcExtensionUIClosed,
  RpcExtensionUIRequest,
  RpcExtensionUIResponse,
  RpcParams,
  RpcResponse,
} from "./rpc-types.js";

export interface RpcClientOptions {
  /** The script to run with this Node. Default: the command of this package. */
  cliPath?: string;
  cwd?: string;
  /** Added to this process's environment. */
  env?: Record<string, string>;
  provider?: string;
  model?: string;
  args?: string[];
}

/** A record that is no answer: an event, or a request or notice of the extension UI. */
export type RpcClientEvent = JsonAgentSessionEvent | RpcExtensionUIRequest | RpcExtensionUIClosed;

/** A command was refused or failed; `code` is one of the protocol's. */
export class RpcCommandError extends Error {
  readonly code: RpcErrorCode | undefined;
  readonly field: string | undefined;

  constructor({ error, code, field }: { error: string; code?: RpcErrorCode; field?: string }) {
    super(error);
    this.name = "RpcCommandError";
    this.code = code;
    this.field = field;
  }
}

type Pending = { resolve: (data: unknown) => void; reject: (error: Error) => void };

/**
 * One `pi --mode rpc` process. No call has a deadline of its own; when the process ends, every open call and wait
 * rejects with how it ended and the end of its stderr. It can be started again then.
 *
 * ```ts
 * const client = new RpcClient({ model: "demo" });
 * await client.start();
 * const events = await client.promptAndWait("List the files in this directory");
 * await client.stop();
 * ```
 */
export class RpcClient {
  readonly #options: RpcClientOptions;
  readonly #listeners = new Set<(event: RpcClientEvent) => void>();
  readonly #pending = new Map<string, Pending>();
  readonly #waits = new Set<(error: Error) => void>();
  #child: ChildProcess | undefined;
  #exited: Promise<void> | undefined;
  #stderr = "";
  #serial = 0;
  /** The last run settled while nobody waited for it: its end may have come together with the answer to its prompt. */
  #settledUnseen = false;

  constructor(options: RpcClientOptions = {}) {
    this.#options = options;
  }

  /** Starts the process and resolves when it answers. Rejects with its stderr when it ends instead. */
  async start(): Promise<void> {
    if (this.#child) throw new Error("Cannot start: the process is running");
    const { cliPath = defaultCliPath(), cwd, env, provider, model, args = [] } = this.#options;
    const options = [...(provider ? ["--provider", provider] : []), ...(model ? ["--model", model] : [])];
    const child = spawn(process.execPath, [cliPath, "--mode", "rpc", ...options, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.#settledUnseen = false;
    this.#stderr = "";
    child.stdin?.on("error", () => {}); // told by the exit
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrKept);
    });
    const lines = new LineSplitter();
    child.stdout?.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) if (!line.oversized) this.#receive(line.text);
    });
    this.#exited = new Promise((resolve) => {
      const end = (how: string) => {
        if (this.#child === child) this.#child = undefined;
        this.#failAll(new Error(`The process ended (${how})${this.#stderr ? `: ${this.#stderr.trim()}` : ""}`));
        resolve();
      };
      child.once("error", (error) => end(error.message));
      child.once("close", (code, signal) => end(signal ? `signal ${signal}` : `exit code ${code}`));
    });
    await this.call("get_state", {});
  }

  /** Ends the process: SIGTERM, and SIGKILL after two seconds. Harmless when it is not running. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** The end of what the process wrote to stderr. */
  getStderr(): string {
    return this.#stderr;
  }

  /** Every event, in order. A listener may end itself while it is called. Returns the function that ends it. */
  onEvent(listener: (event: RpcClientEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a command and resolves with its data. Rejects with `RpcCommandError` when it is refused or fails. */
  call<K extends RpcCommandName>(type: K, params: RpcParams<K>): Promise<RpcData<K>> {
    const id = `c${++this.#serial}`;
    return new Promise((resolve, reject) => {
      if (!this.#child) return reject(new Error("Cannot send: the process is not running"));
      this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject });
      this.#send({ ...params, id, type });
    });
  }

  /** Answers a dialog of an extension. */
  respond(answer: Omit<RpcExtensionUIResponse, "type">): void {
    this.#send({ ...answer, type: "extension_ui_response" });
  }

  /** Resolves at the next `agent_settled`, or at once when the last run settled and nobody has waited for it. */
  waitForIdle(timeoutMs?: number): Promise<void> {
    if (this.#settledUnseen) {
      this.#settledUnseen = false;
      return Promise.resolve();
    }
    return this.#collect(timeoutMs).then(() => {});
  }

  /** Sends a prompt and resolves with the events of its run. Resolves at once when no run follows (it was handled). */
  async promptAndWait(message: string, images?: ImageContent[], timeoutMs?: number): Promise<RpcClientEvent[]> {
    const stop = new AbortController();
    const events = this.#collect(timeoutMs, stop.signal);
    events.catch(() => {}); // a refused prompt rejects below
    try {
      const { disposition } = await this.call("prompt", { message, ...(images && { images }) });
      if (disposition === "handled") stop.abort();
    } catch (error) {
      stop.abort();
      throw error;
    }
    return events;
  }

  prompt = (message: string, images?: ImageContent[], streamingBehavior?: "steer" | "followUp") =>
    this.call("prompt", { message, ...(images && { images }), ...(streamingBehavior && { streamingBehavior }) });
  steer = (message: string, images?: ImageContent[]) => this.call("steer", { message, ...(images && { images }) });
  followUp = (message: string, images?: ImageContent[]) =>
    this.call("follow_up", { message, ...(images && { images }) });
  clearQueue = () => this.call("clear_queue", {});
  abort = () => this.call("abort", {});
  newSession = (parentSession?: string) => this.call("new_session", parentSession ? { parentSession } : {});
  getState = () => this.call("get_state", {});
  getMessages = (limit?: number) => this.call("get_messages", limit ? { limit } : {}).then(({ messages }) => messages);
  setModel = (provider: string, modelId: string) => this.call("set_model", { provider, modelId });
  cycleModel = () => this.call("cycle_model", {});
  getAvailableModels = () => this.call("get_available_models", {}).then(({ models }) => models);
  setThinkingLevel = (level: ThinkingLevel) => this.call("set_thinking_level", { level });
  cycleThinkingLevel = () => this.call("cycle_thinking_level", {});
  getAvailableThinkingLevels = () => this.call("get_available_thinking_levels", {}).then(({ levels }) => levels);
  setSteeringMode = (mode: QueueMode) => this.call("set_steering_mode", { mode });
  setFollowUpMode = (mode: QueueMode) => this.call("set_follow_up_mode", { mode });
  compact = (customInstructions?: string) => this.call("compact", customInstructions ? { customInstructions } : {});
  setAutoCompaction = (enabled: boolean) => this.call("set_auto_compaction", { enabled });
  setAutoRetry = (enabled: boolean) => this.call("set_auto_retry", { enabled });
  abortRetry = () => this.call("abort_retry", {});
  bash = (command: string, options: { excludeFromContext?: boolean } = {}) =>
    this.call("bash", { command, ...options });
  abortBash = () => this.call("abort_bash", {});
  getSessionStats = () => this.call("get_session_stats", {});
  exportHtml = (outputPath?: string) => this.call("export_html", outputPath ? { outputPath } : {});
  switchSession = (sessionPath: string) => this.call("switch_session", { sessionPath });
  fork = (entryId: string) => this.call("fork", { entryId });
  clone = () => this.call("clone", {});
  getForkMessages = () => this.call("get_fork_messages", {}).then(({ messages }) => messages);
  getEntries = (since?: string, range: { before?: string; limit?: number } = {}) =>
    this.call("get_entries", { ...(since && { since }), ...range });
  getTree = () => this.call("get_tree", {});
  getLastAssistantText = () => this.call("get_last_assistant_text", {}).then(({ text }) => text);
  setSessionName = (name: string) => this.call("set_session_name", { name });
  listSessions = (request: RpcParams<"list_sessions"> = {}) => this.call("list_sessions", request);
  renameSession = (sessionPath: string, name: string) => this.call("rename_session", { sessionPath, name });
  deleteSession = (sessionPath: string) => this.call("delete_session", { sessionPath });
  setLabel = (entryId: string, label?: string) => this.call("set_label", { entryId, ...(label && { label }) });
  navigateTree = (entryId: string, options: Omit<RpcParams<"navigate_tree">, "entryId"> = {}) =>
    this.call("navigate_tree", { entryId, ...options });
  getCommands = () => this.call("get_commands", {}).then(({ commands }) => commands);
  getCapabilities = () => this.call("get_capabilities", {});
  getDiagnostics = () => this.call("get_diagnostics", {}).then(({ diagnostics }) => diagnostics);

  /** The events up to and including the next `agent_settled`; those so far when `stop` aborts. */
  #collect(timeoutMs?: number, stop?: AbortSignal): Promise<RpcClientEvent[]> {
    return new Promise((resolve, reject) => {
      if (!this.#child) return reject(new Error("Cannot wait: the process is not running"));
      const events: RpcClientEvent[] = [];
      let timer: NodeJS.Timeout | undefined;
      const end = () => {
        clearTimeout(timer);
        unsubscribe();
        this.#waits.delete(fail);
      };
      const finish = () => {
        end();
        resolve(events);
      };
      const fail = (error: Error) => {
        end();
        reject(error);
      };
      const unsubscribe = this.onEvent((event) => {
        events.push(event);
        if (event.type === "agent_settled") finish();
      });
      if (timeoutMs) timer = setTimeout(() => fail(new Error(`No end of the run within ${timeoutMs} ms`)), timeoutMs);
      stop?.addEventListener("abort", finish, { once: true });
      this.#waits.add(fail);
    });
  }

  #send(record: object): void {
    this.#child?.stdin?.write(`${JSON.stringify(record)}\n`);
  }

  #receive(line: string): void {
    let record: { type?: string; id?: unknown };
    try {
      record = JSON.parse(line);
    } catch {
      return; // not a record of ours
    }
    if (record.type !== "response") {
      if (record.type === "agent_start") this.#settledUnseen = false;
      if (record.type === "agent_settled") this.#settledUnseen = this.#waits.size === 0;
      for (const listener of [...this.#listeners]) listener(record as RpcClientEvent);
      return;
    }
    const answer = record as RpcResponse;
    const pending = this.#pending.get(String(answer.id));
    if (!pending) return;
    this.#pending.delete(String(answer.id));
    if (answer.success && (answer.data as { disposition?: unknown } | undefined)?.disposition === "started")
      this.#settledUnseen = false;
    if (answer.success) pending.resolve(answer.data);
    else pending.reject(new RpcCommandError(answer));
  }

  #failAll(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
    for (const fail of [...this.#waits]) fail(error);
  }
}

/** Characters of stderr kept for error texts. */
const stderrKept = 10_000;
const killAfterMs = 2000;

/** The bundle has the client beside the command. */
function defaultCliPath(): string {
  return fileURLToPath(new URL("./cli.js", import.meta.url));
}
