// Which thinking levels a model can do, and which one stands in for a level it cannot do.

import { type Model, type ThinkingLevel, thinkingLevels } from "./types.js";

type ThinkingFacts = Pick<Model, "reasoning" | "thinkingLevelMap">;

/**
 * The levels a model can do, from `off` upwards. A model without reasoning has only `off`; one with reasoning has all
 * levels through `high` that its map does not set to null, and `xhigh` and `max` only where its map names a value.
 */
export function supportedThinkingLevels(model: ThinkingFacts): ThinkingLevel[] {
  if (!model.reasoning) return ["off"];
  return thinkingLevels.filter((level) => {
    const mapped = model.thinkingLevelMap?.[level];
    if (level === "xhigh" || level === "max") return typeof mapped === "string";
    return mapped !== null;
  });
}

/** The nearest level the model supports at or below the wanted one, else the lowest above it. */
export function clampThinkingLevel(model: ThinkingFacts, level: ThinkingLevel): ThinkingLevel {
  const supported = supportedThinkingLevels(model);
  const wanted = thinkingLevels.indexOf(level);
  const below = supported.filter((candidate) => thinkingLevels.indexOf(candidate) <= wanted);
  return below.at(-1) ?? supported[0] ?? "off";
}
