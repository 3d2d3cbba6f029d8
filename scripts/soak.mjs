// Drives the built program over RPC for a long time against a model that fails often, and looks for what was lost.
// node scripts/soak.mjs [minutes = 30] [seed] [program = packages/coding-agent/bin/pi.mjs]

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Ledger } from "./soak-ledger.mjs";
import { contextWindow, startModel } from "./soak-model.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const minutes = Number(process.argv[2] ?? 30);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
const program = resolve(process.argv[4] ?? join(root, "packages/coding-agent/bin/pi.mjs"));
/** A command that takes longer than this is lost. */
const patienceMs = 60_000;
/** Commands between two new sessions, so that memory is not that of one endless session. */
const sessionLength = 150;

const random = numbers(seed);
const model = await startModel(random);
const place = mkdtempSync(join(tmpdir(), "pi-soak-"));
const folders = Object.fromEntries(
  ["home", "agent", "project", "temp", "sessions"].map((name) => [name, join(place, name)]),
);
for (const folder of Object.values(folders)) mkdirSync(folder);
const modelFacts = { contextWindow, maxTokens: 2000 };
writeFileSync(
  join(folders.agent, "models.json"),
  JSON.stringify({
    providers: {
      soak: {
        api: "openai-completions",
        baseUrl: model.url,
        apiKey: "key",
        models: [
          { id: "one", reasoning: true, ...modelFacts },
          { id: "two", ...modelFacts },
        ],
      },
    },
  }),
);
writeFileSync(
  join(folders.agent, "settings.json"),
  JSON.stringify({
    httpIdleTimeoutMs: 1500,
    retry: { baseDelayMs: 40 },
    compaction: { reserveTokens: 4000, keepRecentTokens: 3000 },
  }),
);
writeFileSync(join(folders.project, "notes.txt"), "alpha\nbeta\n".repeat(200).replace("alpha", "alphabet"));

const mark = `soak-${process.pid}-${seed}`;
const ledger = new Ledger();
const child = spawn(
  process.execPath,
  [program, "--mode", "rpc", "--model", "soak/one", "--session-dir", folders.sessions],
  {
    cwd: folders.project,
    env: {
      PATH: process.env.PATH,
      HOME: folders.home,
      TMPDIR: folders.temp,
      PI_CODING_AGENT_DIR: folders.agent,
      SOAK_MARK: mark,
    },
    stdio: ["pipe", "pipe", "pipe"],
  },
);
let stderr = "";
child.stderr.setEncoding("utf8").on("data", (text) => {
  stderr += text;
});
child.stdin.on("error", () => {});
const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
readLines(child.stdout, (line) => ledger.take(JSON.parse(line)));

const memory = [];
const sampler = setInterval(() => memory.push(residentBytes(child.pid)), 1000);
const startedAt = performance.now();
const until = startedAt + minutes * 60_000;
let serial = 0;
let commands = 0;
const files = [];
console.error(`Soak: ${minutes} minutes, seed ${seed}, ${program}`);

try {
  await play();
  await comeToRest();
  await leave();
} catch (error) {
  ledger.violations.push(error instanceof Error ? error.message : String(error));
  child.kill("SIGKILL");
}
clearInterval(sampler);
const code = await ended;
if (code !== 0) ledger.violations.push(`it ended with ${code}`);
if (stderr) ledger.violations.push(`stderr: ${stderr.slice(0, 2000)}`);
ledger.finish();
ledger.account(folders.sessions);
const left = await survivors();
if (left.length > 0) ledger.violations.push(`processes left: ${left}`);
report();
model.close();
if (ledger.violations.length === 0) rmSync(place, { recursive: true, force: true });
process.exit(ledger.violations.length > 0 ? 1 : 0);

/** Sends commands at random until the time is up. */
async function play() {
  let told = startedAt;
  while (performance.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("It ended by itself");
    commands += 1;
    if (commands % sessionLength === 0) send({ type: "new_session" });
    else one();
    for (const command of ledger.unanswered)
      if (performance.now() - command.at > patienceMs) throw new Error(`Not answered: ${JSON.stringify(command)}`);
    if (performance.now() - told > 30_000) {
      told = performance.now();
      const minute = ((told - startedAt) / 60_000).toFixed(1);
      console.error(
        `${minute} min: ${commands} commands, ${ledger.settled} runs, ${ledger.violations.length} violations`,
      );
    }
    // In bursts, with pauses that let runs get somewhere.
    await sleep(random() < 0.3 ? 0 : random() < 0.8 ? random() * 150 : random() * 1500);
  }
}

