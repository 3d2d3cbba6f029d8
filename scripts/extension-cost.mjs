// What extensions cost: CPU of a start with 100 small TypeScript extensions beyond that with one, compiled modules kept; and
// that a start without extensions loads none of their loader. `node scripts/extension-cost.mjs [RUNS]`; build first.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const runs = Number(process.argv[2] ?? 7);
const cli = fileURLToPath(new URL("../packages/coding-agent/bin/pi.mjs", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "pi-extension-cost-"));
const preload = join(root, "preload.mjs");
writeFileSync(
  preload,
  `import { writeFileSync } from "node:fs";
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.COST_FILE, JSON.stringify({ ms: (user + system) / 1000, rss: process.memoryUsage().rss }));
});
`,
);

/** A small extension as people write them: types, an import of the host, a schema, a tool, a command, a handler. */
const source = (index) => `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

interface Counter { count: number }

export default function (pi: ExtensionAPI): void {
  const counter: Counter = { count: 0 };
  pi.registerTool({
    name: "tool_${index}",
    description: "Tool ${index}",
    parameters: Type.Object({ text: Type.String(), times: Type.Optional(Type.Number()) }),
    execute: async (_id: string, { text }: { text: string }) => ({ content: [{ type: "text" as const, text }], details: { ...counter } }),
  });
  pi.registerCommand("command-${index}", { description: "Command ${index}", handler: async (args: string, ctx) => ctx.ui.notify(args) });
  pi.on("turn_end", () => {
    counter.count += 1;
  });
}
`;

function place(count) {
  const home = join(root, `with-${count}`);
  mkdirSync(join(home, "agent/extensions"), { recursive: true });
  mkdirSync(join(home, "project"));
  for (let index = 0; index < count; index += 1)
    writeFileSync(join(home, `agent/extensions/extension-${index}.ts`), source(index));
  return home;
}

function start(home, env = {}) {
  const cost = join(home, "cost.json");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", preload, cli, "--mode", "rpc", "--no-session", "--model", "demo"],
    {
      cwd: join(home, "project"),
      env: { PATH: process.env.PATH, HOME: home, PI_CODING_AGENT_DIR: join(home, "agent"), COST_FILE: cost, ...env },
      input: '{"type":"get_commands"}\n',
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`Cannot start with extensions: exit code ${status}\n${stderr}`);
  const commands = JSON.parse(stdout.trim()).data.commands.length;
  return { ...JSON.parse(readFileSync(cost, "utf8")), commands };
}

/** Addresses of the scripts a start evaluates. */
function scriptsOf(home) {
  const coverage = join(home, "coverage");
  start(home, { NODE_V8_COVERAGE: coverage });
  const urls = readdirSync(coverage).flatMap((name) =>
    JSON.parse(readFileSync(join(coverage, name), "utf8")).result.map(({ url }) => url),
  );
  return new Set(urls.filter((url) => url.startsWith("file:") || url.startsWith("/")));
}

const least = (values) => Math.min(...values);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

try {
  const counts = [0, 1, 100];
  const homes = new Map(counts.map((count) => [count, place(count)]));
  const cold = start(homes.get(100));
  if (cold.commands !== 100) throw new Error(`100 extensions brought ${cold.commands} commands`);
  start(homes.get(1));
  const measured = new Map(counts.map((count) => [count, []]));
  // Turn by turn, so that what else the machine does falls on all alike.
  for (let run = 0; run < runs; run += 1) for (const [count, home] of homes) measured.get(count).push(start(home));
  const cpu = (count) => measured.get(count).map(({ ms }) => ms);
  const memory = (count) => median(measured.get(count).map(({ rss }) => rss)) / 1024 / 1024;
  for (const count of counts)
    console.log(
      `${String(count).padStart(3)} extensions: ${least(cpu(count)).toFixed(0)} ms CPU at least, ${median(cpu(count)).toFixed(0)} median, ${memory(count).toFixed(0)} MB`,
    );
  console.log(`100 extensions, nothing compiled yet: ${cold.ms.toFixed(0)} ms CPU`);
  const each = (of) => (of(cpu(100)) - of(cpu(1))) / 99;
  console.log(
    `each extension beyond the first: ${each(least).toFixed(2)} ms CPU at least, ${each(median).toFixed(2)} median`,
  );
  const without = scriptsOf(homes.get(0));
  const withOne = scriptsOf(homes.get(1));
  const ofLoader = [...withOne].filter((url) => !without.has(url));
  const leaked = [...without].filter((url) => /jiti|host-modules/.test(url));
  console.log(`scripts without an extension: ${without.size}, with one: ${withOne.size} (${ofLoader.length} more)`);
  if (leaked.length > 0 || !ofLoader.some((url) => /jiti/.test(url)))
    throw new Error(`Loader code without an extension: ${leaked.join(", ") || "none seen with one either"}`);
  console.log("no code of the loader without an extension");
} finally {
  rmSync(root, { recursive: true, force: true });
}
