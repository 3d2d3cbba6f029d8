// One call makes a session; an extension of the program itself watches its tools and adds a command.

import assert from "node:assert/strict";
// docs:start
import {
  createAgentSession,
  DefaultResourceLoader,
  type ExtensionFactory,
  ModelRuntime,
  SessionManager,
} from "@earendil-works/pi-coding-agent";

const called: string[] = [];
const watcher: ExtensionFactory = (pi) => {
  pi.on("tool_call", ({ toolName, input }) => {
    called.push(toolName);
    if (toolName === "bash" && /\bsudo\b/.test(String(input.command))) return { block: true, reason: "Not as root" };
    return undefined;
  });
  pi.registerCommand("title", { description: "Names the session", handler: (args) => pi.setSessionName(args) });
};

const resourceLoader = new DefaultResourceLoader({ extensionFactories: [watcher], noContextFiles: true });
await resourceLoader.reload();
const modelRuntime = await ModelRuntime.create();
const { session } = await createAgentSession({
  resourceLoader,
  modelRuntime,
  model: modelRuntime.getModel("demo", "demo"),
  sessionManager: SessionManager.inMemory(),
});
await session.bindExtensions(); // extensions hear `session_start` now
await session.prompt("/title A look around");
await session.prompt("List the files in this directory"); // resolves when the run is over
console.log(session.sessionName, session.getLastAssistantText());
await session.dispose(); // … and `session_shutdown` here
// docs:end

assert.equal(session.sessionName, "A look around");
assert.deepEqual(called, ["bash"]);
