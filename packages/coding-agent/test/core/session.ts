// A session in memory on a scripted model, and what it announces.

import type { ScriptedModel } from "@earendil-works/pi-ai/testing";
import { scriptedModel } from "@earendil-works/pi-ai/testing";
import { onTestFinished } from "vitest";
import { AgentSession, type AgentSessionOptions } from "../../src/core/agent-session.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { textOf } from "./messages.js";

export interface SessionBench {
  session: AgentSession;
  scripted: ScriptedModel;
  events: AgentSessionEvent[];
  faults: unknown[];
  /** One line an event, deltas left out. */
  outline(): string[];
  /** The texts of every request. */
  requests(): string[][];
  /** Resolves with the first event of this type, also one that has been. */
  next(type: AgentSessionEvent["type"]): Promise<void>;
}

export function testModel(...facts: ConstructorParameters<typeof ScriptedModel>): ScriptedModel {
  const scripted = scriptedModel(...facts);
  onTestFinished(() => scripted.dispose());
  return scripted;
}

export function sessionBench(options: Partial<AgentSessionOptions> = {}, scripted = testModel()): SessionBench {
  const faults: unknown[] = [];
  const session = new AgentSession({
    store: SessionManager.inMemory("/"),
    models: {
      find: (provider, id) => [scripted.model].find((model) => model.provider === provider && model.id === id),
      getAvailable: () => [scripted.model],
      hasCredentials: () => true,
      resolveRequest: async () => ({ apiKey: "key", headers: { "x-test": "1" } }),
    },
    model: scripted.model,
    thinkingLevel: "medium",
    scopedModels: [],
    tools: [],
    systemPrompt: "Be brief",
    queueModes: { steering: "one-at-a-time", followUp: "one-at-a-time" },
    images: { maxImages: 2, prepareImage: async (image) => image },
    shell: {},
    environment: () => ({ PATH: process.env.PATH }),
    // Recovery has tests of its own; the scripted answers are far below the window.
    recovery: {
      retry: { enabled: false, maxRetries: 3, baseMs: 1, capMs: 1 },
      compaction: { enabled: true, limits: () => ({ reserveTokens: 0, keepRecentTokens: 0 }) },
    },
    sleep: async () => {},
    streamOptions: {},
    fault: (error) => faults.push(error),
    ...options,
  });
  const events: AgentSessionEvent[] = [];
  const waiting: (() => void)[] = [];
  session.subscribe((event) => {
    events.push(event);
    for (const wake of waiting.splice(0)) wake();
    return undefined;
  });
  return {
    session,
    scripted,
    events,
    faults,
    outline: () => events.filter(({ type }) => type !== "message_update").map(outlineOf),
    requests: () => scripted.requests.map(({ context }) => context.messages.map(textOf)),
    next: async (type) => {
      while (!events.some((event) => event.type === type)) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

function outlineOf(event: AgentSessionEvent): string {
  switch (event.type) {
    case "message_start":
    case "message_end":
      return `${event.type} ${event.message.role} ${textOf(event.message)}`.trim();
    case "queue_update":
      return `queue_update ${event.steering} | ${event.followUp}`;
    case "agent_settled":
      return `agent_settled${event.aborted ? " aborted" : ""}`;
    default:
      return event.type;
  }
}
