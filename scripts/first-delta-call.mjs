// One process of the measurement: calls a model again and again, and prints how long each first delta took to come.
// node first-delta-call.mjs MODULE MODEL CALLS

import { pathToFileURL } from "node:url";

const [module, model, calls] = process.argv.slice(2);
const { stream } = await import(pathToFileURL(module).href);
const context = { messages: [{ role: "user", content: "Hi", timestamp: 1 }] };
const measured = [];
for (let call = 0; call < Number(calls); call += 1) {
  const startedAt = performance.now();
  const used = process.cpuUsage();
  let first;
  for await (const { type, error } of stream(JSON.parse(model), context, { apiKey: "key" })) {
    if (type === "error") throw new Error(error.errorMessage);
    if (type !== "text_delta" || first) continue;
    const { user, system } = process.cpuUsage(used);
    first = { wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
  }
  measured.push(first);
}
process.stdout.write(JSON.stringify(measured));
