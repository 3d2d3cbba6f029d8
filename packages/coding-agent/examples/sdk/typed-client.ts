// The agent in a process of its own, driven by the typed client: one prompt, its answer, and an orderly end.

import assert from "node:assert/strict";
// docs:start
import { RpcClient, RpcCommandError } from "@earendil-works/pi-coding-agent/rpc-client";

const client = new RpcClient({ model: "demo", args: ["--no-session"] });
client.onEvent((event) => {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
    process.stdout.write(event.assistantMessageEvent.delta);
});
await client.start();
await client.promptAndWait("List the files in this directory"); // resolves when the run is over
const answer = await client.getLastAssistantText();
const refusal = await client.setModel("nobody", "nothing").catch((error: RpcCommandError) => error);
await client.stop();
// docs:end

assert.match(answer ?? "", /\w/);
assert.ok(refusal instanceof RpcCommandError && refusal.code === "not_found");
