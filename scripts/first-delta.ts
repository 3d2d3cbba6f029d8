// Measures, for each wire API, wall and CPU time from a call to its first delta, against a server on this machine.
//
// The first call of a process loads the API's code, so it is measured in processes of its own; those after it are not.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { startReplayServer } from "../packages/ai/src/testing/replay-server.js";
import { wireApis } from "../packages/ai/test/api-traits.js";
import { fixture, testModel, wireBytes } from "../packages/ai/test/fixtures.js";

interface Measured {
  wallMs: number;
  cpuMs: number;
}

const run = promisify(execFile);
const processes = Number(process.argv[2] ?? 5);
const calls = Number(process.argv[3] ?? 30);
const place = mkdtempSync(join(tmpdir(), "pi-first-delta-"));
const server = await startReplayServer();
try {
  // As the program ships: one file at the start, and one for each API when it is asked for.
  await build({
    entryPoints: [fileURLToPath(new URL("../packages/ai/src/index.ts", import.meta.url))],
    outdir: place,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    banner: {
      js: 'import{createRequire as makeRequireForBundle}from"node:module";const require=makeRequireForBundle(import.meta.url);',
    },
    logLevel: "warning",
  });
  const rows = [];
  for (const api of wireApis) rows.push(await measure(api));
  const columns = ["API", "first wall", "first CPU", "later wall", "later CPU"];
  const cells = [columns, ...rows].map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(26) : cell.padStart(11))),
  );
  const title = `Milliseconds to the first delta, medians: ${processes} first calls, ${processes * (calls - 1)} later ones`;
  process.stdout.write(`${[`${title} (Node ${process.version})`, ...cells.map((row) => row.join(""))].join("\n")}\n`);
} finally {
  await server.close();
  rmSync(place, { recursive: true });
}

async function measure(api: string): Promise<string[]> {
  const first: Measured[] = [];
  const later: Measured[] = [];
  const script = fileURLToPath(new URL("first-delta-call.mjs", import.meta.url));
  for (let turn = 0; turn < processes; turn += 1) {
    for (let call = 0; call < calls; call += 1) server.reply({ body: [wireBytes(api, fixture(api, "text"))] });
    const model = JSON.stringify(testModel(api, server.url));
    const { stdout } = await run(process.execPath, [script, join(place, "index.mjs"), model, String(calls)]);
    const [cold, ...warm] = JSON.parse(stdout) as Measured[];
    first.push(cold as Measured);
    later.push(...warm);
  }
  return [api, ...[first, later].flatMap((all) => [median(all, "wallMs"), median(all, "cpuMs")])];
}

function median(all: readonly Measured[], field: keyof Measured): string {
  const sorted = all.map((one) => one[field]).sort((a, b) => a - b);
  return (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(1);
}
