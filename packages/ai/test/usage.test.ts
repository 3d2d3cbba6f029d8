// Sums and prices of usage.

import fc from "fast-check";
import { expect, test } from "vitest";
import { addUsage, emptyUsage, type ModelCost, type Usage, withCost } from "../src/index.js";

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
