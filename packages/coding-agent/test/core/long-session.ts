// A session whose window is small and whose delays are noted instead of waited for: retries and summaries in a test.

import type { AnyAgentTool } from "@earendil-works/pi-agent-core";
import type { Model } from "@earendil-works/pi-ai";
import { type Hold, type ScriptedModel, usage } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import type { AgentSessionOptions } from "../../src/core/agent-session.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { type SessionBench, sessionBench, testModel } from "./session.js";

export interface LongSessionOptions {
  scripted?: ScriptedModel;
  /** Facts of the scripted model; its window is 1,000 tokens. */
  model?: Partial<Model>;
  store?: SessionManager;
  retry?: Partial<AgentSessionOptions["recovery"]["retry"]>;
  /** Tokens; without numbers for a model: a reserve of 100, 20 are kept. */
  compaction?: { enabled?: boolean; limits?: AgentSessionOptions["recovery"]["compaction"]["limits"] };
  tools?: readonly AnyAgentTool[];
  /** Delays wait here instead of passing at once. */
  delay?: Hold;
  other?: Partial<AgentSessionOptions>;
}

export interface LongSession extends SessionBench {
  /** Milliseconds of every delay so far. */
  delays: number[];
  store: SessionManager;
  /** The events of these types so far, whole. */
  told(...types: AgentSessionEvent["type"][]): AgentSessionEvent[];
  /** Sends a text and waits for the end of its run. */
  say(text: string): Promise<void>;
}

export function longSession(options: LongSessionOptions = {}): LongSession {
  const scripted = options.scripted ?? testModel({ contextWindow: 1000, maxTokens: 200, ...options.model });
  const delays: number[] = [];
  const store = options.store ?? SessionManager.inMemory("/");
  const bench = sessionBench(
    {
      store,
      tools: options.tools ?? [noop],
      recovery: {
        retry: { enabled: true, maxRetries: 3, baseMs: 10, capMs: 60_000, ...options.retry },
        compaction: {
          enabled: true,
          limits: () => ({ reserveTokens: 100, keepRecentTokens: 20 }),
          ...options.compaction,
        },
      },
      sleep: async (ms, signal) => {
        delays.push(ms);
        if (signal.aborted || (options.delay && !(await options.delay.wait(signal)))) throw new Error("Aborted");
      },
      ...options.other,
    },
    scripted,
  );
  return {
    ...bench,
    delays,
    store,
    told: (...types) => bench.events.filter(({ type }) => types.includes(type)),
    say: async (text) => {
      await bench.session.prompt(text);
      await bench.session.waitForIdle();
    },
  };
}

/** A tool that does nothing. */
export const noop: AnyAgentTool = {
  name: "noop",
  description: "",
  parameters: Type.Object({}),
  execute: async () => ({ content: [{ type: "text", text: "done" }] }),
};

/** A text of about so many tokens, which begins with `name`. */
export function tokens(count: number, name = "x"): string {
  return name.padEnd(count * 4, ".");
}

/** Two questions and their answers of 20 tokens each; what is kept is about the last one. */
export async function twoSpans(bench: LongSession): Promise<LongSession> {
  for (const name of ["one", "two"]) {
    bench.scripted.reply(usage({ input: 30, output: 20 }), tokens(20, `answer ${name}`));
    await bench.say(tokens(20, `question ${name}`));
  }
  return bench;
}
