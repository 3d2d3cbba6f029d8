import { expect, test } from "vitest";
import { backoffDelay } from "../../src/lib/backoff.js";

const limits = { baseMs: 2000, capMs: 60_000 };

test("backoffDelay doubles up to the cap", () => {
  expect([0, 1, 2, 3, 4, 5, 2000].map((attempt) => backoffDelay(attempt, limits))).toEqual([
    2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
  ]);
});

test("backoffDelay is raised by the server's wish, never lowered, never above the cap", () => {
  const delay = (retryAfterMs: number) => backoffDelay(0, { ...limits, retryAfterMs });
  expect([5000, 1, 86_400_000, -5, 0, Number.NaN].map(delay)).toEqual([5000, 2000, 60_000, 2000, 2000, 2000]);
});
