// Writes packages/ai/src/models/<provider>.json from a file of model facts: a JSON list of Model objects.
// Usage: node scripts/generate-models.mjs FACTS.json
// One model a line, sorted by id, so that a change of facts is a readable diff. demo.json is kept by hand.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const directory = resolve(dirname(fileURLToPath(import.meta.url)), "../packages/ai/src/models");
const [factsPath] = process.argv.slice(2);
if (!factsPath) {
  console.error("Usage: node scripts/generate-models.mjs FACTS.json");
  process.exit(1);
}

const byProvider = new Map();
for (const model of JSON.parse(readFileSync(factsPath, "utf8")))
  byProvider.set(model.provider, [...(byProvider.get(model.provider) ?? []), model]);
for (const [id, models] of byProvider) {
  models.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const lines = models.map((model) => JSON.stringify(checked(model)));
  writeFileSync(join(directory, `${id}.json`), `{"id":${JSON.stringify(id)},"models":[\n${lines.join(",\n")}\n]}\n`);
}

function checked(model) {
  const required = { id: "string", name: "string", api: "string", provider: "string", baseUrl: "string" };
  Object.assign(required, { reasoning: "boolean", input: "object", cost: "object" });
  Object.assign(required, { contextWindow: "number", maxTokens: "number" });
  for (const [field, type] of Object.entries(required))
    if (typeof model[field] !== type) throw new Error(`${model.provider}/${model.id}: ${field} is no ${type}`);
  if (!/^[a-z0-9-]+$/.test(model.provider)) throw new Error(`"${model.provider}" is no provider id`);
  return model;
}
