// Kills the built program at random moments while it writes sessions, and checks each file and the run that goes on in it.

import { killRuns, killSummary } from "../packages/coding-agent/test/helpers/kills.js";
import { openWorkspace } from "../packages/coding-agent/test/helpers/workspace.js";

const [kills = 2000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
if (!Number.isInteger(kills) || !Number.isInteger(seed) || kills < 1) {
  console.error("Usage: node scripts/kills.mjs [kills] [seed]");
  process.exit(2);
}
const place = openWorkspace();
const started = performance.now();
const totals = await killRuns({
  kills,
  seed,
  lanes: 3,
  place,
  progress: (now) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${killSummary(now)}`);
  },
});
place.remove();
if (process.stderr.isTTY) process.stderr.write("\n");
for (const failure of totals.failures) console.error(failure);
console.log(`${killSummary(totals)} (seed ${seed}, ${Math.round((performance.now() - started) / 1000)} s)`);
process.exitCode = totals.failures.length > 0 ? 1 : 0;
