import type { ThinkingLevel } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import { AuthStorage } from "../../src/resources/auth.js";
import {
  chooseModel,
  type ModelArguments,
  ModelChoiceError,
  type ResumedModel,
} from "../../src/resources/model-choice.js";
import { ModelRegistry } from "../../src/resources/model-registry.js";
import { type SettingsLayer, SettingsManager } from "../../src/resources/settings-manager.js";
import { workspace } from "./workspace.js";

const provider = (...ids: string[]) => ({
  baseUrl: "http://x",
  api: "openai-completions",
  apiKey: "k",
  models: ids.map((id) => ({ id })),
});

interface Situation {
  args?: ModelArguments;
  settings?: SettingsLayer;
  resumed?: ResumedModel;
  env?: Record<string, string>;
  providers?: Record<string, unknown>;
}

async function choose({ args = {}, settings = {}, resumed, env = {}, providers }: Situation) {
  const { agentDir } = workspace({
    "agent/models.json": {
      providers: providers ?? { local: provider("one", "two"), nokey: { ...provider("x"), apiKey: "$NO" } },
    },
  });
  const registry = ModelRegistry.load({ agentDir, auth: AuthStorage.load({ agentDir, env }) });
  const choice = await chooseModel(registry, args, SettingsManager.inMemory(settings).settings, resumed);
  const model = choice.model && `${choice.model.provider}/${choice.model.id}`;
  return { ...choice, model, registry };
}

const resumed = (name: string, thinkingLevel: ThinkingLevel | null = null): ResumedModel => {
  const [of, modelId] = name.split("/") as [string, string];
  return { model: { provider: of, modelId }, thinkingLevel };
};

describe("the model at start", () => {
  test.each<[string, Situation, string | null]>([
    [
      "--model before all",
      { args: { model: "two", models: "one" }, resumed: resumed("local/one"), settings: { defaultModel: "one" } },
      "local/two",
    ],
    ["--provider alone: its default", { args: { provider: "openai" } }, "openai/gpt-6.2-sol"],
    ["the resumed session's before --models", { args: { models: "one" }, resumed: resumed("local/two") }, "local/two"],
    [
      "the first of --models before the settings",
      { args: { models: "two,one" }, settings: { defaultProvider: "local", defaultModel: "one" } },
      "local/two",
    ],
    ["--models with commas in a pattern", { args: { models: "{zebra,two},one" } }, "local/two"],
    ["--models before enabledModels", { args: { models: ["one"] }, settings: { enabledModels: ["two"] } }, "local/one"],
    ["enabledModels before the default", { settings: { enabledModels: ["two"], defaultModel: "one" } }, "local/two"],
    ["the default of the settings", { settings: { defaultProvider: "local", defaultModel: "two" } }, "local/two"],
    [
      "a default provider alone",
      { settings: { defaultProvider: "anthropic" }, env: { ANTHROPIC_API_KEY: "k" } },
      "anthropic/claude-opus-5-5",
    ],
    ["the user's own providers first", { env: { ANTHROPIC_API_KEY: "k" } }, "local/one"],
    [
      "then the program's in order",
      { env: { GROQ_API_KEY: "k", OPENAI_API_KEY: "k" }, providers: {} },
      "openai/gpt-6.2-sol",
    ],
    ["none without credentials, not even demo", { providers: {} }, null],
    ["demo when asked for", { providers: {}, args: { model: "demo" } }, "demo/demo"],
  ])("%s", async (_, situation, expected) => {
    const choice = await choose(situation);
    expect(choice.model).toBe(expected);
    expect(choice.warnings).toEqual([]);
    if (expected)
      expect(choice.registry.getAvailable().map(({ provider: of, id }) => `${of}/${id}`)).toContain(expected);
  });

  test.each<[string, Situation, string, string]>([
    [
      "a resumed model that is gone",
      { resumed: resumed("local/gone") },
      "local/one",
      `The session's model "local/gone" is not known any more; another one is used`,
    ],
    [
      "a resumed model without credentials",
      { resumed: resumed("nokey/x") },
      "local/one",
      `The session's model "nokey/x" has no credentials; another one is used`,
    ],
    [
      "a default without credentials",
      { settings: { defaultProvider: "nokey", defaultModel: "x" } },
      "local/one",
      'The default model "nokey/x" is ignored: it has no credentials',
    ],
    [
      "a default of an unknown provider",
      { settings: { defaultProvider: "nobody", defaultModel: "x" } },
      "local/one",
      'The default model "nobody/x" is ignored: its provider is unknown',
    ],
    [
      "a model not known",
      { args: { model: "local/new" } },
      "local/new",
      'Provider "local" is not known to have a model "new"; it is used as given',
    ],
    [
      "a pattern without a model",
      { args: { models: "zebra,two" } },
      "local/two",
      'No model with credentials matches "zebra"',
    ],
  ])("warns of %s", async (_, situation, expected, warning) => {
    const choice = await choose(situation);
    expect(choice.model).toBe(expected);
    expect(choice.warnings).toEqual([warning]);
  });

  test.each<[string, Situation]>([
    ["an unknown provider", { args: { provider: "nobody" } }],
    ["an unknown provider of a model", { args: { provider: "nobody", model: "x" } }],
    ["a model nobody has", { args: { model: "zebra" } }],
    ["an unknown level", { args: { thinking: "extreme" } }],
  ])("refuses %s", async (_, situation) => {
    await expect(choose(situation)).rejects.toBeInstanceOf(ModelChoiceError);
  });
});

describe("the level at start", () => {
  const settings: SettingsLayer = { defaultThinkingLevel: "low", modelThinkingLevels: { "local/two": "minimal" } };
  test.each<[string, Situation, ThinkingLevel]>([
    [
      "--thinking before all",
      { args: { thinking: "max", model: "two:high" }, resumed: resumed("local/one", "off") },
      "max",
    ],
    [
      "that of --model before the session's",
      { args: { model: "two:high" }, resumed: resumed("local/one", "off") },
      "high",
    ],
    [
      "the session's before that of a scope",
      { args: { models: "one:high" }, resumed: resumed("local/one", "off") },
      "off",
    ],
    ["that of the scope before the settings", { args: { models: "two:high" } }, "high"],
    ["the model's in the settings", { args: { model: "two" } }, "minimal"],
    ["the default of the settings", { args: { model: "one" } }, "low"],
  ])("%s", async (_, situation, expected) => {
    expect((await choose({ settings, ...situation })).thinkingLevel).toBe(expected);
  });

  test("is medium when nothing says otherwise", async () => {
    expect((await choose({})).thinkingLevel).toBe("medium");
  });
});

test("the scope is what cycling is limited to, with its levels", async () => {
  const { scoped } = await choose({ args: { models: "two:high,one" } });
  expect(scoped).toMatchObject([{ model: { id: "two" }, thinkingLevel: "high" }, { model: { id: "one" } }]);
  expect((await choose({})).scoped).toEqual([]);
});
