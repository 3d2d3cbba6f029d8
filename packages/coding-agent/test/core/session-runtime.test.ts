import { hold } from "@earendil-works/pi-ai/testing";
import { describe, expect, test } from "vitest";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { SessionRuntime, type SessionRuntimeOptions } from "../../src/core/session-runtime.js";
import { textOf } from "./messages.js";
import { sessionBench, testModel } from "./session.js";

function runtimeBench(options: Partial<SessionRuntimeOptions> = {}) {
  const scripted = testModel();
  const first = sessionBench({}, scripted).session;
  const runtime = new SessionRuntime({
    session: first,
    create: async (store) => ({ session: sessionBench({ store }, scripted).session, warnings: [] }),
    ...options,
  });
  const events: AgentSessionEvent[] = [];
  runtime.subscribe((event) => {
    events.push(event);
    return undefined;
  });
  return { runtime, first, scripted, events };
}

describe("SessionRuntime", () => {
  test("a new session is empty and its own, and listeners hear it", async () => {
    const { runtime, first, scripted, events } = runtimeBench();
    expect(await runtime.newSession("/parent.jsonl")).toEqual({ cancelled: false });
    const { session } = runtime;
    expect(session).not.toBe(first);
    expect(session.store.getHeader()).toMatchObject({ parentSession: "/parent.jsonl" });
    expect(session.store.getSessionId()).not.toBe(first.store.getSessionId());
    scripted.reply("Hello");
    await session.prompt("hi");
    await session.waitForIdle();
    expect(events.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
    expect([first.messages.length, session.messages.map(textOf)]).toEqual([0, ["hi", "Hello"]]);
  });

  test("a run under way is aborted and stored first, its queue dropped and named, and none of its events come later", async () => {
    const { runtime, first, scripted, events } = runtimeBench();
    const pause = hold();
    scripted.reply("So ", pause);
    await first.prompt("hi");
    await pause.reached;
    await first.steer("s");
    await first.followUp("f");
    expect(await runtime.newSession()).toEqual({ cancelled: false, dropped: { steering: ["s"], followUp: ["f"] } });
    expect(events.at(-1)).toEqual({ type: "agent_settled", aborted: true });
    const count = events.length;
    await first.setName("too late");
    expect(events).toHaveLength(count);
    expect(first.messages.map(textOf)).toEqual(["hi", "So "]);
    expect(runtime.session.state().pendingMessageCount).toBe(0);
  });

  test("a session that cannot be opened leaves the old one as it is, its run going on", async () => {
    const { runtime, first, scripted } = runtimeBench();
    const pause = hold();
    scripted.reply(pause, "Hello");
    await first.prompt("hi");
    await pause.reached;
    await expect(runtime.switchSession("/no/such.jsonl")).rejects.toMatchObject({ code: "not_found" });
    expect([runtime.session, first.isStreaming]).toEqual([first, true]);
    pause.release();
    await first.waitForIdle();
    expect(first.lastAssistantText()).toBe("Hello");
  });

  test("a slow listener holds the session through the runtime", async () => {
    const { runtime, scripted, first } = runtimeBench();
    const reader = hold();
    runtime.subscribe(({ type }) => (type === "turn_start" ? reader.wait().then(() => {}) : undefined));
    scripted.reply("Hello");
    await first.prompt("hi");
    await reader.reached;
    expect(scripted.requests).toHaveLength(0);
    reader.release();
    await first.waitForIdle();
    expect(scripted.requests).toHaveLength(1);
  });

  test("a subscription ends when it is asked to", async () => {
    const { runtime, first } = runtimeBench();
    const seen: string[] = [];
    const end = runtime.subscribe(({ type }) => {
      seen.push(type);
      return undefined;
    });
    await first.setName("one");
    end();
    await first.setName("two");
    expect(seen).toEqual(["session_info_changed"]);
  });
});
