// Checks the arrows between rooms, the size limit, and the ban on process.exit, process.stdout and console.
// `--table` prints the rooms and what each may import, as ARCHITECTURE.md shows it.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const product = "packages/coding-agent/src/";

/** The record files of the product, in their order: each may import only those before it. */
const records = [
  "packages/ai/src/types.ts",
  "packages/agent/src/types.ts",
  `${product}core/messages.ts`,
  `${product}sessions/entries.ts`,
  `${product}core/events.ts`,
  `${product}modes/json-event.ts`,
  `${product}modes/rpc/rpc-types.ts`,
];

/** Room → what it may import. `records` means every record file; `own` files of the room itself are always allowed. */
const rooms = {
  ai: [],
  agent: ["ai"],
  lib: [],
  sessions: ["records", "lib", "ai", "agent"],
  tools: ["records", "lib", "ai", "agent"],
  resources: ["records", "lib", "ai"],
  extensions: ["records", "lib", "ai", "agent", "types of sessions", "types of tools"],
  core: ["records", "lib", "ai", "agent", "sessions", "tools", "resources", "extensions"],
  "extension-modules": ["records", "lib", "ai", "agent", "sessions", "tools", "resources", "extensions", "core"],
  sdk: ["records", "lib", "ai", "agent", "sessions", "tools", "resources", "extensions", "core", "extension-modules"],
  modes: ["core", "records", "lib", "ai", "extensions/ui.ts"],
  "rpc-client.ts": ["types of records", "lib/jsonl.ts", "ai"],
  "command-line": [
    "lib",
    "ai",
    "core",
    "resources",
    "sessions",
    "tools",
    "extensions",
    "extension-modules",
    "sdk",
    "modes",
  ],
  "index.ts, main.ts, cli.ts": ["anything"],
};
/** What starts and ends the program; the files beside them are the room `command-line`. Nothing else imports either. */
const entries = "index.ts, main.ts, cli.ts";

/** Inside core only these import services; a service imports record files, lower rooms and the shared leaves. */
const coordinators = ["agent-session", "session-extensions", "run", "recovery", "session-runtime", "create-session"];
const coreLeaves = [
  "summarize",
  "found-texts",
  "tool-selection",
  "custom-message",
  "errors",
  "to-llm",
  "token-estimate",
  "user-text",
];
/** Tables and data, exempt from the size limit. */
const tables = new Set([`${product}modes/rpc/rpc-types.ts`, `${product}args.ts`, `${product}resources/settings.ts`]);
/** What has one home, and how a copy of it looks. */
const copies = [
  { home: "lib/error-text.ts", pattern: /\w+ instanceof Error \? \(?[^:;]*\.message\)? : String\(/ },
  { home: "lib/environment-flag.ts", pattern: /1\|true\|yes/ },
];
const warnAt = 300;
const failAt = 500;

if (process.argv.includes("--table")) {
  console.log("| Room | May import |\n| --- | --- |");
  for (const [room, allowed] of Object.entries(rooms))
    console.log(
      `| ${room
        .split(", ")
        .map((name) => `\`${name}\``)
        .join(", ")} | ${allowed.map((a) => `\`${a}\``).join(", ") || "–"} |`,
    );
  process.exit(0);
}

const problems = [];
const warnings = [];
for (const file of sources()) check(file);
for (const warning of warnings) console.log(`warning: ${warning}`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

function sources() {
  return ["ai", "agent", "coding-agent"].flatMap((name) =>
    readdirSync(join(root, "packages", name, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/")),
  );
}

function check(file) {
  const text = readFileSync(join(root, file), "utf8");
  const lines = text.split("\n").length - 1;
  if (!tables.has(file)) {
    if (lines > failAt) problems.push(`${file}: ${lines} lines, the limit is ${failAt}`);
    else if (lines > warnAt) warnings.push(`${file}: ${lines} lines, aim below ${warnAt}`);
  }
  if (!text.startsWith("// ") && !text.startsWith("#!"))
    problems.push(`${file}: the first line says in one sentence what the file is for`);
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
  if (!file.endsWith("src/cli.ts") && !file.endsWith("modes/io.ts")) {
    const banned = /\bprocess\.exit\b(?!Code)|\bprocess\.stdout\b|\bconsole\.\w+\(/.exec(code);
    if (banned) problems.push(`${file}: ${banned[0]} is for cli.ts and modes/io.ts only`);
  }
  if (file.startsWith(product))
    for (const { home, pattern } of copies)
      if (file !== product + home && pattern.test(code)) problems.push(`${file}: this is what ${home} is for`);
  for (const { target, typeOnly } of imports(file, code)) checkImport(file, target, typeOnly);
}

function imports(file, code) {
  const found = [];
  const pattern =
    /(?:import|export)\s+(type\s+)?([^"'`;]*?\sfrom\s*)?["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/g;
  for (const match of code.matchAll(pattern)) {
    const specifier = match[3] ?? match[4];
    const target = resolveTarget(file, specifier);
    const clause = match[2] ?? "";
    const named = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
    const allTypes =
      named.trim() !== "" && named.split(",").every((name) => !name.trim() || name.trim().startsWith("type "));
    if (target) found.push({ target, typeOnly: Boolean(match[1]) || (allTypes && !/^\s*\w+\s*,/.test(clause)) });
  }
  return found;
}

