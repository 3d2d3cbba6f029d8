// Adds up what model calls used, and prices it from the model's facts.

import type { Model, ModelCost, Usage } from "./types.js";

/** A usage of nothing: every count and cost is 0. */
export function emptyUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

/** The sum of two usages as a new object; it counts as estimated when either part does. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    cost: {
      input: a.cost.input + b.cost.input,
      output: a.cost.output + b.cost.output,
      cacheRead: a.cost.cacheRead + b.cost.cacheRead,
      cacheWrite: a.cost.cacheWrite + b.cost.cacheWrite,
      total: a.cost.total + b.cost.total,
    },
  };
  // Absent means "not reported", so a sum has the field only when a part had it.
  const cacheWrite1h = sumOfKnown(a.cacheWrite1h, b.cacheWrite1h);
  if (cacheWrite1h !== undefined) sum.cacheWrite1h = cacheWrite1h;
  const reasoning = sumOfKnown(a.reasoning, b.reasoning);
  if (reasoning !== undefined) sum.reasoning = reasoning;
  if (a.estimated || b.estimated) sum.estimated = true;
  return sum;
}

/**
 * The usage priced in US dollars at the model's rates, as a new object. The request's whole input (cached tokens
 * included) chooses the tier. Cache writes that live one hour cost twice the input rate (Anthropic's price list).
 */
export function withCost(model: Pick<Model, "cost">, usage: Usage): Usage {
  const rates = ratesFor(model.cost, usage.input + usage.cacheRead + usage.cacheWrite);
  const oneHour = Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite);
  const input = (usage.input * rates.input) / 1e6;
  const output = (usage.output * rates.output) / 1e6;
  const cacheRead = (usage.cacheRead * rates.cacheRead) / 1e6;
  const cacheWrite = ((usage.cacheWrite - oneHour) * rates.cacheWrite + oneHour * rates.input * 2) / 1e6;
  return { ...usage, cost: { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite } };
}

/** Characters of text that one token stands for, on average. */
const charactersPerToken = 4;

/**
 * The usage of an answer that was cut off: what arrived after the provider's last report is estimated and priced, and
 * marked as such. `reported` is how many of the `characters` that report covers; undefined when nothing was reported,
 * and then a usage that has output is taken as it is.
 */
export function withEstimate(
  model: Pick<Model, "cost">,
  usage: Usage,
  characters: number,
  reported: number | undefined,
): Usage {
  if (reported === undefined && usage.output > 0) return usage;
  const tokens = Math.ceil((characters - (reported ?? 0)) / charactersPerToken);
  if (tokens <= 0) return usage;
  // A report from before the first character counts the answer's beginning, not what it will be.
  const output = reported ? usage.output + tokens : Math.max(usage.output, tokens);
  const totalTokens = usage.totalTokens - usage.output + output;
  return withCost(model, { ...usage, output, totalTokens, estimated: true });
}

function ratesFor(cost: ModelCost, inputTokens: number): Omit<ModelCost, "tiers"> {
  let best: Omit<ModelCost, "tiers"> = cost;
  let threshold = -1;
  for (const tier of cost.tiers ?? []) {
    if (inputTokens > tier.inputTokensAbove && tier.inputTokensAbove > threshold) {
      best = tier;
      threshold = tier.inputTokensAbove;
    }
  }
  return best;
}

function sumOfKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
