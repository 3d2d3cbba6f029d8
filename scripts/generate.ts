// Writes what comes from the record files: schema/*.json, the tables inside the documents, and the bundle's notices.
// With `--check` it writes nothing and fails when a file is stale.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { docTables } from "./doc-tables.js";
import { schemaFiles } from "./schema-files.js";

const product = "packages/coding-agent";
const isCheck = process.argv.includes("--check");
const stale: string[] = [];

for (const [name, document] of Object.entries(schemaFiles()))
  keep(join(product, "schema", `${name}.json`), `${JSON.stringify(document, null, 2)}\n`);

const tables = docTables();
const documents = ["ARCHITECTURE.md", ...readdirSync(join(product, "docs")).map((name) => join(product, "docs", name))];
for (const path of documents) {
  const text = readFileSync(path, "utf8");
  const filled = text.replace(/(<!-- generated: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, open, name, close) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`${path}: no generated part is called "${name}"`);
    return `${open}\n${table}\n\n${close}`;
  });
  keep(path, filled);
}

if (isCheck) process.env.PI_CHECK_NOTICES = "1";
const { status } = spawnSync("node", ["scripts/build.mjs", ...(isCheck ? [] : ["--notices"])], { stdio: "inherit" });
if (status !== 0) stale.push(`${product}/THIRD-PARTY-NOTICES.txt`);

if (stale.length > 0) {
  console.error(`Stale, run \`npm run generate\`:\n${stale.map((path) => `  ${path}`).join("\n")}`);
  process.exitCode = 1;
}

function keep(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  if (isCheck) stale.push(path);
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
