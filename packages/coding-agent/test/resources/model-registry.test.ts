import { providerFacts, providerIds, readProvider } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import { AuthStorage } from "../../src/resources/auth.js";
import { CredentialsError, ModelRegistry } from "../../src/resources/model-registry.js";
import { type Workspace, workspace } from "./workspace.js";

function registry(options: { models?: unknown; auth?: unknown; env?: Record<string, string>; place?: Workspace } = {}) {
  const place = options.place ?? workspace();
  if (options.models !== undefined) place.write("agent/models.json", options.models);
  if (options.auth !== undefined) place.write("agent/auth.json", options.auth);
  const auth = AuthStorage.load({ agentDir: place.agentDir, env: { PATH: process.env.PATH, ...options.env } });
  return { auth, models: ModelRegistry.load({ agentDir: place.agentDir, auth }) };
}

const local = {
  baseUrl: "http://localhost:1/v1",
  api: "openai-completions",
  apiKey: "x",
  models: [{ id: "one" }, { id: "two", name: "Two", contextWindow: 5, compat: { supportsStore: false } }],
};
const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

describe("models", () => {
  test("of models.json get their defaults, and come before the program's", () => {
    const { models } = registry({ models: { providers: { local, zlocal: local } }, env: { OPENAI_API_KEY: "k" } });
    const available = models.getAvailable();
    expect(available[0]).toEqual({
      id: "one",
      name: "one",
      provider: "local",
      api: "openai-completions",
      baseUrl: "http://localhost:1/v1",
      reasoning: false,
      input: ["text"],
      contextWindow: 128000,
      maxTokens: 16384,
      cost: noCost,
    });
    expect(available[1]).toMatchObject({ id: "two", name: "Two", contextWindow: 5, compat: { supportsStore: false } });
    expect([...new Set(available.map(({ provider }) => provider))]).toEqual(["local", "zlocal", "openai"]);
    expect(models.diagnostics).toEqual([]);
  });

  test("without any credentials none are available, and all are known", () => {
    const { models } = registry();
    expect(models.getAvailable()).toEqual([]);
    const demo = models.find("demo", "demo")!;
    const all = models.getAll();
    expect(all.length).toBe(providerIds.reduce((sum, id) => sum + readProvider(id).length, 0) - 1);
    expect(all).not.toContainEqual(demo);
  });

  test("the demo model is listed only once it was chosen", () => {
    const { models } = registry({ env: { GROQ_API_KEY: "k" } });
    const demo = models.find("demo", "demo")!;
    expect(models.hasCredentials(demo)).toBe(true);
    expect(models.getAvailable().map(({ provider }) => provider)).not.toContain("demo");
    models.include(demo);
    models.include(demo);
    expect(models.getAvailable().filter(({ provider }) => provider === "demo")).toEqual([demo]);
  });

  test("of a built-in provider are redirected, replaced, added to and overridden", () => {
    const base = readProvider("anthropic").find(({ id }) => id === "claude-opus-5-5")!;
    const { models } = registry({
      models: {
        providers: {
          anthropic: {
            baseUrl: "https://proxy",
            compat: { supportsTemperature: false },
            models: [
              { id: "claude-new", name: "New" },
              { id: "claude-opus-5", contextWindow: 7 },
            ],
            modelOverrides: {
              "claude-opus-5-5": { name: "Mine", cost: { input: 99 }, thinkingLevelMap: { low: "l" }, input: ["text"] },
              nobody: { name: "x" },
            },
          },
        },
      },
    });
    const found = models.find("anthropic", "claude-opus-5-5")!;
    expect(found).toEqual({
      ...base,
      baseUrl: "https://proxy",
      name: "Mine",
      input: ["text"],
      cost: { ...base.cost, input: 99 },
      compat: { ...base.compat, supportsTemperature: false },
      thinkingLevelMap: { ...base.thinkingLevelMap, low: "l" },
    });
    expect(base.name).not.toBe("Mine");
    expect(models.find("anthropic", "claude-new")).toMatchObject({ api: base.api, baseUrl: "https://proxy" });
    expect(models.find("anthropic", "claude-opus-5")).toMatchObject({
      contextWindow: 7,
      cost: noCost,
      reasoning: false,
    });
    expect(models.allModelsOf("anthropic")).toHaveLength(readProvider("anthropic").length + 1);
  });

  test("of one wrong provider, model or override leave the others working, named with their place", () => {
    const { models } = registry({
      models: `{
  "providers": {
    "local": ${JSON.stringify(local)},
    "bad": { "baseUrl": 5, "models": [] },
    "part": { "baseUrl": "http://x", "api": "openai-completions", "apiKey": "k", "models": [
      { "name": "no id" },
      { "id": "good" },
      { "id": "odd", "cost": { "input": "free" } }
    ] },
    "noapi": { "baseUrl": "http://x", "models": [{ "id": "m" }] },
    "nourl": { "api": "openai-completions", "models": [{ "id": "m" }, { "id": "n", "baseUrl": "http://n" }] }
  }
}`,
    });
    expect(
      models
        .getAll()
        .filter(({ provider }) => !providerFacts(provider))
        .map(({ provider, id }) => `${provider}/${id}`),
    ).toEqual(["local/one", "local/two", "part/good", "nourl/n"]);
    expect(models.diagnostics.map(({ message, line }) => [message, line])).toEqual([
      ['"providers.bad.baseUrl" must be a string that is not empty; the provider is ignored', 4],
      ['"providers.part.models.0" must have "id"; the model is ignored', 6],
      ['"providers.part.models.2.cost" must have "output"; the model is ignored', 8],
      ['"providers.part.models.2.cost" must have "cacheRead"; the model is ignored', 8],
      ['"providers.part.models.2.cost" must have "cacheWrite"; the model is ignored', 8],
      ['"providers.part.models.2.cost.input" must be a number from 0; the model is ignored', 8],
      ['Model "noapi/m" has no api, and neither has its provider; it is ignored', undefined],
      ['Model "nourl/m" has no baseUrl, and neither has its provider; it is ignored', undefined],
    ]);
  });

  test("of an address, a key or headers that no request can carry are left out, named with their place", () => {
    const { models } = registry({
      models: {
        providers: {
          file: { ...local, baseUrl: "file:///{PLACE}" },
          port: { ...local, baseUrl: "http://h:{PORT}/v1" },
          whole: { ...local, baseUrl: "{PLACE}/v1" },
          key: { ...local, apiKey: "sk-\n1" },
          name: { ...local, headers: { "bad name": "x" } },
          value: { ...local, headers: { "x-a": "a\r\nb" } },
          models: { ...local, models: [{ id: "one", headers: { "x-a": "€" } }, { id: "two" }] },
          overrides: { ...local, modelOverrides: { one: { headers: { "x\n": "x" } }, two: { name: "Other" } } },
          fine: { ...local, apiKey: "!print\nkey", headers: { "x-a": "$NAME", "x-b": "!a\nb" } },
        },
      },
    });
    expect(models.diagnostics.map(({ message }) => message)).toEqual([
      '"providers.file.baseUrl" must be an http or https address; the provider is ignored',
      '"providers.key.apiKey" has characters that no HTTP header can carry; the provider is ignored',
      '"providers.name.headers.bad name" is no name of an HTTP header; the provider is ignored',
      '"providers.value.headers.x-a" has characters that no HTTP header can carry; the provider is ignored',
      '"providers.models.models.0.headers.x-a" has characters that no HTTP header can carry; the model is ignored',
      '"providers.overrides.modelOverrides.one.headers.x\\n" is no name of an HTTP header; the model is ignored',
    ]);
    expect(models.availableProviders()).toEqual(["port", "whole", "models", "overrides", "fine"]);
    expect(models.find("overrides", "two")?.name).toBe("Two");
  });

  test("never show a user or password of their base URL; these go into a header", async () => {
    const login = "ann:s3cret pass";
    const basic = `Basic ${Buffer.from(login).toString("base64")}`;
    const address = "https://ann:s3cret%20pass@gate.example/v1";
    const { models } = registry({
      env: { GATE: address },
      models: {
        providers: {
          local: {
            ...local,
            apiKey: undefined,
            baseUrl: address,
            models: [{ id: "one" }, { id: "two", baseUrl: "{GATE}/two" }],
          },
          own: { ...local, baseUrl: address, headers: { authorization: "Bearer own" } },
          openai: { baseUrl: address },
          ollama: { baseUrl: "http://ann:s3cret%20pass@127.0.0.1:9" },
        },
      },
    });
    models.registerProvider("ext", { ...local, baseUrl: address });
    await models.discover();
    expect(JSON.stringify([models.getAll(), models.diagnostics])).not.toMatch(/s3cret|ann:/);
    expect(models.diagnostics).toMatchObject([{ message: expect.stringContaining("at http://127.0.0.1:9/models: ") }]);
    const request = (provider: string, id: string) => models.resolveRequest(models.find(provider, id)!);
    expect(await request("local", "one")).toMatchObject({ headers: { Authorization: basic } });
    expect(await request("local", "two")).toMatchObject({ headers: { Authorization: basic } });
    expect(models.find("local", "two")?.baseUrl).toBe("https://gate.example/v1/two");
    expect((await request("own", "one")).headers).toEqual({ authorization: "Bearer own" });
    expect(await request("ext", "one")).toMatchObject({ apiKey: "x", headers: { Authorization: basic } });
    expect(models.availableProviders()).toEqual(["local", "own", "openai", "ollama", "ext"]);
    expect(await models.resolveRequest(models.assume("openai", "unknown")!)).toMatchObject({
      headers: { Authorization: basic },
    });
  });

  test("a broken models.json names the place; the program's models are there", () => {
    const { models } = registry({ models: '{"providers": {', env: { OPENAI_API_KEY: "k" } });
    expect(models.diagnostics).toMatchObject([{ severity: "error", source: "models", line: 1, column: 16 }]);
    expect(models.getAvailable().length).toBe(readProvider("openai").length);
  });

  test("of an extension replace or redirect a provider, and go again", () => {
    const { models } = registry({ env: { OPENAI_API_KEY: "k" } });
    models.registerProvider("ext", { ...local, name: "Ext" });
    expect(models.providerName("ext")).toBe("Ext");
    expect(
      models
        .getAvailable()
        .slice(0, 2)
        .map(({ provider, id }) => `${provider}/${id}`),
    ).toEqual(["ext/one", "ext/two"]);
    models.registerProvider("openai", { baseUrl: "https://proxy" });
    expect(models.allModelsOf("openai").every(({ baseUrl }) => baseUrl === "https://proxy")).toBe(true);
    models.registerProvider("openai", { models: [{ id: "only" }] });
    expect(models.allModelsOf("openai")).toMatchObject([{ id: "only", api: "openai-responses" }]);
    models.unregisterProvider("openai");
    models.unregisterProvider("ext");
    expect(models.allModelsOf("openai")).toEqual(readProvider("openai"));
    expect(models.hasProvider("ext")).toBe(false);
  });
});

