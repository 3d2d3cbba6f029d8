// A runtime in memory on a scripted model, for tests of modes.

import type { ScriptedModel } from "@earendil-works/pi-ai/testing";
import type { AgentSession, AgentSessionOptions } from "../../src/core/agent-session.js";
import { type OpenedSession, SessionRuntime } from "../../src/core/session-runtime.js";
import { sessionBench, testModel } from "../core/session.js";

export function testRuntime(options: Partial<AgentSessionOptions> = {}): {
  runtime: SessionRuntime;
  scripted: ScriptedModel;
} {
  const scripted = testModel();
  const runtime = new SessionRuntime({
    ...opened(sessionBench(options, scripted).session),
    create: async (store) => opened(sessionBench({ ...options, store }, scripted).session),
    fault: (error) => {
      throw error;
    },
  });
  return { runtime, scripted };
}

/** A session whose extensions, if any, are told of nothing. */
export function opened(session: AgentSession): OpenedSession {
  return { session, warnings: [], begin: async () => {} };
}
