// Runs one prompt in RPC mode and prints the answer as it comes; Ctrl+C aborts the run.
//
//   node node-client.mjs "List the files in this directory" -- pi --mode rpc --no-session --model demo

import { spawn } from "node:child_process";

const [message, separator, command, ...args] = process.argv.slice(2);
if (separator !== "--" || !command) {
  console.error('Usage: node node-client.mjs "MESSAGE" -- pi --mode rpc [options]');
  process.exit(2);
}
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const send = (record) => agent.stdin.write(`${JSON.stringify(record)}\n`);

/** Gives each record of a byte stream. Splits at LF only: Node's readline would split at U+2028 inside of texts too. */
async function* readRecords(stream) {
  let pieces = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      // Decoded when the line is whole, so that no character is cut by a chunk's edge.
      yield JSON.parse(Buffer.concat([...pieces, chunk.subarray(start, end)]).toString("utf8"));
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
}

process.on("SIGINT", () => send({ type: "abort" }));
send({ id: "prompt", type: "prompt", message });
let failure;
let isOver = false;
for await (const record of readRecords(agent.stdout)) {
  if (record.type === "response" && record.id === "prompt") {
    if (!record.success) failure = record.error;
    // A refused text starts no run, and neither does one that an extension handled.
    isOver = !record.success || record.data.disposition === "handled";
  } else if (record.type === "message_update") {
    const event = record.assistantMessageEvent;
    if (event.type === "text_delta") process.stdout.write(event.delta);
    if (event.type === "text_end") process.stdout.write("\n");
  } else if (record.type === "tool_execution_start") {
    console.log(`[${record.toolName} ${JSON.stringify(record.args)}]`);
  } else if (record.type === "message_end" && record.message.stopReason === "error") {
    failure = record.message.errorMessage;
  } else if (record.type === "agent_end") {
    if (record.willRetry) failure = undefined; // more follows by itself
  } else if (record.type === "agent_settled") {
    isOver = true;
  }
  if (isOver) break;
}
agent.stdin.end();
if (failure) console.error(failure);
process.exitCode = failure || !isOver ? 1 : 0;
