// Runs first-delta.ts: `node scripts/first-delta.mjs [processes = 5] [calls = 30]`.

import { fileURLToPath } from "node:url";

process.argv.splice(1, 1, process.argv[1], fileURLToPath(new URL("first-delta.ts", import.meta.url)));
await import("./run-ts.mjs");
