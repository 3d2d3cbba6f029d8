// RPC mode of the built program with a loopback server as its model.

import { type ReplayServer, startReplayServer } from "@earendil-works/pi-ai/testing";
import { onTestFinished } from "vitest";
import { type AnsweringModel, answeringServer } from "./answers.js";
import { modelsFile } from "./models.js";
import { type RunningCli, startCli } from "./running-cli.js";
import { type Workspace, workspace } from "./workspace.js";

export interface CliRpc {
  cli: RunningCli;
  place: Workspace;
  server: ReplayServer;
  model: AnsweringModel;
}

/** A server that answers, closed when the test ends, and a workspace whose models.json names it. */
export async function workspaceWithModel(): Promise<Omit<CliRpc, "cli">> {
  const server = await startReplayServer();
  onTestFinished(() => server.close());
  const place = workspace({ "agent/models.json": modelsFile("openai-completions", `${server.url}/v1`) });
  return { place, server, model: answeringServer(server) };
}

/** Started with `--mode rpc --model scripted/thinker` and `args`. */
export async function startCliRpc(
  options: {
    args?: readonly string[];
    env?: Record<string, string>;
    files?: Record<string, unknown>;
    paused?: boolean;
  } = {},
): Promise<CliRpc> {
  const setup = await workspaceWithModel();
  for (const [path, content] of Object.entries(options.files ?? {})) setup.place.write(path, content);
  const args = ["--mode", "rpc", "--model", "scripted/thinker", ...(options.args ?? [])];
  const cli = startCli({
    place: setup.place,
    args,
    ...(options.env && { env: options.env }),
    ...(options.paused && { paused: true }),
  });
  return { ...setup, cli };
}
