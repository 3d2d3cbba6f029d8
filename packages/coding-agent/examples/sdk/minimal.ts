// The smallest use of the SDK: a session in memory with the demo model, one prompt, its answer.

import assert from "node:assert/strict";
// docs:start
import { chooseModel, createRuntime, loadResources, SessionManager } from "@earendil-works/pi-coding-agent";

/** Asks one question in a directory and gives the answer's text. */
export async function ask(question: string, cwd: string): Promise<string> {
  const resources = loadResources({ cwd, env: process.env, isTrusted: () => false });
  const { model, thinkingLevel, scoped } = await chooseModel(resources.models, { model: "demo" }, resources.settings);
  const runtime = createRuntime(
    { agentDir: resources.agentDir, models: resources.models, settings: resources.settings },
    { store: SessionManager.inMemory(cwd), model, thinkingLevel, scopedModels: scoped },
  );
  await runtime.session.prompt(question); // resolves when the question is accepted
  await runtime.session.waitForIdle(); // … and this when the run is over
  const answer = runtime.session.lastAssistantText() ?? "";
  await runtime.dispose();
  return answer;
}
// docs:end

const answer = await ask("List the files in this directory", process.cwd());
console.log(answer);
assert.match(answer, /package\.json|\w/);
