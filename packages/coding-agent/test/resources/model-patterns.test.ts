import { beforeEach, describe, expect, test } from "vitest";
import { AuthStorage } from "../../src/resources/auth.js";
import { resolveModel, resolveScope, searchModels } from "../../src/resources/model-patterns.js";
import { ModelRegistry } from "../../src/resources/model-registry.js";
import { workspace } from "./workspace.js";

function registry(env: Record<string, string>, providers: Record<string, unknown> = {}): ModelRegistry {
  const { agentDir } = workspace({ "agent/models.json": { providers } });
  return ModelRegistry.load({ agentDir, auth: AuthStorage.load({ agentDir, env }) });
}

const provider = (...ids: string[]) => ({
  baseUrl: "http://x",
  api: "openai-completions",
  apiKey: "k",
  models: ids.map((id) => ({ id, reasoning: true })),
});

function name(found: ReturnType<typeof resolveModel>): string {
  if ("error" in found) return found.error;
  return `${found.model.provider}/${found.model.id}${found.thinkingLevel ? ` at ${found.thinkingLevel}` : ""}`;
}

describe("resolveModel", () => {
  let models: ModelRegistry;
  beforeEach(() => {
    models = registry(
      { ANTHROPIC_API_KEY: "k" },
      {
        local: provider("qwen2.5-coder:7b", "org/deep", "odd:high", "claude-opus-5-5"),
        other: { ...provider("twin"), apiKey: "$NO" },
        third: { ...provider("twin"), apiKey: "$NO" },
      },
    );
  });

  test.each([
    ["anthropic/claude-sonnet-5-5", "anthropic/claude-sonnet-5-5"],
    ["claude-sonnet-5-5:high", "anthropic/claude-sonnet-5-5 at high"],
    ["anthropic/claude-sonnet-5-5:low", "anthropic/claude-sonnet-5-5 at low"],
    ["CLAUDE-Sonnet-5-5", "anthropic/claude-sonnet-5-5"],
    ["qwen2.5-coder:7b", "local/qwen2.5-coder:7b"],
    ["qwen2.5-coder:7b:high", "local/qwen2.5-coder:7b at high"],
    ["odd:high", "local/odd:high"],
    ["odd:high:low", "local/odd:high at low"],
    ["org/deep", "local/org/deep"],
    ["local/org/deep:max", "local/org/deep at max"],
    ["claude-opus-5-5", "local/claude-opus-5-5"],
    ["openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"],
    ["sonnet", "anthropic/claude-sonnet-5-5"],
    ["anthropic/opus", "anthropic/claude-opus-5-5"],
    ["opus-4", "anthropic/claude-opus-4-8"],
    ["Haiku 4.5 (latest)", "anthropic/claude-haiku-4-5"],
    ["haiku:off", "anthropic/claude-haiku-5-5 at off"],
    ["grok", "xai/grok-4.7"],
    ["demo", "demo/demo"],
  ])("%s is %s", (pattern, expected) => {
    if (expected.startsWith("groq"))
      return expect(name(resolveModel(registry({ GROQ_API_KEY: "k" }), pattern))).toBe(expected);
    return expect(name(resolveModel(models, pattern))).toBe(expected);
  });

  test("--provider restricts the search", () => {
    expect(name(resolveModel(models, "claude-opus-5-5", "anthropic"))).toBe("anthropic/claude-opus-5-5");
    expect(name(resolveModel(models, "anthropic/opus:high", "anthropic"))).toBe("anthropic/claude-opus-5-5 at high");
    expect(name(resolveModel(models, "sonnet", "openrouter"))).toBe("openrouter/anthropic/claude-sonnet-5.5");
  });

  test("what a known provider is not known to have is taken as given, with a warning", () => {
    const found = resolveModel(models, "anthropic/claude-zebra-9:high");
    expect(found).toMatchObject({
      model: {
        id: "claude-zebra-9",
        name: "claude-zebra-9",
        provider: "anthropic",
        api: "anthropic-messages",
        cost: { input: 0 },
      },
      thinkingLevel: "high",
      warning: 'Provider "anthropic" is not known to have a model "claude-zebra-9"; it is used as given',
    });
    expect(resolveModel(models, "zebra", "local")).toMatchObject({ model: { provider: "local", id: "zebra" } });
  });

  test("what nobody knows is an error, as is what several offer without credentials", () => {
    expect(name(resolveModel(models, "zebra"))).toBe('No model matches "zebra"');
    expect(name(resolveModel(models, "nobody/zebra"))).toBe('No model matches "nobody/zebra"');
    expect(name(resolveModel(models, "x", "nobody"))).toMatch(/^Unknown provider "nobody"; known are local, /);
    expect(name(resolveModel(models, "twin"))).toBe(
      '"twin" is offered by several providers, none of which has credentials: other, third; name one with --provider',
    );
  });
});

describe("resolveScope", () => {
  let models: ModelRegistry;
  beforeEach(() => {
    models = registry(
      {},
      {
        a: provider("sonnet-1", "org/sonnet-2", "haiku"),
        b: provider("haiku", "gpt:free"),
        c: { ...provider("opus"), apiKey: "$NO" },
        d: provider("hai-1"),
      },
    );
  });
  const scope = async (...patterns: string[]) => {
    const { scoped, warnings } = await resolveScope(models, patterns);
    return { scoped: scoped.map(name), warnings };
  };

  test.each<[string[], string[]]>([
    [["a/*"], ["a/sonnet-1", "a/org/sonnet-2", "a/haiku"]],
    [["*SONNET*:high"], ["a/sonnet-1 at high", "a/org/sonnet-2 at high"]],
    [
      ["haiku", "a/haiku", " sonnet-1:low "],
      ["a/haiku", "b/haiku", "a/sonnet-1 at low"],
    ],
    [["gpt:free"], ["b/gpt:free"]],
    [["*/gpt:free:low"], ["b/gpt:free at low"]],
    [["sonnet"], ["a/org/sonnet-2"]],
    [["{a,b}/haiku"], ["a/haiku", "b/haiku"]],
    [["a/haik"], ["a/haiku"]],
    [["hai"], ["d/hai-1"]],
  ])("%j is %j", async (patterns, expected) => {
    expect((await scope(...patterns)).scoped).toEqual(expected);
  });

  test("warns of patterns without a model and of models of several providers", async () => {
    expect(await scope("haiku", "opus", "")).toEqual({
      scoped: ["a/haiku", "b/haiku"],
      warnings: ['"haiku" is offered by several providers: a, b', 'No model with credentials matches "opus"'],
    });
  });
});

test("searchModels finds every word, together before spread", () => {
  const models = registry({}, { a: provider("claude-sonnet-5", "s-o-n-n-e-t", "gpt") }).getAvailable();
  expect(searchModels(models, "sonnet").map(({ id }) => id)).toEqual(["claude-sonnet-5", "s-o-n-n-e-t"]);
  expect(searchModels(models, "SON claude").map(({ id }) => id)).toEqual(["claude-sonnet-5"]);
  expect(searchModels(models, "zebra")).toEqual([]);
  expect(searchModels(models, "  ")).toEqual(models);
});
