import type { Model, ThinkingLevel } from "@earendil-works/pi-ai";
import { describe, expect, test, vi } from "vitest";
import { CommandError } from "../../src/core/errors.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { ModelSelection, type ModelSelectionOptions, noModelText } from "../../src/core/models.js";

const model = (id: string, facts: Partial<Model> = {}): Model => ({
  id,
  name: id,
  api: "scripted",
  provider: "p",
  baseUrl: "",
  reasoning: true,
  input: ["text"],
  contextWindow: 1000,
  maxTokens: 100,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...facts,
});
const one = model("one");
const two = model("two", { thinkingLevelMap: { minimal: null, medium: null, xhigh: "xhigh" } });
const plain = model("plain", { reasoning: false });
const locked = model("locked");
const all = [one, two, plain, locked];

function selection(options: Partial<ModelSelectionOptions> = {}) {
  const log: unknown[] = [];
  const models = new ModelSelection({
    model: one,
    thinkingLevel: "medium",
    scoped: [],
    emit: (event: AgentSessionEvent) => void log.push(event) as undefined,
    find: (provider, id) => all.find((each) => each.provider === provider && each.id === id),
    available: () => [one, two, plain],
    hasCredentials: ({ id }) => id !== "locked",
    recordModel: () => void log.push("record model"),
    recordLevel: () => void log.push("record level"),
    ...options,
  });
  return { models, log };
}

const changed = (to: Model) => ({ type: "model_changed", model: to });
const levelChanged = (level: ThinkingLevel) => ({ type: "thinking_level_changed", level });

describe("ModelSelection", () => {
  test("setting a model records it before it is announced; a level that changes with it follows", async () => {
    const { models, log } = selection();
    expect(await models.set("p", "two")).toBe(two);
    expect(log).toEqual(["record model", changed(two), "record level", levelChanged("low")]);
    expect([models.model, models.level, models.wantedLevel]).toEqual([two, "low", "medium"]);
  });

  test("a level that a model cannot do comes back with one that can", async () => {
    const { models, log } = selection({ thinkingLevel: "high" });
    await models.set("p", "plain");
    expect(models.level).toBe("off");
    await models.set("p", "one");
    expect(models.level).toBe("high");
    expect(log.filter((entry) => typeof entry === "object")).toEqual([
      changed(plain),
      levelChanged("off"),
      changed(one),
      levelChanged("high"),
    ]);
  });

  test("setting the current model again is nothing to record or announce", async () => {
    const { models, log } = selection();
    expect(await models.set("p", "one")).toBe(one);
    expect(log).toEqual([]);
  });

  test("the change is visible at once, however slow its readers are", async () => {
    const { models } = selection({ emit: () => new Promise(() => {}) });
    void models.set("p", "two");
    expect(models.model).toBe(two);
    void models.setLevel("high");
    expect(models.level).toBe("high");
  });

  test("extensions are told after the announcement, with what was before", async () => {
    const selected = vi.fn(async () => {});
    const { models } = selection({ selected });
    await models.set("p", "two");
    expect(selected).toHaveBeenCalledExactlyOnceWith(two, one, "set");
  });

  test.each([
    ["nope", "one", new CommandError("not_found", "Model not found: nope/one")],
    ["p", "o", new CommandError("not_found", "Model not found: p/o")],
    [
      "p",
      "locked",
      new CommandError(
        "no_credentials",
        'No credentials for provider "p". Set its key in the environment, in auth.json, in models.json or with --api-key',
      ),
    ],
  ])("refuses %s/%s, and changes nothing", async (provider, id, error) => {
    const { models, log } = selection();
    const refusal = await models.set(provider, id).catch((reason: unknown) => reason);
    expect(refusal).toBeInstanceOf(CommandError);
    expect(refusal).toEqual(error);
    expect([models.model, log]).toEqual([one, []]);
  });

  test.each<[string, Model | null, ThinkingLevel, ThinkingLevel]>([
    ["what the model can do stays", one, "high", "high"],
    ["the nearest below", one, "max", "high"],
    ["the nearest below, over a hole", two, "medium", "low"],
    ["a level the model names", two, "xhigh", "xhigh"],
    ["off for a model without reasoning", plain, "high", "off"],
    ["the wish itself without a model", null, "xhigh", "xhigh"],
  ])("setLevel clamps: %s", async (_, current, wanted, inForce) => {
    const { models } = selection({ model: current, thinkingLevel: "off" });
    expect(await models.setLevel(wanted)).toBe(inForce);
    expect([models.level, models.wantedLevel]).toEqual([inForce, wanted]);
  });

  test("a level that does not change is neither recorded nor announced", async () => {
    const { models, log } = selection({ thinkingLevel: "high" });
    await models.setLevel("max");
    expect(log).toEqual([]);
    await models.setLevel("low");
    expect(log).toEqual(["record level", levelChanged("low")]);
  });

  test("cycleLevel goes round the model's levels; null when it cannot think", async () => {
    const { models } = selection({ model: two, thinkingLevel: "high" });
    expect(models.levels()).toEqual(["off", "low", "high", "xhigh"]);
    const seen = [];
    for (let at = 0; at < 4; at += 1) seen.push((await models.cycleLevel())?.level);
    expect(seen).toEqual(["xhigh", "off", "low", "high"]);
    const cannot = selection({ model: plain });
    expect([cannot.models.levels(), await cannot.models.cycleLevel()]).toEqual([["off"], null]);
    expect(selection({ model: null }).models.levels()).toEqual(["off"]);
  });

  test("cycle goes round the available models", async () => {
    const { models } = selection({ thinkingLevel: "low" });
    const seen = [];
    for (let at = 0; at < 3; at += 1) seen.push(await models.cycle());
    expect(seen).toEqual([
      { model: two, thinkingLevel: "low", isScoped: false },
      { model: plain, thinkingLevel: "off", isScoped: false },
      { model: one, thinkingLevel: "low", isScoped: false },
    ]);
  });

  test("cycle goes round the scoped models, each at its level, those without credentials left out", async () => {
    const { models } = selection({
      scoped: [{ model: one, thinkingLevel: "high" }, { model: locked }, { model: two, thinkingLevel: "xhigh" }],
    });
    expect(await models.cycle()).toEqual({ model: two, thinkingLevel: "xhigh", isScoped: true });
    expect(await models.cycle()).toEqual({ model: one, thinkingLevel: "high", isScoped: true });
  });

  test("cycle from a model that is not in the round takes the first", async () => {
    const { models } = selection({ model: locked });
    expect((await models.cycle())?.model).toBe(one);
  });

  test.each<[string, Partial<ModelSelectionOptions>]>([
    ["only the current model", { available: () => [one] }],
    ["no model", { model: null, available: () => [] }],
    ["one scoped model", { scoped: [{ model: one }] }],
  ])("cycle with %s gives null and changes nothing", async (_, options) => {
    const { models, log } = selection(options);
    const before = models.model;
    expect(await models.cycle()).toBeNull();
    expect([models.model, log]).toEqual([before, []]);
  });

  test("require gives the model, or says what is missing", () => {
    expect(selection().models.require()).toBe(one);
    expect(() => selection({ model: null }).models.require()).toThrow(new CommandError("no_model", noModelText));
    expect(() => selection({ model: locked }).models.require()).toThrow(/^No credentials for provider "p"\. /);
    expect(noModelText).toMatch(/^No model selected\. /);
  });
});
