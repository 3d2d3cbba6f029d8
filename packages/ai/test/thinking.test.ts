// Levels a model can do, and the level that stands in for another.

import { describe, expect, test } from "vitest";
import { clampThinkingLevel, supportedThinkingLevels, type ThinkingLevel, thinkingLevels } from "../src/index.js";

describe("supportedThinkingLevels", () => {
  test("a model without reasoning has only off", () => {
    expect(supportedThinkingLevels({ reasoning: false, thinkingLevelMap: { high: "high" } })).toEqual(["off"]);
  });

  test("a reasoning model has all levels through high", () => {
    expect(supportedThinkingLevels({ reasoning: true })).toEqual(["off", "minimal", "low", "medium", "high"]);
  });

  test("null takes a level away, a value adds xhigh and max", () => {
    const thinkingLevelMap = { off: null, minimal: null, xhigh: "xhigh", max: null };
    expect(supportedThinkingLevels({ reasoning: true, thinkingLevelMap })).toEqual(["low", "medium", "high", "xhigh"]);
  });
});

describe("clampThinkingLevel", () => {
  const model = { reasoning: true, thinkingLevelMap: { off: null, minimal: null, medium: null } };
  test.each<[ThinkingLevel, ThinkingLevel]>([
    ["off", "low"],
    ["minimal", "low"],
    ["low", "low"],
    ["medium", "low"],
    ["high", "high"],
    ["max", "high"],
  ])("%s becomes %s", (level, expected) => {
    expect(clampThinkingLevel(model, level)).toBe(expected);
  });

  test("always gives a supported level", () => {
    for (const level of thinkingLevels) {
      expect(supportedThinkingLevels(model)).toContain(clampThinkingLevel(model, level));
      expect(clampThinkingLevel({ reasoning: false }, level)).toBe("off");
    }
  });
});
