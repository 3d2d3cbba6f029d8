// The declarations of the published package: those its entries reach, of all three packages, in one folder, so that they
// resolve where only the product and its dependencies are installed.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const product = join(root, "packages/coding-agent");
const target = join(product, "dist/types");
/** Where the compiler puts the declarations of each package, and what it is imported as. */
const packages = {
  "coding-agent": { from: join(product, "dist/declarations") },
  agent: { from: join(root, "packages/agent/dist"), name: "@earendil-works/pi-agent-core" },
  ai: { from: join(root, "packages/ai/dist"), name: "@earendil-works/pi-ai" },
};
const entries = ["index.d.ts", "modes/rpc/rpc-client.d.ts"];
const { dependencies } = JSON.parse(readFileSync(join(product, "package.json"), "utf8"));

const compiled = spawnSync("npx", ["tsc", "-b"], { cwd: root, stdio: "inherit" });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

rmSync(target, { recursive: true, force: true });
const problems = [];
const written = new Set();
const waiting = entries.map((path) => join("coding-agent", path));
for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
  if (written.has(path)) continue;
  written.add(path);
  copy(path);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

/** `path` is `<package>/<file>`, as below the target. */
function copy(path) {
  const [folder, ...rest] = path.split("/");
  const source = join(packages[folder].from, ...rest);
  if (!existsSync(source)) return problems.push(`${source} is missing`);
  const text = readFileSync(source, "utf8").replace(
    /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(["'])([^"']+)\2/g,
    (_, before, quote, specifier) => `${before}${quote}${follow(path, specifier)}${quote}`,
  );
  mkdirSync(dirname(join(target, path)), { recursive: true });
  writeFileSync(join(target, path), text);
}

/** Notes what an import needs, and gives its new specifier. */
function follow(path, specifier) {
  const own = Object.keys(packages).find((folder) => packages[folder].name === specifier);
  if (own) return pointTo(path, join(own, "index.d.ts"));
  if (specifier.startsWith(".")) return pointTo(path, join(dirname(path), specifier).replace(/\.js$/, ".d.ts"));
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  const isKnown = name in dependencies || specifier.startsWith("node:") || builtinModules.includes(name);
  if (!isKnown) problems.push(`${path} imports "${specifier}", which is no dependency of the product`);
  return specifier;
}

function pointTo(path, wanted) {
  waiting.push(wanted);
  const way = relative(dirname(path), wanted).replace(/\.d\.ts$/, ".js");
  return way.startsWith(".") ? way : `./${way}`;
}
