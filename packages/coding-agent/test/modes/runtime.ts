// A runtime in memory on a scripted model, for tests of modes.

import type { ScriptedModel } from "@earendil-works/pi-ai/testing";
import type { AgentSessionOptions } from "../../src/core/agent-session.js";
import { SessionRuntime } from "../../src/core/session-runtime.js";
import { sessionBench, testModel } from "../core/session.js";

export function testRuntime(options: Partial<AgentSessionOptions> = {}): {
  runtime: SessionRuntime;
  scripted: ScriptedModel;
} {
  const scripted = testModel();
  const runtime = new SessionRuntime({
    session: sessionBench(options, scripted).session,
    create: async (store) => ({ session: sessionBench({ ...options, store }, scripted).session, warnings: [] }),
    fault: (error) => {
      throw error;
    },
  });
  return { runtime, scripted };
}
