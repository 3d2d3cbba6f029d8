// The session file survives: whatever was announced before a kill is in it, it opens again, and the next run goes on in it.

import { expect, test } from "vitest";
import { killRuns } from "../helpers/kills.js";
import { startCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

// `node scripts/kills.mjs 2000` does the same for longer.
test("40 kills: everything announced is in the file, once and in order, and the next run appends", {
  timeout: 240_000,
}, async () => {
  const totals = await killRuns({ kills: 40, seed: 20_260_106, lanes: 3, place: workspace(), start: startCli });
  expect(totals.failures).toEqual([]);
  expect(totals.kills).toBe(40);
  // The kills were worth it: they came while something was written.
  expect(totals.announced).toBeGreaterThan(40 * 5);
});
