// One mode of the program in this process, from its start to its end, with extensions whose factories are at hand.

import { type ScriptedModel, type ScriptStep, scriptedModel } from "@earendil-works/pi-ai/testing";
import { createRuntime } from "../../src/core/create-session.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import type { SessionRuntime } from "../../src/core/session-runtime.js";
import { StoredSessions } from "../../src/core/stored-sessions.js";
import type { ExtensionFactory } from "../../src/extensions/api.js";
import { DirectoryLoader, type DirectoryOptions } from "../../src/load-directory.js";
import { runJsonMode } from "../../src/modes/json.js";
import { runPrintMode } from "../../src/modes/print.js";
import { capabilities } from "../../src/modes/rpc/capabilities.js";
import { runRpcMode } from "../../src/modes/rpc/rpc-mode.js";
import { chooseModel } from "../../src/resources/model-choice.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { FakeIo } from "../helpers/fake-io.js";
import { modelsFile } from "../helpers/models.js";
import { ask } from "../helpers/peer.js";
import type { JsonRecord } from "../helpers/records.js";
import { openWorkspace, type Workspace } from "../helpers/workspace.js";

export type Mode = "rpc" | "json" | "print";
export const modes: readonly Mode[] = ["rpc", "json", "print"];

export interface PlayOptions {
  /** Sent one after another, each when the one before is over. Default: one that says hello. */
  prompts?: readonly string[];
  /** The first answers of the model; behind them it says "Hi". */
  answers?: readonly (readonly ScriptStep[])[];
  /** Files below the workspace. */
  files?: Record<string, unknown>;
  directory?: Partial<Omit<DirectoryOptions, "outside">>;
  /** Sessions in memory, without a file. */
  inMemory?: boolean;
  /** Model to begin with. */
  model?: string;
  /** A server speaks for the model, at this address. */
  baseUrl?: string;
  /** RPC mode: what the client does behind the prompts, before it closes stdin. */
  drive?: (client: Client) => Promise<void>;
  /** RPC mode: what the client answers to a dialog; nothing leaves it open. */
  answerDialog?: (request: JsonRecord) => object | undefined;
}

export interface Client {
  io: FakeIo;
  runtime: SessionRuntime;
  scripted: ScriptedModel;
  ask: (command: object) => Promise<JsonRecord>;
}

/** How a mode went, when it is over. */
export interface Played {
  mode: Mode;
  code: number;
  io: FakeIo;
  runtime: SessionRuntime;
  /** Every event of every session. */
  events: AgentSessionEvent[];
  /** What extensions did wrong. */
  faults: { event: string; error: string; extensionPath: string }[];
  /** Requests of dialogs and the like; empty where there is no UI. */
  ui: JsonRecord[];
  /** What the model was asked, as texts. */
  requests: string[][];
  scripted: ScriptedModel;
  /** Answers of RPC mode. */
  answers: JsonRecord[];
  place: Workspace;
}

/** An outside whose user answers dialogs. */
class UserIo extends FakeIo {
  constructor(
    mode: Mode,
    readonly answerDialog: PlayOptions["answerDialog"],
  ) {
    super({ writesRecordsOnly: mode === "rpc" });
  }

  override write(record: object): undefined {
    super.write(record);
    const request = record as JsonRecord;
    if (request.type !== "extension_ui_request") return;
    const answer = this.answerDialog?.(request);
    if (answer) this.send({ type: "extension_ui_response", id: request.id, ...answer });
  }
}

/** Runs a mode with extensions to its end. */
export async function play(
  mode: Mode,
  extensions: ExtensionFactory | readonly ExtensionFactory[],
  options: PlayOptions = {},
): Promise<Played> {
  const place = openWorkspace(options.files);
  const scripted = scriptedModel(options.baseUrl === undefined ? {} : { api: "unused-by-the-test" });
  try {
    return await playIn(place, scripted, mode, extensions, options);
  } finally {
    scripted.dispose();
    place.remove();
  }
}

