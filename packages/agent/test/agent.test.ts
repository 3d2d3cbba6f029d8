import type { Message } from "@earendil-works/pi-ai";
import { fail, hold, scriptedModel, toolCall } from "@earendil-works/pi-ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions } from "../src/agent.js";
import { textOf, tool } from "./recorded-loop.js";

function agentWith(options: AgentOptions = {}) {
  const scripted = scriptedModel();
  onTestFinished(() => scripted.dispose());
  const agent = new Agent({ model: scripted.model, ...options });
  const requests = () => scripted.requests.map(({ context }) => context.messages.map(textOf));
  return { agent, scripted, requests };
}

describe("Agent", () => {
  test("keeps the conversation, and runs tools in it", async () => {
    const { agent, scripted, requests } = agentWith({
      systemPrompt: "Be brief",
      tools: [tool("clock", () => "noon")],
      streamOptions: { maxTokens: 9 },
    });
    scripted.reply(toolCall("clock", {})).reply("It is noon").reply("Still noon");
    await agent.prompt("What time is it?");
    await agent.prompt({ role: "user", content: "And now?", timestamp: 0 });
    expect(agent.messages.map(textOf)).toEqual([
      "What time is it?",
      "clock()",
      "noon",
      "It is noon",
      "And now?",
      "Still noon",
    ]);
    expect(requests()[2]).toEqual(["What time is it?", "clock()", "noon", "It is noon", "And now?"]);
    expect(scripted.requests[0]!.context.systemPrompt).toBe("Be brief");
    expect(scripted.requests[0]!.options.maxTokens).toBe(9);
  });

  test("never sends a failed answer back, and goes on from there", async () => {
    const { agent, scripted, requests } = agentWith();
    scripted.reply("Half", fail("overloaded")).reply("Whole");
    await agent.prompt("hi");
    await agent.continue();
    expect(requests()).toEqual([["hi"], ["hi"]]);
    expect(agent.messages.map((message) => (message as Message).role)).toEqual(["user", "assistant", "assistant"]);
  });

  test("what the model sees can be chosen", async () => {
    const { agent, scripted, requests } = agentWith({
      convertToLlm: (messages) => messages.slice(-1) as Message[],
    });
    scripted.reply("One").reply("Two");
    await agent.prompt("a");
    await agent.prompt("b");
    expect(requests()).toEqual([["a"], ["b"]]);
  });

  test("steering and follow-ups are delivered in the run, and wait for the next prompt when idle", async () => {
    const { agent, scripted, requests } = agentWith();
    const pause = hold();
    scripted.reply("One", pause).reply("Two").reply("Three").reply("Four");
    agent.steer("s0");
    const run = agent.prompt("hi");
    await pause.reached;
    agent.followUp("f1");
    agent.steer("s1");
    pause.release();
    await run;
    expect(requests().at(-1)).toEqual(["hi", "s0", "One", "s1", "Two", "f1"]);
    expect(agent.isRunning).toBe(false);
  });

  test("refuses a second run and a run without a model, before it has effects", async () => {
    const { agent, scripted } = agentWith();
    const pause = hold();
    scripted.reply(pause);
    const run = agent.prompt("hi");
    expect(() => agent.prompt("again")).toThrow("Cannot start a run: one is under way; use steer or followUp");
    expect(() => agent.continue()).toThrow("Cannot start a run: one is under way; use steer or followUp");
    pause.release();
    await run;
    expect(agent.messages).toHaveLength(2);
    expect(() => new Agent().prompt("hi")).toThrow("Cannot start a run: no model is set");
  });

  test("abort resolves after the last event, and is harmless when idle", async () => {
    const { agent, scripted } = agentWith();
    const pause = hold();
    scripted.reply("So", pause);
    const types: string[] = [];
    agent.subscribe(({ type }) => {
      types.push(type);
      return undefined;
    });
    await agent.abort();
    const run = agent.prompt("hi");
    await pause.reached;
    await agent.abort();
    expect(types.at(-1)).toBe("agent_end");
    expect(agent.isRunning).toBe(false);
    await run;
    expect(agent.messages.at(-1)).toMatchObject({ stopReason: "aborted" });
  });

  test("a listener may end itself while it is called; the others are still told", async () => {
    const { agent, scripted } = agentWith();
    scripted.reply("One");
    const seen: string[] = [];
    const end = agent.subscribe(({ type }) => {
      seen.push(`first ${type}`);
      end();
      return undefined;
    });
    agent.subscribe(({ type }) => {
      seen.push(`second ${type}`);
      return undefined;
    });
    await agent.prompt("hi");
    expect(seen.slice(0, 3)).toEqual(["first agent_start", "second agent_start", "second turn_start"]);
  });

  test("a slow listener holds the run", async () => {
    const { agent, scripted } = agentWith();
    scripted.reply("One");
    const reader = hold();
    agent.subscribe(({ type }) => (type === "turn_start" ? reader.wait().then(() => {}) : undefined));
    const run = agent.prompt("hi");
    await reader.reached;
    await new Promise((resolve) => setImmediate(resolve));
    expect(agent.messages).toEqual([]);
    reader.release();
    await run;
    expect(agent.messages.map(textOf)).toEqual(["hi", "One"]);
  });

  test("a listener that throws fails the run, and the agent is free again", async () => {
    const { agent, scripted } = agentWith();
    scripted.reply("One");
    const end = agent.subscribe(({ type }) => {
      if (type === "turn_start") throw new Error("Listener broke");
      return undefined;
    });
    await expect(agent.prompt("hi")).rejects.toThrow("Listener broke");
    await agent.waitForIdle();
    expect(agent.isRunning).toBe(false);
    end();
    await agent.prompt("hi");
    expect(agent.messages.map(textOf)).toEqual(["hi", "One"]);
  });
});
