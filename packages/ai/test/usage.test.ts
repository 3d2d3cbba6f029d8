// Sums and prices of usage.

import fc from "fast-check";
import { expect, test } from "vitest";
import { addUsage, complete, emptyUsage, type ModelCost, type Usage, withCost } from "../src/index.js";
import { fail, usage as reported, scriptedModel } from "../src/testing/index.js";
import { withEstimate } from "../src/usage.js";

const cost: ModelCost = {
  input: 3,
  output: 15,
  cacheRead: 0.3,
  cacheWrite: 3.75,
  tiers: [
    { inputTokensAbove: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 },
    { inputTokensAbove: 100_000, input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 },
  ],
};
const usageOf = (counts: Partial<Usage>): Usage => ({ ...emptyUsage(), ...counts });

test("withCost prices each kind of token and keeps the counts", () => {
  const usage = usageOf({
    input: 1000,
    output: 200,
    cacheRead: 5000,
    cacheWrite: 400,
    totalTokens: 6600,
    reasoning: 50,
  });
  expect(withCost({ cost }, usage)).toEqual({
    ...usage,
    cost: {
      input: expect.closeTo(0.003, 12),
      output: expect.closeTo(0.003, 12),
      cacheRead: expect.closeTo(0.0015, 12),
      cacheWrite: expect.closeTo(0.0015, 12),
      total: expect.closeTo(0.009, 12),
    },
  });
  expect(usage.cost.total).toBe(0);
});

test.each([
  ["at a threshold the tier does not apply", 100_000, 0, 3],
  ["above a threshold it applies to all tokens", 100_001, 0, 4],
  ["cached tokens count toward the threshold", 1000, 100_000, 4],
  ["the highest threshold below the input wins, whatever the order", 200_001, 0, 6],
])("withCost: %s", (_title, input, cacheRead, rate) => {
  expect(withCost({ cost }, usageOf({ input, cacheRead })).cost.input).toBeCloseTo((input * rate) / 1e6, 12);
});

test("withCost: cache writes that live an hour cost twice the input rate", () => {
  const priced = withCost({ cost }, usageOf({ cacheWrite: 1000, cacheWrite1h: 400 }));
  expect(priced.cost.cacheWrite).toBeCloseTo((600 * 3.75 + 400 * 6) / 1e6, 12);
});

test("addUsage adds counts and costs; fields neither part has stay absent", () => {
  const a = withCost({ cost }, usageOf({ input: 10, output: 5, totalTokens: 15 }));
  const sum = addUsage(a, a);
  expect(sum).toEqual({
    ...emptyUsage(),
    input: 20,
    output: 10,
    totalTokens: 30,
    cost: { ...a.cost, input: a.cost.input * 2, output: a.cost.output * 2, total: a.cost.total * 2 },
  });
  expect(Object.keys(sum)).not.toContain("reasoning");
  expect(addUsage(usageOf({ reasoning: 3 }), usageOf({ estimated: true }))).toMatchObject({
    reasoning: 3,
    estimated: true,
  });
});

test("addUsage is commutative, and empty usage adds nothing", () => {
  const count = fc.nat(1e6);
  const usages = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count }).map(usageOf);
  fc.assert(
    fc.property(usages, usages, (a, b) => {
      expect(addUsage(a, b)).toEqual(addUsage(b, a));
      expect(addUsage(a, emptyUsage())).toEqual(a);
    }),
    { seed: 7, numRuns: 100 },
  );
});

test.each<[string, Partial<Usage>, number, number | undefined, Partial<Usage>]>([
  ["nothing reported, nothing came", {}, 0, undefined, { output: 0 }],
  ["nothing reported", {}, 9, undefined, { input: 0, output: 3, totalTokens: 3, estimated: true }],
  [
    "the beginning reported",
    { input: 100, output: 1, totalTokens: 101 },
    9,
    0,
    { input: 100, output: 3, totalTokens: 103, estimated: true },
  ],
  ["a beginning longer than what came", { output: 5, totalTokens: 5 }, 4, 0, { output: 5, estimated: true }],
  ["a part reported", { output: 50, totalTokens: 50 }, 108, 100, { output: 52, totalTokens: 52, estimated: true }],
  ["all reported", { output: 50, totalTokens: 50 }, 100, 100, { output: 50 }],
  ["reported by who keeps no count of characters", { output: 50, totalTokens: 50 }, 999, undefined, { output: 50 }],
])("withEstimate: %s", (_title, counts, characters, covered, expected) => {
  const usage = withCost({ cost }, usageOf(counts));
  const estimated = withEstimate({ cost }, usage, characters, covered);
  expect(estimated).toMatchObject(expected);
  expect("estimated" in estimated).toBe("estimated" in expected);
  expect(estimated.cost).toEqual(withCost({ cost }, estimated).cost);
});

test("withEstimate never takes away from what was reported, and changes nothing but the output", () => {
  const count = fc.nat(1e6);
  const usages = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count }).map(usageOf);
  fc.assert(
    fc.property(usages, count, fc.option(count, { nil: undefined }), (usage, characters, covered) => {
      const {
        output,
        totalTokens,
        cost: _cost,
        estimated,
        ...rest
      } = withEstimate({ cost }, usage, characters, covered);
      expect(output).toBeGreaterThanOrEqual(usage.output);
      expect(totalTokens - usage.totalTokens).toBe(output - usage.output);
      expect(usage).toMatchObject(rest);
      if (!estimated) expect(output).toBe(usage.output);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test("an answer that failed has what was reported, priced exactly, in its tier", async () => {
  const scripted = scriptedModel({ cost });
  const counts = { input: 150_000, output: 7, cacheRead: 60_000, cacheWrite: 10 };
  scripted.reply("Half", reported(counts), fail("server")).reply("Half of it", fail("server"));
  const failed = await complete(scripted.model, { messages: [] });
  expect(failed.usage.estimated).toBeUndefined();
  const { cost: paid } = failed.usage;
  const exact = [150_000 * 6, 7 * 22.5, 60_000 * 0.6, 10 * 7.5].map((price) => price / 1e6);
  for (const [at, price] of [paid.input, paid.output, paid.cacheRead, paid.cacheWrite].entries())
    expect(Math.abs(price - exact[at]!)).toBeLessThan(1e-9);
  const unreported = await complete(scripted.model, { messages: [] });
  expect(unreported.usage).toMatchObject({ input: 0, output: 3, totalTokens: 3, estimated: true });
  scripted.dispose();
});
