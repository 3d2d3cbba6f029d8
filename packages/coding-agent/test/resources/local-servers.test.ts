import { type ReplayReply, type ReplayServer, startReplayServer } from "@earendil-works/pi-ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "../../src/resources/auth.js";
import { chooseModel } from "../../src/resources/model-choice.js";
import { ModelRegistry } from "../../src/resources/model-registry.js";
import { defaultSettings } from "../../src/resources/settings.js";
import { workspace } from "./workspace.js";

const json = (value: unknown): ReplayReply => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});
const models = (...ids: string[]) => json({ object: "list", data: ids.map((id) => ({ id, object: "model" })) });

async function server(...replies: ReplayReply[]): Promise<ReplayServer> {
  const started = await startReplayServer();
  onTestFinished(() => started.close());
  return started.reply(...replies);
}

function registryOf(providers: Record<string, object>, env: Record<string, string> = {}) {
  const { agentDir } = workspace({ "agent/models.json": { providers } });
  return ModelRegistry.load({ agentDir, auth: AuthStorage.load({ agentDir, env }) });
}

const idsOf = (registry: ModelRegistry) => registry.getAvailable().map(({ provider, id }) => `${provider}/${id}`);

describe("discover", () => {
  test("lists what the server has, as models that need no key", async () => {
    const ollama = await server(models("qwen3:8b", "llama3.2"));
    const registry = registryOf({ ollama: { baseUrl: `${ollama.url}/v1` } });
    expect(idsOf(registry)).toEqual([]);
    expect(ollama.requests).toHaveLength(0);
    await registry.discover();
    expect(ollama.requests.map(({ method, path }) => [method, path])).toEqual([["GET", "/v1/models"]]);
    expect(registry.getAvailable()[0]).toEqual({
      id: "qwen3:8b",
      name: "qwen3:8b",
      provider: "ollama",
      api: "openai-completions",
      baseUrl: `${ollama.url}/v1`,
      reasoning: false,
      input: ["text"],
      contextWindow: 32_768,
      maxTokens: 16_384,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      compat: { supportsStore: false, maxTokensField: "max_tokens" },
    });
    expect(idsOf(registry)).toEqual(["ollama/qwen3:8b", "ollama/llama3.2"]);
    const { apiKey, headers } = await registry.resolveRequest(registry.getAvailable()[0]!);
    expect([apiKey, headers]).toEqual([undefined, undefined]);
    expect(registry.diagnostics).toEqual([]);
  });

  test("leaves out models whose ids have control characters, and says how many", async () => {
    const ollama = await server(models("good", "two\nlines"), models("a\u0000", "b\u009b", "c\u2028"), models("good"));
    const registry = registryOf({ ollama: { baseUrl: ollama.url } });
    const told = async () => {
      await registry.discover();
      return [idsOf(registry), registry.diagnostics.map(({ message }) => message)];
    };
    const cannot = `Cannot use all models of "ollama" at ${ollama.url}/models: `;
    expect(await told()).toEqual([["ollama/good"], [`${cannot}1 model is left out, whose id has control characters`]]);
    expect(await told()).toEqual([[], [`${cannot}3 models are left out, whose ids have control characters`]]);
    expect(await told()).toEqual([["ollama/good"], []]);
  });

  test("takes the size of the context where a server tells it, and leaves out models that cannot chat", async () => {
    const answers = json({
      data: [
        { id: "vllm", max_model_len: 8192 },
        { id: "llama", meta: { n_ctx_train: 131_072 } },
        { id: "studio", max_context_length: 4096 },
        { id: "text-embedding-nomic" },
        { id: 7 },
        null,
      ],
    });
    const registry = registryOf({ "lm-studio": { baseUrl: (await server(answers)).url } });
    await registry.discover();
    expect(registry.getAvailable().map(({ id, contextWindow, maxTokens }) => [id, contextWindow, maxTokens])).toEqual([
      ["vllm", 8192, 4096],
      ["llama", 131_072, 16_384],
      ["studio", 4096, 2048],
    ]);
  });

  test("what models.json says of the provider and its models holds for those that are found", async () => {
    const llama = await server(models("a", "b"));
    const registry = registryOf({
      "llama-cpp": {
        baseUrl: llama.url,
        apiKey: "local-key",
        headers: { "x-team": "t" },
        compat: { supportsUsageInStreaming: false },
        modelOverrides: { b: { contextWindow: 7, reasoning: true } },
      },
    });
    await registry.discover("llama-cpp");
    expect(llama.requests[0]?.headers).toMatchObject({ authorization: "Bearer local-key", "x-team": "t" });
    expect(registry.find("llama-cpp", "b")).toMatchObject({
      contextWindow: 7,
      reasoning: true,
      compat: { supportsUsageInStreaming: false, maxTokensField: "max_tokens" },
    });
  });

  test("a server that is gone has no models and one diagnostic, which goes when it is back", async () => {
    const gone = await server();
    const { url } = gone;
    await gone.close();
    const registry = registryOf({ ollama: { baseUrl: url } });
    await registry.discover();
    await registry.discover();
    expect(idsOf(registry)).toEqual([]);
    expect(registry.diagnostics).toEqual([
      {
        severity: "warning",
        source: "models",
        message: `Cannot list the models of "ollama" at ${url}/models: ECONNREFUSED`,
      },
    ]);
  });

  test.each<[ReplayReply, string]>([
    [{ status: 503, body: "no" }, "status 503"],
    [{ body: "<html>" }, "the answer is no JSON"],
    [json({ models: [] }), "the answer has no list of models"],
    [json(null), "the answer has no list of models"],
  ])("an answer that is none is told of: %j", async (reply, reason) => {
    const odd = await server(reply, models("back"));
    const registry = registryOf({ ollama: { baseUrl: `${odd.url}/` } });
    await registry.discover();
    const message = `Cannot list the models of "ollama" at ${odd.url}/models: ${reason}`;
    expect(registry.diagnostics.map((diagnostic) => diagnostic.message)).toEqual([message]);
    await registry.discover();
    expect([idsOf(registry), registry.diagnostics]).toEqual([["ollama/back"], []]);
  });

  test("a server that is silent is left after a second", async () => {
    const registry = registryOf({ ollama: { baseUrl: (await server({ body: ["stall"] })).url } });
    await registry.discover();
    expect(registry.diagnostics[0]?.message).toMatch(/: no answer within 1 second$/);
  });

  test("who asks while a server is being asked waits for the same answer", async () => {
    const busy = await server(models("one"));
    const registry = registryOf({ ollama: { baseUrl: busy.url } });
    await Promise.all([registry.discover(), registry.discover("ollama"), registry.discover()]);
    expect(busy.requests).toHaveLength(1);
  });

  test("a server whose models are written down is not asked; what is usual need not be written", async () => {
    const registry = registryOf({ ollama: { models: [{ id: "mine" }] } });
    await registry.discover();
    expect(registry.getAvailable()).toMatchObject([
      { id: "mine", api: "openai-completions", baseUrl: "http://127.0.0.1:11434/v1" },
    ]);
    expect(registry.hasCredentialsFor("ollama")).toBe(true);
    expect(registry.isDiscovered("ollama")).toBe(false);
  });

  test("servers are looked for only where somebody wants them", () => {
    expect(registryOf({}).providerIds).not.toContain("ollama");
    expect(registryOf({}).hasProvider("ollama")).toBe(false);
    const all = registryOf({}, { PI_LOCAL_MODELS: "1" });
    expect(all.providerIds.slice(-3)).toEqual(["ollama", "llama-cpp", "lm-studio"]);
    expect(["0", "", "no"].map((PI_LOCAL_MODELS) => registryOf({}, { PI_LOCAL_MODELS }).hasProvider("ollama"))).toEqual(
      [false, false, false],
    );
    expect(all.providerName("llama-cpp")).toBe("llama.cpp");
  });
});

