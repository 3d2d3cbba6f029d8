// Models and keys as programs hold them, and providers that sessions bring beside another session.

import { join } from "node:path";
import { scriptedModel } from "@earendil-works/pi-ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { ExtensionProviders } from "../../src/core/extension-providers.js";
import { modelAccess } from "../../src/core/model-access.js";
import { AuthStorage } from "../../src/resources/auth.js";
import { ModelRegistry as Models } from "../../src/resources/model-registry.js";
import { ModelRuntime } from "../../src/sdk/model-runtime.js";
import { modelsFile } from "../helpers/models.js";
import { workspace } from "../helpers/workspace.js";

const config = (name: string) => ({ name, baseUrl: "http://127.0.0.1:1", apiKey: "k", api: "openai-completions" });
const withModel = (name: string, id: string) => ({ ...config(name), models: [{ id }] });

describe("ModelRuntime", () => {
  it("reads the files it is told of", async () => {
    const place = workspace({
      "here/my-models.json": modelsFile("openai-completions", "http://127.0.0.1:1"),
      "here/my-keys.json": { anthropic: { type: "api_key", key: "stored" } },
    });
    const runtime = await ModelRuntime.create({
      authPath: join(place.root, "here/my-keys.json"),
      modelsPath: join(place.root, "here/my-models.json"),
      env: {},
    });
    expect(runtime.getModels("scripted").map(({ id }) => id)).toEqual(["thinker", "plain"]);
    expect((await runtime.getAvailable("scripted")).length).toBe(2);
    expect(await runtime.getAuth("anthropic")).toMatchObject({ apiKey: "stored" });
    expect([runtime.hasConfiguredAuth("anthropic"), runtime.hasConfiguredAuth("openai")]).toEqual([true, false]);
    expect(runtime.getProvider("scripted")).toMatchObject({ id: "scripted" });
    expect(runtime.getError()).toBeUndefined();
  });

  it("says what is wrong with models.json", () => {
    const { agentDir } = workspace({ "agent/models.json": "{" });
    expect(ModelRuntime.load({ agentDir, env: {} }).getError()).toBeDefined();
  });

  it("uses and forgets a key in this process only", async () => {
    const { agentDir } = workspace();
    const runtime = ModelRuntime.load({ agentDir, env: {} });
    await runtime.setRuntimeApiKey("openai", "given");
    expect(await runtime.getAuth("openai")).toMatchObject({ apiKey: "given" });
    await runtime.removeRuntimeApiKey("openai");
    expect(await runtime.getAuth("openai")).toBeUndefined();
  });

  it("calls models with the keys it knows", async () => {
    const scripted = scriptedModel();
    onTestFinished(() => scripted.dispose());
    const { agentDir } = workspace({ "agent/models.json": modelsFile(scripted.model.api, "http://127.0.0.1:1") });
    const runtime = ModelRuntime.load({ agentDir, env: {} });
    const model = runtime.getModel("scripted", "plain");
    if (!model) throw new Error("The model of the test is not there");
    const context = {
      messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }], timestamp: 1 }],
    };
    scripted.reply("one").reply("two").reply("three");
    const answers = [
      await runtime.complete(model, context),
      await runtime.completeSimple(model, context),
      await runtime.stream(model, context).result(),
    ];
    expect(answers.map(({ content }) => content)).toEqual(
      ["one", "two", "three"].map((text) => [expect.objectContaining({ text })]),
    );
    expect(scripted.requests.map(({ options }) => options.apiKey)).toEqual(Array(3).fill("key-for-tests"));
  });

  it("takes providers, and takes them back", () => {
    const { agentDir } = workspace();
    const runtime = ModelRuntime.load({ agentDir, env: {} });
    runtime.registerProvider("mine", withModel("Mine", "m"));
    expect([runtime.getModel("mine", "m")?.id, runtime.getRegisteredProviderIds()]).toEqual(["m", ["mine"]]);
    expect(runtime.getRegisteredProviderConfig("mine")).toMatchObject({ name: "Mine" });
    runtime.unregisterProvider("mine");
    expect([runtime.getModel("mine", "m"), runtime.getRegisteredProviderIds()]).toEqual([undefined, []]);
  });

  it("leaves alone the providers of a session that goes on beside it", () => {
    const { agentDir } = workspace();
    const auth = AuthStorage.load({ agentDir, env: {} });
    const models = Models.load({ agentDir, auth });
    const providers = new ExtensionProviders(models);
    const access = modelAccess(models, providers);
    providers.register("theirs", withModel("Theirs", "t"));
    const guest = ModelRuntime.over({ models, auth, access });
    expect(ModelRuntime.over({ models, auth, access })).toBe(guest);
    const target = guest.sessionTarget();
    target.register("theirs", withModel("Changed", "other"));
    target.register("own", withModel("Own", "o"));
    target.unregister("theirs");
    expect(guest.getModels("theirs").map(({ id }) => id)).toEqual(["t"]);
    expect(guest.getModel("own", "o")?.id).toBe("o");
    expect(guest.getRegisteredProviderIds()).toEqual(["theirs", "own"]);
  });

  it("takes back what a session brought at its end, and what it had covered counts again", () => {
    const { agentDir } = workspace();
    const runtime = ModelRuntime.load({ agentDir, env: {} });
    const [one, two] = [runtime.sessionTarget(), runtime.sessionTarget()];
    const now = () => [runtime.getRegisteredProviderIds(), runtime.getModels("p").map(({ id }) => id)];
    one.register("p", withModel("One", "first"));
    two.register("p", withModel("Two", "second"));
    two.register("q", withModel("Q", "q"));
    expect(now()).toEqual([["p", "q"], ["second"]]);
    two.clear();
    expect(now()).toEqual([["p"], ["first"]]);
    two.unregister("p");
    expect(now()).toEqual([["p"], ["first"]]);
    one.clear();
    expect(now()).toEqual([[], []]);
    one.register("p", withModel("One", "again"));
    expect(now()).toEqual([["p"], ["again"]]);
  });

  it("has no keys to set where a registry came alone", async () => {
    const { agentDir } = workspace();
    const models = Models.load({ agentDir, auth: AuthStorage.load({ agentDir, env: {} }) });
    await expect(ModelRuntime.behind(models)?.setRuntimeApiKey("openai", "x")).rejects.toThrow("Cannot set a key");
    expect(ModelRuntime.behind({})).toBeUndefined();
  });
});