/** One command of the table below. */
function one() {
  const table = [
    [14, () => text("prompt")],
    [5, () => text("prompt", { streamingBehavior: "steer" })],
    [5, () => text("prompt", { streamingBehavior: "followUp" })],
    [8, () => text("steer")],
    [8, () => text("follow_up")],
    [5, () => send({ type: "abort" })],
    [2, () => send({ type: "abort_retry" })],
    [2, () => send({ type: "abort_bash" })],
    [4, () => send({ type: "compact", ...(random() < 0.3 && { customInstructions: "Be brief" }) })],
    [2, () => send({ type: "clear_queue" })],
    [
      4,
      () =>
        send({ type: "bash", command: pick(["echo hi", "seq 1 3000", "sleep 2", "exit 1", "sleep 300 & echo bg"]) }),
    ],
    [1, () => send({ type: "bash", command: "env | sort", excludeFromContext: true })],
    [4, () => send({ type: "get_state" })],
    [2, () => send({ type: "get_messages", limit: 5 })],
    [2, () => send({ type: "get_session_stats" })],
    [2, () => send({ type: "get_entries", limit: 5 })],
    [1, () => send({ type: "get_tree" })],
    [1, () => send({ type: "set_session_name", name: `name ${serial}` })],
    [1, () => send({ type: "cycle_model" })],
    [1, () => send({ type: "cycle_thinking_level" })],
    [1, () => send({ type: "set_auto_retry", enabled: random() < 0.7 })],
    [1, () => send({ type: "set_auto_compaction", enabled: random() < 0.7 })],
    [1, () => send({ type: "set_steering_mode", mode: pick(["all", "one-at-a-time"]) })],
    [1, () => switchSession()],
    [1, () => fork()],
    [1, () => send({ type: "clone" })],
    [1, () => navigate()],
    [1, () => send({ type: "list_sessions", limit: 3 })],
    [1, () => send({ type: "nonsense" }, "nonsense")],
  ];
  let at = random() * table.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, act] of table) {
    at -= weight;
    if (at < 0) return act();
  }
}

function text(type, extra = {}) {
  const message = `text ${serial} ${"so to speak ".repeat(Math.floor(random() * 40))}`.trim();
  send({ type, message, ...extra });
}

function switchSession() {
  send({ type: "get_state" }, undefined, ({ data }) => {
    if (data?.sessionFile && !files.includes(data.sessionFile)) files.push(data.sessionFile);
    if (files.length > 1) send({ type: "switch_session", sessionPath: pick(files) });
  });
}

function fork() {
  send({ type: "get_fork_messages" }, undefined, ({ data }) => {
    if (data?.messages.length > 0) send({ type: "fork", entryId: pick(data.messages).entryId });
  });
}

function navigate() {
  send({ type: "get_entries", limit: 30 }, undefined, ({ data }) => {
    const entryId = data?.entries.length > 0 ? pick(data.entries).id : "nowhere";
    send({ type: "navigate_tree", entryId, summarize: random() < 0.4 });
  });
}

/** Writes a command and notes that it is owed an answer. */
function send(command, name = command.type, done = undefined) {
  serial += 1;
  const id = `c${serial}`;
  const { message } = command;
  ledger.asked({
    id,
    type: command.type,
    command: name,
    at: performance.now(),
    done,
    ...(message && { text: message }),
  });
  child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
  return id;
}

/** Waits until everything is answered and nothing runs. */
async function comeToRest() {
  const deadline = performance.now() + 2 * patienceMs;
  for (;;) {
    let state;
    send({ type: "get_state" }, undefined, ({ data }) => {
      state = data;
    });
    await sleep(250);
    const isQuiet = ledger.unanswered.length === 0 && state && !state.isStreaming && !state.isCompacting;
    if (isQuiet) return;
    if (performance.now() > deadline)
      throw new Error(`No rest within two minutes: ${JSON.stringify(state).slice(0, 300)}`);
  }
}

/** Closes stdin behind a run with a queue: everything is carried out, then aborted, and what is left is shown. */
async function leave() {
  text("prompt", { streamingBehavior: "steer" });
  text("follow_up");
  send({ type: "bash", command: "sleep 300" });
  child.stdin.end();
  const late = sleep(30_000).then(() => {
    throw new Error("It did not end within 30 seconds of the end of its input");
  });
  await Promise.race([ended, late]);
}

/** Processes that inherited our mark and live 2 seconds after the end. */
async function survivors() {
  await sleep(2000);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isZombie = /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
        return !isZombie && readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`SOAK_MARK=${mark}`);
      } catch {
        return false; // gone, or not ours to look at
      }
    });
}

function report() {
  const third = Math.floor(memory.length / 3);
  const mean = (list) => Math.round(list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length) / 2 ** 20);
  const [first, last] = [mean(memory.slice(0, third)), mean(memory.slice(-third))];
  // A leak shows in minutes; garbage that is not collected yet is no leak.
  if (last > 1.5 * first + 50) ledger.violations.push(`memory grew from ${first} to ${last} MB`);
  const { records, settled, events, codes, accepted, named, queue } = ledger;
  const waiting = queue.steering.length + queue.followUp.length;
  console.log(`seed ${seed}: ${commands} commands, ${records} records, ${settled} runs`);
  console.log(`texts: ${accepted.size} accepted, ${named.length} named, ${waiting} in the last queue`);
  console.log(`memory: ${first} MB in the first third, ${last} MB in the last`);
  console.log(`model: ${JSON.stringify(model.counts)}`);
  console.log(`events: ${JSON.stringify(events)}`);
  console.log(`refusals: ${JSON.stringify(codes)}`);
  if (ledger.violations.length > 0) {
    console.log(`${ledger.violations.length} violations; files in ${place}`);
    for (const violation of ledger.violations.slice(0, 30)) console.log(`- ${violation}`);
  } else console.log("nothing lost, nothing open, nothing left");
}

function residentBytes(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Lines end at LF and nowhere else. */
function readLines(stream, take) {
  let rest = [];
  stream.on("data", (chunk) => {
    let bytes = chunk;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a)) {
      take(Buffer.concat([...rest, bytes.subarray(0, end)]).toString("utf8"));
      rest = [];
      bytes = bytes.subarray(end + 1);
    }
    if (bytes.length > 0) rest.push(bytes);
  });
}

function pick(list) {
  return list[Math.floor(random() * list.length)];
}

/** A repeatable source of numbers from 0 to 1 (mulberry32). */
function numbers(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
