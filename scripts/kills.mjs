// Runs kills.ts on the built program: `node scripts/kills.mjs 2000 [seed]`. Exits with 1 when anything was lost.

import { fileURLToPath } from "node:url";

process.argv.splice(1, 1, process.argv[1], fileURLToPath(new URL("kills.ts", import.meta.url)));
await import("./run-ts.mjs");