function resolveTarget(file, specifier) {
  if (specifier.startsWith("@earendil-works/pi-ai")) return "packages/ai/src/index.ts";
  if (specifier.startsWith("@earendil-works/pi-agent-core")) return "packages/agent/src/index.ts";
  if (!specifier.startsWith(".")) return undefined;
  return join(dirname(file), specifier).split(sep).join("/").replace(/\.js$/, ".ts");
}

function roomOf(file) {
  if (file.startsWith("packages/ai/")) return "ai";
  if (file.startsWith("packages/agent/")) return "agent";
  if (file.endsWith("rpc/rpc-client.ts")) return "rpc-client.ts";
  const rest = file.slice(product.length);
  if (rest.includes("/")) return rest.slice(0, rest.indexOf("/"));
  return entries.split(", ").includes(rest) ? entries : "command-line";
}

function checkImport(file, target, typeOnly) {
  const from = roomOf(file);
  const to = roomOf(target);
  const rank = records.indexOf(file);
  const targetRank = records.indexOf(target);
  const fail = () => problems.push(`${file} (${from}) may not import ${target} (${to})`);
  if (rank > 1) {
    // A record file sees only record files above it; a package's index stands for its types.
    const allowed = targetRank >= 0 ? targetRank < rank : target.endsWith("/src/index.ts") && to !== from;
    if (!allowed) fail();
    return;
  }
  if (from === entries) return;
  if (to === entries) return fail();
  if (from === to) return from === "core" ? checkService(file, target, typeOnly) : undefined;
  const allowed = rooms[from];
  const ok =
    allowed.includes(to) ||
    (allowed.includes("records") && targetRank >= 0) ||
    (allowed.includes("types of records") && targetRank >= 0 && typeOnly) ||
    (allowed.includes(`types of ${to}`) && typeOnly) ||
    allowed.includes(target.slice(product.length));
  if (!ok) fail();
}

function checkService(file, target, typeOnly) {
  const name = (path) => path.slice(`${product}core/`.length).replace(/\.ts$/, "");
  const [from, to] = [name(file), name(target)];
  const isCoordinator = coordinators.includes(from);
  if (isCoordinator || typeOnly || records.includes(target) || coreLeaves.includes(to.split("/")[0])) return;
  if (from.includes("/") && from.split("/")[0] === to.split("/")[0]) return; // files of one service's folder
  problems.push(`${file}: services do not know each other, but it imports ${target}`);
}
