// One mode of the program in this process, from its start to its end, with extensions whose factories are at hand.

import { type ScriptedModel, type ScriptStep, scriptedModel } from "@earendil-works/pi-ai/testing";
import { parseCommandLine } from "../../src/args.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import type { SessionRuntime } from "../../src/core/session-runtime.js";
import type { ExtensionFactory } from "../../src/extensions/api.js";
import { stackOf } from "../../src/lib/error-text.js";
import type { DirectoryOptions } from "../../src/load-directory.js";
import { modes as modesByName } from "../../src/modes/index.js";
import { type OpenedSession, openSession } from "../../src/open-session.js";
import { sessionDirectories } from "../../src/session-directories.js";
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
  const io = new UserIo(mode, options.answerDialog);
  const argv = [
    ...["--mode", mode === "print" ? "text" : mode, "--offline", "--session-dir", `${agentDir}/sessions`],
    ...["--model", options.model ?? "scripted/thinker", ...(options.inMemory ? ["--no-session"] : [])],
  ];
  const current: { opened?: OpenedSession } = {};
  const directories = sessionDirectories(parseCommandLine(argv), {
    env: place.environment(),
    ui: () => current.opened?.runtime.bindings.ui,
    instead: {
      inline: [extensions].flat().map((factory) => ({ factory: factory as ExtensionFactory })),
      modules: async () => ({}),
      ...options.directory,
    },
  });
  const opened = await openSession(argv, {
    cwd,
    directories: { ...directories, theme: () => "the theme" as unknown as object },
    tell: ({ message }) => io.log(message),
    fault: (error) => io.log(`bug: ${stackOf(error)}`),
    version: "0.0.0",
  });
  if (Array.isArray(opened)) throw new Error(opened.join("\n"));
  current.opened = opened;
  const { runtime, input } = opened;
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
    return modesByName[mode === "json" ? "json" : "text"](runtime, io, {
      ...input,
      prompts: prompts.map((text) => ({ text })),
    });
  }

  async function playRpc(): Promise<number> {
    const ended = modesByName.rpc(runtime, io, { ...input, prompts: [] });
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
