// RPC mode in this process: the parts that the command line joins, with a made-up outside and a scripted model.

import { ScriptedModel } from "@earendil-works/pi-ai/testing";
import { createRuntime } from "../../src/core/create-session.js";
import type { SessionRuntime } from "../../src/core/session-runtime.js";
import { StoredSessions } from "../../src/core/stored-sessions.js";
import { capabilities } from "../../src/modes/rpc/capabilities.js";
import { runRpcMode } from "../../src/modes/rpc/rpc-mode.js";
import { loadResources } from "../../src/resources/load.js";
import { chooseModel } from "../../src/resources/model-choice.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { type AnsweringModel, answeringModel } from "./answers.js";
import { FakeIo } from "./fake-io.js";
import { modelsFile } from "./models.js";
import { ask, type RpcPeer } from "./peer.js";
import { openWorkspace, type Workspace } from "./workspace.js";

export interface InProcessRpc extends RpcPeer {
  io: FakeIo;
  place: Workspace;
  model: AnsweringModel;
  scripted: ScriptedModel;
  runtime: SessionRuntime;
  /** Ends the mode if it still runs, and removes what it made. */
  dispose(): Promise<void>;
}

export interface InProcessOptions {
  /** Sessions in memory. Default: in files below the workspace. */
  inMemory?: boolean;
  files?: Record<string, unknown>;
  noTools?: boolean;
}

/** Started with the model `scripted/thinker`. The caller disposes of it. */
export async function startInProcessRpc(options: InProcessOptions = {}): Promise<InProcessRpc> {
  const place = openWorkspace(options.files);
  const scripted = new ScriptedModel();
  place.write("agent/models.json", modelsFile(scripted.model.api, "http://127.0.0.1:9"));
  const { agentDir, cwd } = place;
  const resources = loadResources({ cwd, agentDir, env: place.environment(), isTrusted: () => false });
  const choice = await chooseModel(resources.models, { model: "scripted/thinker" }, resources.settings);
  const io = new FakeIo({ writesRecordsOnly: true });
  const runtime = createRuntime(
    {
      agentDir,
      models: resources.models,
      settings: resources.settings,
      env: resources.shellEnvironment(),
      toolSelection: { none: options.noTools === true },
      fault: (error) => io.log(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    },
    {
      store: options.inMemory ? SessionManager.inMemory(cwd) : SessionManager.create(cwd, `${agentDir}/sessions`),
      model: choice.model,
      thinkingLevel: choice.thinkingLevel,
      scopedModels: choice.scoped,
    },
  );
  const openFile = () => runtime.session.store.getSessionFile();
  const ended = runRpcMode(runtime, io, {
    stored: new StoredSessions({ agentDir, sessionDir: `${agentDir}/sessions`, openFile }),
    diagnostics: () => resources.diagnostics(),
    commands: () => [],
    capabilities: () => capabilities("0.0.0"),
  });
  void ended.then(
    (code) => io.list.end(`exit code ${code}`),
    (error) => io.list.end(String(error)),
  );
  const sendRaw = (text: string | Uint8Array) => io.push(typeof text === "string" ? Buffer.from(text) : text);
  const send = (record: object) => sendRaw(`${JSON.stringify(record)}\n`);
  return {
    io,
    place,
    scripted,
    runtime,
    model: answeringModel(scripted),
    records: io.list,
    send,
    sendRaw,
    ask: (command) => ask({ records: io.list, send }, command),
    closeStdin: () => io.endInput(),
    signal: (name) => io.signal(name),
    ended,
    async dispose() {
      io.endInput();
      await ended;
      scripted.dispose();
      place.remove();
    },
  };
}
