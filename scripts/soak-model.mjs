// The model of the soak test: a loopback server of the chat completions API that answers at random and fails often.

import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Tokens of the models' window; the server refuses what is larger, as providers do. */
export const contextWindow = 24_000;

/**
 * Starts it on a free port. `random` gives numbers from 0 to 1. `counts` says how often what was done.
 */
export async function startModel(random) {
  const counts = {};
  const server = createServer((request, response) => {
    response.on("error", () => {});
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pick = (table) => {
    const total = Object.values(table).reduce((sum, weight) => sum + weight, 0);
    let at = random() * total;
    for (const [name, weight] of Object.entries(table)) {
      at -= weight;
      if (at < 0) return name;
    }
    return Object.keys(table)[0];
  };
  const between = (low, high) => low + Math.floor(random() * (high - low + 1));
  let serial = 0;
  let toolRounds = 0;

  async function answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const body = JSON.parse(text);
    const input = Math.ceil(text.length / 4);
    const isSummary = !body.tools?.length;
    const fault = pick(isSummary ? summaryFaults : faults);
    const what = input > contextWindow ? "overflow" : fault;
    counts[what] = (counts[what] ?? 0) + 1;
    if (what === "overflow")
      return refuse(response, 400, `prompt is too long: ${input} tokens > ${contextWindow} maximum`);
    if (what === "overload") return refuse(response, 529, "Overloaded");
    if (what === "server") return refuse(response, 500, "Internal error");
    if (what === "rate limit") return refuse(response, 429, "Slow down", { "retry-after": "0" });
    if (what === "refusal") return refuse(response, 400, "This field is not allowed");
    if (what === "late stall") return void (await gone(response));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = async (fields) => {
      if (response.destroyed) return;
      const chunk = {
        id: `chatcmpl-${serial}`,
        object: "chat.completion.chunk",
        created: 1,
        model: body.model,
        ...fields,
      };
      if (!response.write(`data: ${JSON.stringify(chunk)}\n\n`)) await drained(response);
    };
    const delta = (fields) => send({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
    if (what === "stall at once") return void (await gone(response));
    for (let piece = 0, count = isSummary ? 3 : between(1, 30); piece < count; piece += 1) {
      await delta({ content: `${words(between(1, 12))} ` });
      if (random() < 0.3) await sleep(between(0, 15));
      if (piece === 0 && what === "cut") return response.destroy();
      if (piece === 0 && what === "stall") return void (await gone(response));
      if (piece === 0 && what === "no end") return response.end();
      if (piece === 0 && what === "no JSON") return response.end("data: {oops\n\n");
      if (piece === 0 && what === "error inside")
        return response.end(`data: ${JSON.stringify({ error: { type: "overloaded_error", message: "Busy" } })}\n\n`);
    }
    const calls = !isSummary && toolRounds < 8 && random() < 0.55 ? between(1, 3) : 0;
    toolRounds = calls > 0 ? toolRounds + 1 : 0;
    for (let index = 0; index < calls; index += 1) await delta({ tool_calls: [call(index)] });
    const finish = what === "length" ? "length" : calls > 0 ? "tool_calls" : "stop";
    await send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
    await send({ choices: [], usage: { prompt_tokens: input, completion_tokens: 50, total_tokens: input + 50 } });
    response.end("data: [DONE]\n\n");
  }

  function call(index) {
    const [name, args] = JSON.parse(pick(tools).replaceAll("$n", String(between(1, 1500))));
    counts[name] = (counts[name] ?? 0) + 1;
    const text = name === "write" && random() < 0.2 ? JSON.stringify(args).slice(0, -4) : JSON.stringify(args);
    serial += 1;
    return { index, id: `call_${serial}`, type: "function", function: { name, arguments: text } };
  }

  const words = (count) => Array.from({ length: count }, () => vocabulary[between(0, vocabulary.length - 1)]).join(" ");
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    counts,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const faults = {
  none: 60,
  overload: 6,
  server: 3,
  "rate limit": 3,
  refusal: 2,
  cut: 5,
  stall: 2,
  "stall at once": 1,
  "late stall": 1,
  "no end": 2,
  "no JSON": 1,
  "error inside": 2,
  length: 3,
  overflow: 2,
};
const summaryFaults = { none: 20, overload: 3, cut: 2, stall: 1, length: 1, refusal: 1 };

/** Calls by how often they are made: quick, slow, crashing, refused, long. `$n` is a number. */
const tools = Object.fromEntries([
  [JSON.stringify(["bash", { command: "echo step $n" }]), 10],
  [JSON.stringify(["bash", { command: "seq 1 $n" }]), 6],
  [JSON.stringify(["bash", { command: "sleep 0.3; echo slept" }]), 4],
  [JSON.stringify(["bash", { command: "sleep 20" }]), 2],
  [JSON.stringify(["bash", { command: "sleep 300 & echo left behind" }]), 2],
  [JSON.stringify(["bash", { command: "echo broken >&2; exit 3" }]), 4],
  [JSON.stringify(["bash", { command: "kill -9 $$" }]), 2],
  [JSON.stringify(["bash", { command: "trap '' TERM; sleep 2" }]), 1],
  [JSON.stringify(["bash", { command: "head -c 300000 /dev/urandom" }]), 1],
  [JSON.stringify(["bash", { command: "sleep 5", timeout: 0.2 }]), 2],
  [JSON.stringify(["write", { path: "file-$n.txt", content: "한글 😀 line\nnext\n" }]), 5],
  [JSON.stringify(["read", { path: "notes.txt" }]), 5],
  [JSON.stringify(["read", { path: "nowhere-$n.txt" }]), 2],
  [JSON.stringify(["edit", { path: "notes.txt", edits: [{ oldText: "alpha", newText: "alpha" }] }]), 3],
  [JSON.stringify(["edit", { path: "notes.txt", edits: [{ oldText: "no such text", newText: "" }] }]), 2],
  [JSON.stringify(["read", { wrong: true }]), 1],
  [JSON.stringify(["teleport", { to: "the moon" }]), 1],
]);

const vocabulary = "the agent reads a file and then it writes another one 한글 😀 \u2028 naïve done checks tests".split(
  " ",
);

function refuse(response, status, message, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message } }));
}

function gone(response) {
  return new Promise((resolve) => response.once("close", resolve));
}

function drained(response) {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}
