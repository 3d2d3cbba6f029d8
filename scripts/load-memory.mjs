// Measures how much the built program's memory grows by a long session of which a compaction keeps few entries.
// node scripts/load-memory.mjs [entries = 20000] [bytes an entry = 2000] [program = packages/coding-agent/bin/pi.mjs]
// Exits with 1 when it grows by more than twice the bytes of the active branch.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const entries = Number(process.argv[2] ?? 20_000);
const entryBytes = Number(process.argv[3] ?? 2000);
const program = resolve(process.argv[4] ?? join(root, "packages/coding-agent/bin/pi.mjs"));
/** Entries behind the boundary of the compaction. */
const kept = 20;
const runs = 5;

const place = mkdtempSync(join(tmpdir(), "pi-load-memory-"));
const folders = Object.fromEntries(["agent", "project"].map((name) => [name, join(place, name)]));
for (const folder of Object.values(folders)) mkdirSync(folder);
try {
  const file = join(place, "long.jsonl");
  writeSession(file);
  const branch = statSync(file).size;
  const without = await median(["--no-session"]);
  const loaded = await median(["--session", file]);
  const growth = loaded - without;
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  const lines = [
    `entries ${entries}, active branch ${megabytes(branch)}, kept by the compaction ${kept}`,
    `resident without a session ${megabytes(without)}, with it ${megabytes(loaded)} (medians of ${runs})`,
    `growth ${megabytes(growth)} = ${(growth / branch).toFixed(2)} x the branch; allowed 2`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  process.exitCode = growth <= 2 * branch ? 0 : 1;
} finally {
  rmSync(place, { recursive: true });
}

/** One branch of questions and answers, a compaction near its end, and one more exchange. */
function writeSession(file) {
  const descriptor = openSync(file, "wx");
  const timestamp = "2026-01-01T00:00:00.000Z";
  const write = (record) => writeSync(descriptor, `${JSON.stringify(record)}\n`);
  write({ type: "session", version: 3, id: "load-memory", timestamp, cwd: folders.project });
  const idOf = (at) => at.toString(16).padStart(8, "0");
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 20, cost };
  const answer = { api: "demo", provider: "demo", model: "demo", usage, stopReason: "stop" };
  const boundary = entries - kept;
  for (let at = 0; at < entries; at += 1) {
    const place = { id: idOf(at), parentId: at === 0 ? null : idOf(at - 1), timestamp };
    const text = `${at} `.repeat(Math.ceil(entryBytes / `${at} `.length)).slice(0, entryBytes);
    const role = at % 2 === 0 ? { role: "user" } : { role: "assistant", ...answer };
    if (at === boundary)
      write({
        type: "compaction",
        ...place,
        summary: "Before.",
        firstKeptEntryId: idOf(at - kept),
        tokensBefore: 1000,
      });
    else write({ type: "message", ...place, message: { ...role, content: [{ type: "text", text }], timestamp: at } });
  }
  closeSync(descriptor);
}

async function median(options) {
  const measured = [];
  for (let run = 0; run < runs; run += 1) measured.push(await residentAfterStart(options));
  return measured.sort((a, b) => a - b)[Math.floor(runs / 2)];
}

/** Bytes, once the program has answered what it has loaded. */
async function residentAfterStart(options) {
  const args = [program, "--mode", "rpc", "--model", "demo", ...options];
  const env = { PATH: process.env.PATH, HOME: place, PI_CODING_AGENT_DIR: folders.agent };
  const child = spawn(process.execPath, args, { cwd: folders.project, env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write('{"type":"get_state"}\n{"id":"loaded","type":"get_session_stats"}\n');
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('"id":"loaded"')) break;
  }
  if (!output.includes('"success":true')) throw new Error(`The program did not answer: ${output}`);
  const kilobytes = Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" }));
  child.kill("SIGKILL");
  await once(child, "close");
  return kilobytes * 1024;
}
