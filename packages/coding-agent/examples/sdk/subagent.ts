// A tool that hands its task to an agent of its own: a second session, in memory, which may only read.

import assert from "node:assert/strict";
import { createAgentSession, defineTool, ModelRuntime, SessionManager } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

const modelRuntime = await ModelRuntime.create();
const model = modelRuntime.getModel("demo", "demo");

// docs:start
/** Takes the place of the built-in `ls`, so that the demo model, which knows no other tools, calls it. */
const delegate = defineTool({
  name: "ls",
  label: "Look around",
  description: "Hands the question which files there are to another agent.",
  parameters: Type.Object({ path: Type.Optional(Type.String()) }),
  execute: async (_id: string, _params: unknown, signal: AbortSignal | undefined) => {
    const { session } = await createAgentSession({
      modelRuntime,
      model,
      tools: ["read", "find", "ls"], // for good: neither it nor an extension can activate another
      sessionManager: SessionManager.inMemory(),
    });
    const stop = () => void session.abort();
    signal?.addEventListener("abort", stop);
    try {
      await session.prompt("List the files in this directory");
      const text = `Another agent says: ${session.getLastAssistantText()}`;
      return { content: [{ type: "text" as const, text }], details: session.getSessionStats() };
    } finally {
      signal?.removeEventListener("abort", stop);
      await session.dispose();
    }
  },
});

const { session } = await createAgentSession({
  modelRuntime,
  model,
  tools: ["ls"],
  customTools: [delegate],
  sessionManager: SessionManager.inMemory(),
});
await session.prompt("List the files in this directory");
// docs:end

const result = session.messages.find(({ role }) => role === "toolResult");
await session.dispose();
console.log(session.getLastAssistantText());
assert.ok(result?.role === "toolResult" && !result.isError);
assert.match(JSON.stringify(result.content), /Another agent says: \w/);
