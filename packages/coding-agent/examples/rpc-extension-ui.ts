// A client that answers every dialog an extension can open, and keeps what it is told to show. It runs `/rpc-demo` of
// extensions/rpc-demo.ts and checks that its answers have arrived.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { RpcClient, type RpcClientEvent } from "@earendil-works/pi-coding-agent/rpc-client";

/** Paths of the extension and of the command may be given: where they lie depends on how this is installed. */
const [extension = fileURLToPath(new URL("extensions/rpc-demo.ts", import.meta.url)), cliPath] = process.argv.slice(2);
const client = new RpcClient({ ...(cliPath && { cliPath }), model: "demo", args: ["--no-session", "-e", extension] });

// docs:start
/** What is on the screen, if there were one. */
const shown = { title: "", editor: "", status: new Map<string, string>(), widgets: new Map<string, string[]>() };
const notices: string[] = [];
const methods: string[] = [];

client.onEvent((event) => {
  if (event.type === "extension_ui_request") answer(event);
  if (event.type === "extension_ui_closed") console.log(`The dialog ${event.id} is over: ${event.reason}`);
});

function answer(request: Extract<RpcClientEvent, { type: "extension_ui_request" }>): void {
  const { id } = request;
  methods.push(request.method);
  switch (request.method) {
    case "select":
      client.respond({ id, value: request.options[1] as string }); // exactly one of the options
      return;
    case "confirm":
      client.respond({ id, confirmed: true });
      return;
    case "input":
      client.respond({ id, value: "Grace" });
      return;
    case "editor":
      client.respond({ id, cancelled: true }); // the user closed it
      return;
    case "notify":
      notices.push(request.message);
      return;
    case "setTitle":
      shown.title = request.title;
      return;
    case "set_editor_text":
      shown.editor = request.text;
      return;
    case "setStatus":
      if (request.statusText === undefined) shown.status.delete(request.statusKey);
      else shown.status.set(request.statusKey, request.statusText);
      return;
    case "setWidget":
      if (request.widgetLines === undefined) shown.widgets.delete(request.widgetKey);
      else shown.widgets.set(request.widgetKey, request.widgetLines);
      return;
  }
}
// docs:end

await client.start();
await client.promptAndWait("/rpc-demo");
await client.stop();

assert.deepEqual(JSON.parse(notices[0] ?? ""), { colour: "green", isSure: true, name: "Grace" });
assert.equal(shown.title, "RPC demo");
assert.equal(shown.editor, "Grace likes green");
assert.deepEqual([shown.status.size, shown.widgets.size], [0, 0]);
assert.deepEqual(
  methods.filter((method) => ["select", "confirm", "input", "editor"].includes(method)),
  ["select", "confirm", "input", "editor"],
);
console.log(notices[0]);
