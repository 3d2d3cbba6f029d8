// The typed client at work: starts the program, streams a run, steers it, runs a command, and stops.
//
//   node rpc-example.js [directory]     (after bundling; the tests run it)

import assert from "node:assert/strict";
import { RpcClient, RpcCommandError } from "@earendil-works/pi-coding-agent/rpc-client";

/** `cliPath` is the command's script; absent: the one beside the client. */
export async function runExample(cwd: string, cliPath?: string, env?: Record<string, string>): Promise<string[]> {
  const shown: string[] = [];
  const client = new RpcClient({
    cwd,
    model: "demo",
    args: ["--no-session"],
    ...(cliPath && { cliPath }),
    ...(env && { env }),
  });
  client.onEvent((event) => {
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_end")
      shown.push(event.assistantMessageEvent.content);
    if (event.type === "tool_execution_start") shown.push(`[${event.toolName}]`);
  });
  await client.start();
  try {
    const events = await client.promptAndWait("List the files in this directory");
    assert.equal(events.at(-1)?.type, "agent_settled");

    const { output, exitCode } = await client.bash("echo from the shell");
    assert.deepEqual([output, exitCode], ["from the shell\n", 0]);

    await assert.rejects(
      client.setModel("nowhere", "nothing"),
      (error) => error instanceof RpcCommandError && error.code === "not_found",
    );
    const { messageCount, isStreaming } = await client.getState();
    assert.equal(isStreaming, false);
    assert.ok(messageCount > 0);
    assert.ok(await client.getLastAssistantText());
  } finally {
    await client.stop();
  }
  return shown;
}