describe("chooseModel with a local server", () => {
  const settings = defaultSettings();

  test("asks it only when it is named", async () => {
    const ollama = await server(models("one"));
    const registry = registryOf({ ollama: { baseUrl: ollama.url } }, { GROQ_API_KEY: "k" });
    expect((await chooseModel(registry, {}, settings)).model?.provider).toBe("groq");
    expect((await chooseModel(registry, { model: "groq/openai/gpt-oss-120b" }, settings)).model?.provider).toBe("groq");
    expect(ollama.requests).toHaveLength(0);
  });

  test.each<[string, Parameters<typeof chooseModel>[1], Partial<typeof settings>, Parameters<typeof chooseModel>[3]]>([
    ["--model", { model: "ollama/zig-two" }, {}, undefined],
    ["--model with a level", { model: "ollama/zig-two:high" }, {}, undefined],
    ["--provider", { provider: "ollama", model: "zig-two" }, {}, undefined],
    ["--model alone", { model: "zig-two" }, {}, undefined],
    ["--models", { models: "ollama/*-two" }, {}, undefined],
    ["enabledModels", {}, { enabledModels: ["ollama/zig-two"] }, undefined],
    ["the settings", {}, { defaultProvider: "ollama", defaultModel: "zig-two" }, undefined],
    ["the session", {}, {}, { model: { provider: "ollama", modelId: "zig-two" }, thinkingLevel: null }],
  ])("finds its model by %s", async (_, args, own, resumed) => {
    const registry = registryOf({ ollama: { baseUrl: (await server(models("zig-one", "zig-two"))).url } });
    const choice = await chooseModel(registry, args, { ...settings, ...own }, resumed);
    expect([choice.model?.id, choice.warnings]).toEqual(["zig-two", []]);
  });

  test("a model of a server that is down is taken as given", async () => {
    const down = await server();
    const { url } = down;
    await down.close();
    const registry = registryOf({ ollama: { baseUrl: url } });
    const choice = await chooseModel(registry, { model: "ollama/later" }, settings);
    expect(choice.model).toMatchObject({ provider: "ollama", id: "later", baseUrl: url });
    expect(choice.warnings).toHaveLength(1);
  });
});