describe("credentials", () => {
  test.each(providerIds.filter((id) => !providerFacts(id)?.keyless))("%s is available by its variable", async (id) => {
    const facts = providerFacts(id)!;
    const env = Object.fromEntries([facts.env[0]!, ...(facts.urlEnv ?? [])].map((name) => [name, `${name}-value`]));
    const { models } = registry({ env });
    const model = models.defaultModelOf(id)!;
    expect(model.id).toBe(facts.defaultModel);
    expect(models.hasCredentials(model)).toBe(true);
    expect(model.baseUrl).not.toContain("{CLOUDFLARE");
    expect(await models.resolveRequest(model)).toMatchObject({ apiKey: `${facts.env[0]}-value` });
    expect(registry().models.hasCredentials(model)).toBe(false);
  });

  test("Amazon's are variables and profiles, not what a container is given", () => {
    const isThere = (env: Record<string, string>) => registry({ env }).models.hasCredentialsFor("amazon-bedrock");
    expect(isThere({ AWS_PROFILE: "work" })).toBe(true);
    expect(isThere({ AWS_ACCESS_KEY_ID: "i", AWS_SECRET_ACCESS_KEY: "s" })).toBe(true);
    expect(isThere({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/x" })).toBe(false);
    expect(isThere({ AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://x" })).toBe(false);
    expect(isThere({ AWS_WEB_IDENTITY_TOKEN_FILE: "/x", AWS_ROLE_ARN: "x" })).toBe(false);
  });

  test("tokens for Anthropic go into the Authorization header", async () => {
    const request = async (env: Record<string, string>) => {
      const { models } = registry({ env });
      return models.resolveRequest(models.defaultModelOf("anthropic")!);
    };
    expect(await request({ ANTHROPIC_AUTH_TOKEN: "t" })).toMatchObject({ headers: { Authorization: "Bearer t" } });
    expect(await request({ ANTHROPIC_OAUTH_TOKEN: "sk-ant-oat-1", ANTHROPIC_API_KEY: "k" })).toMatchObject({
      headers: { Authorization: "Bearer sk-ant-oat-1", "anthropic-beta": "oauth-2025-04-20" },
    });
    expect(await request({ ANTHROPIC_API_KEY: "k" })).toMatchObject({ apiKey: "k" });
  });

  test("count in order: given, stored, models.json, environment", async () => {
    const { models, auth } = registry({
      env: { OPENAI_API_KEY: "env" },
      auth: { openai: { type: "api_key", key: "stored" } },
      models: { providers: { openai: { apiKey: "config" } } },
    });
    const model = models.defaultModelOf("openai")!;
    auth.setRuntimeKey("openai", "given");
    expect(await models.resolveRequest(model)).toMatchObject({ apiKey: "given" });
    auth.setRuntimeKey("openai", undefined);
    expect(await models.resolveRequest(model)).toMatchObject({ apiKey: "stored" });
    await auth.remove("openai");
    expect(await models.resolveRequest(model)).toMatchObject({ apiKey: "config" });
    expect(await registry({ env: { OPENAI_API_KEY: "env" } }).models.resolveRequest(model)).toMatchObject({
      apiKey: "env",
    });
  });

  test("headers are resolved for each request and are no part of the model", async () => {
    const { models } = registry({
      env: { TOKEN: "t", KEY: "k" },
      models: {
        providers: {
          local: {
            ...local,
            apiKey: "$KEY",
            authHeader: true,
            headers: { "x-a": "provider", "x-b": "$TOKEN" },
            models: [{ id: "one", headers: { "x-a": "!echo model" } }],
            modelOverrides: {},
          },
        },
      },
    });
    const model = models.find("local", "one")!;
    expect(model.headers).toBeUndefined();
    expect(await models.resolveRequest(model)).toMatchObject({
      apiKey: "k",
      headers: { "x-a": "model", "x-b": "t", Authorization: "Bearer k" },
    });
  });

  test("a key that needs a missing variable is none; a header may be the credential", () => {
    const { models } = registry({
      models: {
        providers: {
          unset: { ...local, apiKey: "$NOPE" },
          none: { ...local, apiKey: undefined },
          header: { ...local, apiKey: undefined, headers: { Authorization: "Bearer x" } },
        },
      },
    });
    expect(models.availableProviders()).toEqual(["header"]);
  });

  test("that are missing or fail say how to get them, without a secret", async () => {
    const { models } = registry({ models: { providers: { local: { ...local, apiKey: "!echo secret; exit 1" } } } });
    const failure = async (provider: string) =>
      models.resolveRequest(models.defaultModelOf(provider)!).catch((error) => error);
    expect(await failure("openai")).toEqual(
      new CredentialsError('No API key for provider "openai": set OPENAI_API_KEY, or store a key in auth.json'),
    );
    expect((await failure("cloudflare-workers-ai")).message).toContain("set CLOUDFLARE_ACCOUNT_ID");
    expect((await failure("local")).message).toBe(
      'Cannot get credentials for "local": its command failed with exit code 1',
    );
  });

  test("that no request can carry are refused when they are known, without showing them", async () => {
    const request = async (options: Parameters<typeof registry>[0], provider: string, given?: string) => {
      const { models, auth } = registry(options);
      auth.setRuntimeKey(provider, given);
      return models.resolveRequest(models.defaultModelOf(provider)!).catch((error) => [error.info, error.message]);
    };
    const refusal = (provider: string, what: string) => [
      { kind: "auth" },
      `Cannot get credentials for "${provider}": ${what} has characters that no HTTP header can carry`,
    ];
    const headers = (value: string) => ({ models: { providers: { local: { ...local, headers: { "x-a": value } } } } });
    expect(await request({ env: { OPENAI_API_KEY: "k\n" } }, "openai")).toEqual(refusal("openai", "the key"));
    expect(await request({}, "openai", "k€")).toEqual(refusal("openai", "the key"));
    expect(await request({ env: { ANTHROPIC_AUTH_TOKEN: "k\n" } }, "anthropic")).toEqual(
      refusal("anthropic", 'the value of header "Authorization"'),
    );
    expect(await request(headers("!printf 'a\\nb'"), "local")).toEqual(refusal("local", 'the value of header "x-a"'));
    expect(await request({ ...headers("$A"), env: { A: "€" } }, "local")).toEqual(
      refusal("local", 'the value of header "x-a"'),
    );
  });

  test("a request gets the environment its provider sees", async () => {
    const { models } = registry({
      env: { AZURE_OPENAI_API_KEY: "k", REGION: "general" },
      auth: { azure: { type: "api_key", key: "s", env: { AZURE_OPENAI_RESOURCE_NAME: "mine", REGION: "own" } } },
    });
    const { env, apiKey } = await models.resolveRequest(models.defaultModelOf("azure")!);
    expect([apiKey, env?.AZURE_OPENAI_RESOURCE_NAME, env?.REGION]).toEqual(["s", "mine", "own"]);
  });

  test("credentials that fail count as a matter of authorization", async () => {
    const { models } = registry();
    await expect(models.resolveRequest(models.defaultModelOf("openai")!)).rejects.toMatchObject({
      info: { kind: "auth" },
    });
  });

  test("credentialVariables names every variable read as a key", () => {
    const { models } = registry({
      auth: { groq: { type: "api_key", key: "$STORED_KEY" } },
      models: {
        providers: {
          local: {
            ...local,
            apiKey: "$MY_KEY",
            headers: { "x-a": "Bearer $HEADER_KEY" },
            models: [{ id: "one", headers: { "x-b": "$MODEL_KEY" } }],
          },
        },
      },
    });
    expect(models.credentialVariables()).toEqual(
      expect.arrayContaining([
        ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
        ...["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_WEB_IDENTITY_TOKEN_FILE"],
        ...["STORED_KEY", "MY_KEY", "HEADER_KEY", "MODEL_KEY"],
      ]),
    );
  });
});
