// The static check: types, lint and format, arrows and sizes, generated files fresh. Never writes.

import { spawnSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const steps = [
  ["types", "npx", ["tsc", "-b"]],
  ["types of tests", "npx", ["tsc", "-p", "tsconfig.test.json"]],
  ["lint and format", "npx", ["biome", "check", "--error-on-warnings", "."]],
  ["layers and sizes", "node", ["scripts/check-layers.mjs"]],
  ["generated files", "node", ["scripts/run-ts.mjs", "scripts/generate.ts", "--check"]],
];
let failed = false;
for (const [what, command, args] of steps) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  const ok = status === 0;
  failed ||= !ok;
  console.log(`${ok ? "ok  " : "FAIL"} ${what}`);
  if (!ok) console.log(`${stdout}${stderr}`);
}
process.exit(failed ? 1 : 0);
