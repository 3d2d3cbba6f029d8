// A saved session with a tool of one's own: every event in order, steering while it runs, and the file afterwards.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentSessionEvent,
  chooseModel,
  createRuntime,
  loadResources,
  SessionManager,
  type SessionOptions,
} from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

const cwd = mkdtempSync(join(tmpdir(), "pi-sdk-"));

// docs:start tool
/** Replaces the built-in tool of the same name: this one answers from a list and touches no disk. */
const listing = {
  name: "ls",
  label: "List",
  description: "List the files of a directory.",
  parameters: Type.Object({ path: Type.Optional(Type.String()) }),
  execute: async () => ({ content: [{ type: "text" as const, text: "README.md\nsrc/" }], details: undefined }),
};
// docs:end

const resources = loadResources({ cwd, env: process.env, isTrusted: () => false });
const choice = await chooseModel(resources.models, { model: "demo" }, resources.settings);
const options: SessionOptions = {
  agentDir: resources.agentDir,
  models: resources.models,
  settings: resources.settings,
  customTools: [listing],
  toolSelection: { tools: ["ls"] },
};
const runtime = createRuntime(options, {
  store: SessionManager.create(cwd, join(cwd, "sessions")),
  model: choice.model,
  thinkingLevel: choice.thinkingLevel,
  scopedModels: choice.scoped,
});

// docs:start events
const seen: AgentSessionEvent["type"][] = [];
runtime.subscribe((event) => {
  seen.push(event.type);
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
    process.stdout.write(event.assistantMessageEvent.delta);
  return undefined; // a promise here would slow the run down to our pace
});
await runtime.session.prompt("List the files in this directory");
await runtime.session.followUp("What can you do?"); // queued: the run goes on until nothing is left
await runtime.session.waitForIdle();
// docs:end

const file = runtime.session.store.getSessionFile() as string;
await runtime.dispose();
const entries = readFileSync(file, "utf8").trimEnd().split("\n");
const messages = entries.map((line) => JSON.parse(line)).filter(({ type }) => type === "message");
assert.deepEqual(
  messages.map(({ message }) => message.role),
  ["user", "assistant", "toolResult", "assistant", "user", "assistant"],
);
assert.match(messages[2].message.content[0].text, /README\.md/);
assert.equal(seen.filter((type) => type === "agent_settled").length, 1);
assert.equal(seen.at(-1), "agent_settled");
rmSync(cwd, { recursive: true });
