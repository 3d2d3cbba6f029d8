// Servers of models on this machine, through the built program.

import { type ReplayServer, startReplayServer } from "@earendil-works/pi-ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { answeringServer } from "../helpers/answers.js";
import type { JsonRecord } from "../helpers/records.js";
import { type RunningCli, runCli, startCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

const rpc = ["--mode", "rpc", "--no-session"];

async function server(): Promise<ReplayServer> {
  const started = await startReplayServer();
  onTestFinished(() => started.close());
  return started;
}

function list(from: ReplayServer, ...ids: string[]): void {
  from.reply({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data: ids.map((id) => ({ id })) }),
  });
}

function placeWith(providers: Record<string, object>) {
  return workspace({ "agent/models.json": { providers } });
}

const idsOf = async (cli: RunningCli) => {
  const { models } = (await cli.ask({ type: "get_available_models" })).data as { models: JsonRecord[] };
  return models.map(({ provider, id }) => `${provider}/${id}`);
};

describe("a local server", () => {
  test("is asked when models are, never at the start; its models need no key", async () => {
    const ollama = await server();
    const cli = startCli({ place: placeWith({ ollama: { baseUrl: `${ollama.url}/v1` } }), args: rpc });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ data: { model: null } });
    expect(ollama.requests).toEqual([]);
    list(ollama, "qwen3:8b", "gpt-oss:20b");
    expect(await idsOf(cli)).toEqual(["ollama/qwen3:8b", "ollama/gpt-oss:20b"]);
    expect(await cli.ask({ type: "set_model", provider: "ollama", modelId: "qwen3:8b" })).toMatchObject({
      success: true,
    });
    list(ollama, "qwen3:8b", "gpt-oss:20b");
    expect(await cli.ask({ type: "cycle_model" })).toMatchObject({
      data: { model: { id: "gpt-oss:20b" }, isScoped: false },
    });
    answeringServer(ollama).answer("hello from here");
    await cli.ask({ type: "prompt", message: "hello" });
    await cli.records.next({ type: "agent_settled", aborted: false });
    expect(await cli.ask({ type: "get_last_assistant_text" })).toMatchObject({ data: { text: "hello from here" } });
    const { path, headers, body } = ollama.requests.at(-1)!;
    expect([path, headers.authorization, (body as JsonRecord).model]).toEqual([
      "/v1/chat/completions",
      undefined,
      "gpt-oss:20b",
    ]);
  });

  test("is asked by set_model and by --model for the model that is named", async () => {
    const studio = await server();
    const place = placeWith({ "lm-studio": { baseUrl: studio.url } });
    const cli = startCli({ place, args: rpc });
    list(studio, "one");
    expect(await cli.ask({ type: "set_model", provider: "lm-studio", modelId: "one" })).toMatchObject({
      success: true,
    });
    list(studio, "one");
    expect(await cli.ask({ type: "set_model", provider: "lm-studio", modelId: "two" })).toMatchObject({
      success: false,
      error: "Model not found: lm-studio/two",
    });
    list(studio, "one");
    const named = startCli({ place, args: [...rpc, "--model", "lm-studio/one"] });
    expect(await named.ask({ type: "get_state" })).toMatchObject({ data: { model: { id: "one" } } });
    expect(named.stderr).toBe("");
  });

  test("is asked by --list-models", async () => {
    const llama = await server();
    list(llama, "gemma-3");
    const place = placeWith({ "llama-cpp": { baseUrl: llama.url } });
    const { code, stdout } = await runCli({ place, args: ["--list-models"], isText: true });
    expect([code, stdout.toString()]).toEqual([0, expect.stringMatching(/^llama-cpp +gemma-3 /m)]);
  });

  test("that is not there has no models and one diagnostic", async () => {
    const gone = await startReplayServer();
    const { url } = gone;
    await gone.close();
    const cli = startCli({ place: placeWith({ ollama: { baseUrl: url } }), args: rpc });
    expect([await idsOf(cli), await idsOf(cli)]).toEqual([[], []]);
    const { diagnostics } = (await cli.ask({ type: "get_diagnostics" })).data as { diagnostics: JsonRecord[] };
    expect(diagnostics).toEqual([
      {
        severity: "warning",
        source: "models",
        message: `Cannot list the models of "ollama" at ${url}/models: ECONNREFUSED`,
      },
    ]);
    expect(cli.stderr).toBe("");
  });

  test("a session goes on with the model of one", async () => {
    const ollama = await server();
    const place = placeWith({ ollama: { baseUrl: ollama.url } });
    list(ollama, "mine");
    answeringServer(ollama).answer("first");
    const first = startCli({ place, args: ["--mode", "rpc", "--model", "ollama/mine"] });
    await first.ask({ type: "prompt", message: "hello" });
    await first.records.next({ type: "agent_settled" });
    const { sessionFile } = (await first.ask({ type: "get_state" })).data as { sessionFile: string };
    first.closeStdin();
    await first.ended;
    list(ollama, "mine");
    const second = startCli({ place, args: ["--mode", "rpc", "--session", sessionFile] });
    expect(await second.ask({ type: "get_state" })).toMatchObject({
      data: { model: { provider: "ollama", id: "mine" } },
    });
    const third = startCli({ place, args: rpc });
    list(ollama, "mine");
    expect(await third.ask({ type: "switch_session", sessionPath: sessionFile })).toMatchObject({ success: true });
    expect(await third.ask({ type: "get_state" })).toMatchObject({
      data: { model: { provider: "ollama", id: "mine" } },
    });
  });
});