async function playIn(
  place: Workspace,
  scripted: ScriptedModel,
  mode: Mode,
  extensions: ExtensionFactory | readonly ExtensionFactory[],
  options: PlayOptions,
): Promise<Played> {
  const { agentDir, cwd } = place;
  const api = options.baseUrl === undefined ? scripted.model.api : "openai-completions";
  if (!("agent/models.json" in (options.files ?? {})))
    place.write("agent/models.json", modelsFile(api, options.baseUrl ?? "http://127.0.0.1:9"));
  for (const steps of options.answers ?? []) scripted.reply(...steps);
  for (let count = 0; count < 20; count += 1) scripted.reply("Hi");
  const loader = new DirectoryLoader({
    env: place.environment(),
    agentDir,
    extensions: [],
    skills: [],
    prompts: [],
    noExtensions: false,
    noSkills: false,
    noPrompts: false,
    isOffline: true,
    inline: [extensions].flat().map((factory) => ({ factory: factory as ExtensionFactory })),
    modules: async () => ({}),
    outside: () => ({ mode, ui: undefined }),
    ...options.directory,
  });
  let directory = await loader.open(cwd);
  const { models, settings } = directory.resources;
  const choice = await chooseModel(models, { model: options.model ?? "scripted/thinker" }, settings);
  const io = new UserIo(mode, options.answerDialog);
  const runtime = createRuntime(
    {
      agentDir,
      ...directory.forSession(),
      resourcesFor: async (folder, isReload) => {
        if (isReload) loader.forget();
        directory = await loader.open(folder, { isLenient: true });
        return directory.forSession();
      },
      fault: (error) => io.log(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
    },
    {
      store: options.inMemory ? SessionManager.inMemory(cwd) : SessionManager.create(cwd, `${agentDir}/sessions`),
      model: choice.model,
      thinkingLevel: choice.thinkingLevel,
      scopedModels: choice.scoped,
    },
  );
  const events: AgentSessionEvent[] = [];
  runtime.subscribe((event) => void events.push(event));
  const prompts = options.prompts ?? ["Hello"];
  const code = await (mode === "rpc" ? playRpc() : playOnce());
  const { requests } = scripted;
  return {
    mode,
    code,
    io,
    runtime,
    events,
    faults: events
      .filter((event) => event.type === "extension_error")
      .map(({ event, error, extensionPath }) => ({ event, error, extensionPath })),
    ui: io.list.matching({ type: "extension_ui_request" }),
    requests: requests.map(({ context }) => context.messages.map(textOf)),
    scripted,
    answers: io.list.matching({ type: "response" }),
    place,
  };

  async function playOnce(): Promise<number> {
    const input = { prompts: prompts.map((text) => ({ text })), theme: () => "the theme" };
    return mode === "json" ? runJsonMode(runtime, io, input) : runPrintMode(runtime, io, input);
  }

  async function playRpc(): Promise<number> {
    const stored = new StoredSessions({
      agentDir,
      sessionDir: `${agentDir}/sessions`,
      openFile: () => runtime.session.store.getSessionFile(),
    });
    const commands = () => runtime.session.runner?.context && (directory.extensions.commands() ?? []);
    const ended = runRpcMode(
      runtime,
      io,
      {
        stored,
        diagnostics: () => directory.diagnostics(),
        commands: () => commands() ?? [],
        capabilities: () => capabilities("0.0.0"),
      },
      () => "the theme",
    );
    const client: Client = {
      io,
      runtime,
      scripted,
      ask: (command) => ask({ records: io.list, send: (record) => io.send(record) }, command),
    };
    const work = async () => {
      for (const message of prompts) {
        await client.ask({ type: "prompt", message });
        await runtime.quiet();
      }
      await options.drive?.(client);
    };
    // A program that ends before its client is done was asked to end.
    await Promise.race([work(), ended]);
    io.endInput();
    const code = await ended;
    io.list.end(`exit code ${code}`);
    return code;
  }
}

/** The text of a message, with tool calls by name. */
export function textOf(message: { role: string; content?: unknown }): string {
  const { content } = message;
  if (typeof content === "string") return content;
  return ((content ?? []) as { type: string; text?: string; name?: string }[])
    .map(({ type, text, name }) => (type === "toolCall" ? `[${name}]` : (text ?? "")))
    .join("");
}
