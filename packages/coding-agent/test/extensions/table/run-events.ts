// Events of runs: prompts, turns, messages, tools and requests of the model; what each tells, and what its answers change.

import { fail, startReplayServer, text, toolCall } from "@earendil-works/pi-ai/testing";
import { expect } from "vitest";
import type { ExtensionAPI, ExtensionFactory } from "../../../src/extensions/api.js";
import type { ExtensionEventName } from "../../../src/extensions/events.js";
import { answeringServer } from "../../helpers/answers.js";
import { type Mode, type PlayOptions, play, textOf } from "../play.js";
import { listenTo, type Rows } from "./row.js";
import type { SessionEventName } from "./session-events.js";

export type RunEventName = Exclude<ExtensionEventName, SessionEventName>;

/** What is registered, and never fires here: there is no such thing to tell of. */
export const silentEvents = ["cache_warming_decision", "mcp_servers_change"] as const;

export const runEvents: Rows<RunEventName> = {
  input: async (mode) => {
    const heard: object[] = [];
    const { requests, answers } = await play(
      mode,
      (pi) => {
        pi.on("input", (event) => {
          heard.push({ ...event });
          if (event.text === "Stop") return { action: "handled" };
          if (event.text === "Change") return { action: "transform", text: "Changed" };
          return { action: "continue" };
        });
        pi.on("input", ({ text: given }) =>
          given === "Changed" ? { action: "transform", text: `${given} twice` } : undefined,
        );
        pi.registerCommand("command", { handler: () => {} });
      },
      {
        prompts: ["Change", "Stop", "/command", "Plain"],
        drive: async ({ ask, runtime }) => {
          await ask({ type: "steer", message: "Steered" });
          await runtime.quiet();
          await ask({ type: "follow_up", message: "Followed" });
          await runtime.quiet();
        },
      },
    );
    expect(requests.map((texts) => texts.at(-1)).slice(0, 2)).toEqual(["Changed twice", "Plain"]);
    const source = mode === "rpc" ? "rpc" : "interactive";
    const typed = ["Change", "Stop", "Plain"].map((text) => ({ type: "input", text, source }));
    if (mode !== "rpc") return expect(heard).toEqual(typed);
    expect(heard).toEqual([
      ...typed,
      { type: "input", text: "Steered", source, streamingBehavior: "steer" },
      { type: "input", text: "Followed", source, streamingBehavior: "followUp" },
    ]);
    expect(answers.map(({ data }) => (data as { disposition?: string }).disposition)).toEqual([
      "started",
      "handled",
      "handled",
      "started",
      "started",
      "started",
    ]);
  },

  before_agent_start: async (mode) => {
    const heard: Record<string, unknown>[] = [];
    let asked = "";
    const { scripted, requests, runtime } = await play(mode, (pi) => {
      pi.on("before_agent_start", (event, ctx) => {
        heard.push({ ...event });
        event.systemPromptOptions.promptGuidelines.push("Never swear");
        return {
          message: { customType: "note", content: "A note", display: true, details: { n: 1 } },
          ...(ctx.isIdle() && { systemPrompt: "never" }),
        };
      });
      pi.on("before_agent_start", (event, ctx) => {
        asked = ctx.getSystemPrompt();
        return { systemPrompt: `${event.systemPrompt}\nAnd more` };
      });
    });
    expect(heard[0]).toMatchObject({
      type: "before_agent_start",
      messageType: "user",
      prompt: "Hello",
      systemPrompt: expect.any(String),
      systemPromptOptions: {
        selectedTools: ["read", "bash", "edit", "write"],
        hiddenTools: [],
        toolSnippets: expect.any(Object),
        toolGuidelines: expect.any(Object),
        sections: {},
        cwd: expect.stringMatching(/project$/),
        contextFiles: [],
        skills: [],
      },
    });
    expect(scripted.requests[0]?.context.systemPrompt).toMatch(/Never swear[\s\S]*And more$/);
    expect(asked).toContain("Never swear");
    expect(requests).toEqual([["Hello", "A note"]]);
    const stored = runtime.session.store.getEntries().find(({ type }) => type === "custom_message");
    expect(stored).toMatchObject({ customType: "note", content: "A note", display: true, details: { n: 1 } });
    // Only for this run.
    expect(runtime.session.systemPrompt).not.toContain("And more");
    // A message of an extension starts a run too.
    const custom: Record<string, unknown>[] = [];
    await play(
      mode,
      (pi) => {
        pi.on("before_agent_start", (event) => void custom.push({ ...event }));
        pi.registerCommand("go", {
          handler: () => pi.sendMessage({ customType: "job", content: "Go" }, { triggerTurn: true }),
        });
      },
      { prompts: ["/go"] },
    );
    expect(custom).toEqual([
      expect.objectContaining({
        messageType: "custom",
        message: expect.objectContaining({ role: "custom", customType: "job", content: "Go" }),
      }),
    ]);
    expect(custom[0]).not.toHaveProperty("prompt");
  },

  agent_start: async (mode) => expect(await heardIn(mode, "agent_start")).toEqual([{ type: "agent_start" }]),

  agent_end: async (mode) => {
    const [event] = await heardIn(mode, "agent_end");
    expect(roles(event?.messages)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  },

  agent_before_settle: async (mode) => {
    const heard: Record<string, unknown>[] = [];
    const { requests, runtime } = await play(mode, (pi) => {
      pi.on("agent_before_settle", (event) => {
        heard.push({ ...event, context: roles(event.context) });
        if (heard.length > 1) return undefined;
        return {
          entries: [{ type: "custom_message", customType: "more", content: "More", display: true }],
          continue: true,
        };
      });
      pi.on("agent_before_settle", (event) => {
        expect(event.entries.length + heard.length).toBeGreaterThan(0);
      });
    });
    expect(heard).toEqual([
      {
        type: "agent_before_settle",
        outcome: "completed",
        entries: [],
        continue: false,
        context: ["user", "assistant"],
      },
      {
        type: "agent_before_settle",
        outcome: "completed",
        entries: [],
        continue: false,
        context: ["user", "assistant", "custom", "assistant"],
      },
    ]);
    expect(requests).toEqual([["Hello"], ["Hello", "Hi", "More"]]);
    expect(runtime.session.messages).toHaveLength(4);
  },

  agent_settled: async (mode) => {
    const heard: Record<string, unknown>[] = [];
    let idle: boolean | undefined;
    const { requests } = await play(mode, (pi) => {
      pi.on("agent_settled", (event, ctx) => {
        heard.push({ ...event });
        idle ??= ctx.isIdle();
        if (heard.length === 1) pi.sendUserMessage("Once more");
      });
      pi.on("agent_settled", () => void heard.push({ second: heard.length }));
    });
    // What the first handler asks for starts when the second has heard.
    expect(heard.slice(0, 2)).toEqual([{ type: "agent_settled", aborted: false }, { second: 1 }]);
    expect(idle).toBe(true);
    expect(requests.at(-1)).toEqual(["Hello", "Hi", "Once more"]);
  },

  turn_start: async (mode) => {
    const timestamp = expect.any(Number);
    expect(await heardIn(mode, "turn_start")).toEqual([
      { type: "turn_start", turnIndex: 0, timestamp },
      { type: "turn_start", turnIndex: 1, timestamp },
    ]);
  },

  turn_end: async (mode) => {
    const [first, second] = await heardIn(mode, "turn_end");
    expect(first).toMatchObject({
      turnIndex: 0,
      message: { role: "assistant" },
      toolResults: [{ role: "toolResult", toolName: "count" }],
      messageEntryId: expect.any(String),
      toolResultEntryIds: [expect.any(String)],
      outcome: "completed",
      entries: [],
      continue: false,
      context: expect.any(Array),
    });
    expect(second).toMatchObject({ turnIndex: 1, toolResults: [], toolResultEntryIds: [] });
    let turns = 0;
    const { requests, runtime } = await play(mode, (pi) => {
      pi.on("turn_end", () => {
        turns += 1;
        if (turns > 1) return undefined;
        return { entries: [{ type: "custom", customType: "mark", data: 1 }], continue: true };
      });
    });
    expect(requests).toHaveLength(2);
    expect(runtime.session.store.getEntries()).toContainEqual(
      expect.objectContaining({ type: "custom", customType: "mark", data: 1 }),
    );
  },

  message_start: async (mode) => {
    const heard = await heardIn(mode, "message_start");
    expect(heard.map(({ message }) => (message as { role: string }).role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
  },

  message_update: async (mode) => {
    const heard = await heardIn(mode, "message_update", { answers: [[text("One two", 2)]] });
    const deltas = heard.filter(
      ({ assistantMessageEvent: inner }) => (inner as { type: string }).type === "text_delta",
    );
    expect(deltas.map(({ assistantMessageEvent: inner }) => (inner as { delta: string }).delta).join("")).toBe(
      "One two",
    );
    expect(textOf(deltas.at(-1)?.message as never)).toBe("One two");
  },

  message_end: async (mode) => {
    const { requests, runtime, faults } = await play(
      mode,
      (pi) => {
        pi.on("message_end", ({ message }) => {
          if (message.role === "user")
            return { message: { ...message, content: [{ type: "text", text: "Redacted" }] } };
          if (message.role !== "assistant") return undefined;
          // Calls that are taken out are not run.
          return { message: { ...message, content: [{ type: "text", text: "Replaced" }] } };
        });
        pi.on("message_end", ({ message }) =>
          message.role === "assistant" ? { message: { ...message, role: "user" } as never } : undefined,
        );
        count(pi);
      },
      { answers: [[toolCall("count", { to: 2 })]] },
    );
    expect(runtime.session.messages.map(textOf)).toEqual(["Redacted", "Replaced"]);
    expect(requests[0]).toEqual(["Redacted"]);
    expect(faults.map(({ event }) => event)).toEqual(["message_end"]);
    const stored = runtime.session.store.buildSessionContext().messages.map(textOf);
    expect(stored).toEqual(["Redacted", "Replaced"]);
  },

  tool_execution_start: async (mode) => {
    expect(await heardIn(mode, "tool_execution_start")).toEqual([
      // As the model wrote them.
      { type: "tool_execution_start", toolCallId: "c1", toolName: "count", args: { to: "2" } },
    ]);
  },

  tool_execution_update: async (mode) => {
    expect(await heardIn(mode, "tool_execution_update")).toEqual([
      {
        type: "tool_execution_update",
        toolCallId: "c1",
        toolName: "count",
        args: expect.any(Object),
        partialResult: { content: [{ type: "text", text: "1" }], details: {} },
      },
    ]);
  },

  tool_execution_end: async (mode) => {
    expect(await heardIn(mode, "tool_execution_end")).toEqual([
      {
        type: "tool_execution_end",
        toolCallId: "c1",
        toolName: "count",
        result: { content: [{ type: "text", text: "1 2" }], details: { to: 2 } },
        isError: false,
        durationMs: expect.any(Number),
      },
    ]);
  },

  tool_call: async (mode) => {
    const heard: object[] = [];
    const ran: unknown[] = [];
    const { runtime, faults } = await play(
      mode,
      (pi) => {
        pi.on("tool_call", (event) => {
          heard.push({ ...event, input: { ...event.input } });
          if (event.input.to === 3) return { block: true, reason: "Three is too much" };
          if (event.input.to === 4) throw new Error("I stumbled");
          event.input.to = 1;
          return undefined;
        });
        count(pi, ran);
      },
      { answers: [["2", "3", "4"].map((to, index) => toolCall("count", { to }, `c${index}`))] },
    );
    expect(heard).toEqual(
      [2, 3, 4].map((to, index) => ({ type: "tool_call", toolName: "count", toolCallId: `c${index}`, input: { to } })),
    );
    expect(ran).toEqual([{ to: 1 }]);
    expect(results(runtime.session.messages)).toEqual([
      ["1", false],
      ["Three is too much", true],
      ["I stumbled", true],
    ]);
    expect(faults).toEqual([{ event: "tool_call", error: "I stumbled", extensionPath: "<inline:1>" }]);
  },

  tool_result: async (mode) => {
    const heard: object[] = [];
    const { runtime, faults } = await play(
      mode,
      (pi) => {
        pi.on("tool_result", (event) => {
          heard.push({ ...event });
          if (event.toolCallId === "c1") throw new Error("I stumbled");
          return { content: [{ type: "text", text: "patched" }], isError: true };
        });
        pi.on("tool_result", (event) => ({
          details: { seen: (event.content[0] as { text: string }).text, isError: event.isError },
        }));
        count(pi);
      },
      { answers: [[toolCall("count", { to: 2 }, "c0"), toolCall("count", { to: 2 }, "c1")]] },
    );
    expect(heard[0]).toEqual({
      type: "tool_result",
      toolName: "count",
      toolCallId: "c0",
      input: { to: 2 },
      content: [{ type: "text", text: "1 2" }],
      details: { to: 2 },
      isError: false,
    });
    expect(results(runtime.session.messages)).toEqual([
      ["patched", true],
      // What a handler meant to take out does not pass.
      ["I stumbled", true],
    ]);
    const patched = runtime.session.messages.find((message) => message.role === "toolResult");
    expect(patched).toMatchObject({ details: { seen: "patched", isError: true } });
    expect(faults).toHaveLength(1);
  },

  context: async (mode) => {
    const heard: string[][] = [];
    const { requests, runtime } = await play(
      mode,
      (pi) => {
        pi.on("context", ({ messages }) => {
          heard.push(roles(messages));
          for (const message of messages) Object.assign(message, { content: "changed in place" });
          return { messages: messages.slice(-1) };
        });
        pi.on("context", ({ messages }) => ({
          messages: [...messages, { role: "user" as const, content: "Added", timestamp: 1 } as never],
        }));
      },
      { prompts: ["One", "Two"] },
    );
    expect(heard).toEqual([["user"], ["user", "assistant", "user"]]);
    expect(requests).toEqual([
      ["changed in place", "Added"],
      ["changed in place", "Added"],
    ]);
    expect(runtime.session.messages.map(textOf)).toEqual(["One", "Hi", "Two", "Hi"]); // copies were handed out
  },

  context_with_system: async (mode) => {
    const heard: string[][] = [];
    const { scripted, requests } = await play(mode, (pi) => {
      pi.on("context_with_system", ({ messages }) => {
        heard.push(roles(messages as { role: string }[]));
        return { messages: [{ role: "system", content: "Another prompt" }, ...messages.slice(1)] };
      });
    });
    expect(heard).toEqual([["system", "user"]]);
    expect(scripted.requests[0]?.context.systemPrompt).toBe("Another prompt");
    expect(requests).toEqual([["Hello"]]);
  },

  before_provider_headers: (mode) =>
    overTheWire(
      mode,
      (pi) => {
        pi.on("before_provider_headers", ({ headers }) => {
          expect(headers.authorization ?? headers.Authorization).toBe("Bearer key-for-tests");
          headers["x-mine"] = "1";
          headers["x-gone"] = "1";
        });
        pi.on("before_provider_headers", ({ headers }) => {
          headers["x-gone"] = null;
        });
      },
      (request) => {
        expect(request.headers["x-mine"]).toBe("1");
        expect(request.headers).not.toHaveProperty("x-gone");
      },
    ),

  before_provider_request: (mode) =>
    overTheWire(
      mode,
      (pi) => {
        pi.on("before_provider_request", ({ payload }) => ({ ...(payload as object), seed: 7 }));
        pi.on("before_provider_request", ({ payload }) => {
          expect(payload).toMatchObject({ seed: 7, model: "thinker" });
          return { ...(payload as object), top_p: 0.5 };
        });
      },
      (request) => expect(request.body).toMatchObject({ seed: 7, top_p: 0.5, model: "thinker" }),
    ),

  after_provider_response: async (mode) => {
    const heard: object[] = [];
    await overTheWire(
      mode,
      (pi) => {
        pi.on("after_provider_response", (event) => void heard.push({ ...event }));
      },
      () => {},
    );
    expect(heard).toEqual([
      {
        type: "after_provider_response",
        status: 200,
        headers: expect.objectContaining({ "content-type": expect.stringContaining("text/event-stream") }),
      },
    ]);
  },

  provider_stream_event: async (mode) => {
    const heard: Record<string, unknown>[] = [];
    await overTheWire(
      mode,
      (pi) => {
        pi.on("provider_stream_event", (event) => void heard.push({ ...event }));
      },
      () => {},
    );
    expect(heard.length).toBeGreaterThan(2);
    for (const event of heard)
      expect(event).toMatchObject({
        type: "provider_stream_event",
        provider: "scripted",
        api: "openai-completions",
        model: "thinker",
        data: expect.anything(),
      });
  },

  cache_warming_decision: (mode) => isSilent(mode, "cache_warming_decision"),
  mcp_servers_change: (mode) => isSilent(mode, "mcp_servers_change"),
};

/** Names that older versions had: accepted, and never heard of. */
export const removedEvents: Rows<"session_switch" | "session_fork" | "session_directory" | "any other name"> = {
  session_switch: (mode) => isSilent(mode, "session_switch"),
  session_fork: (mode) => isSilent(mode, "session_fork"),
  session_directory: (mode) => isSilent(mode, "session_directory"),
  "any other name": (mode) => isSilent(mode, "no_such_event"),
};

/** The events of a plain prompt with a tool, and of one that fails, in their order. */
export async function orderOfARun(mode: Mode): Promise<string[]> {
  const heard: string[] = [];
  const names: ExtensionEventName[] = Object.keys(runEvents) as ExtensionEventName[];
  const { faults } = await play(
    mode,
    (pi) => {
      for (const name of names) pi.on(name, () => void heard.push(name));
      count(pi);
    },
    { answers: [[toolCall("count", { to: 2 }, "c1")], [fail("invalid_request", "No")]] },
  );
  expect(faults).toEqual([]);
  return heard.filter((name, index) => name !== "message_update" || heard[index - 1] !== name);
}

/** Payloads of an event in a run that calls a tool once. */
async function heardIn(
  mode: Mode,
  name: ExtensionEventName,
  options: PlayOptions = { answers: [[toolCall("count", { to: "2" }, "c1")]] },
): Promise<Record<string, unknown>[]> {
  let heard: Record<string, unknown>[] = [];
  const { faults } = await play(
    mode,
    (pi) => {
      heard = listenTo(pi, name);
      count(pi);
    },
    options,
  );
  expect(faults).toEqual([]);
  return heard;
}

async function isSilent(mode: Mode, name: string): Promise<void> {
  const heard: unknown[] = [];
  const { code, faults } = await play(
    mode,
    (pi) => {
      const end = pi.on(name, () => void heard.push(name));
      expect(end).toBeTypeOf("function");
      pi.registerCommand("new", { handler: (_, ctx) => ctx.newSession() });
    },
    { prompts: ["Hello", "/new"] },
  );
  expect([code, heard, faults]).toEqual([0, [], []]);
}

/** A request of a server that speaks a real wire format. */
async function overTheWire(
  mode: Mode,
  extension: ExtensionFactory,
  check: (request: { headers: Record<string, unknown>; body: unknown }) => void,
): Promise<void> {
  const server = await startReplayServer();
  try {
    answeringServer(server).answer("Hi");
    const { faults, runtime } = await play(mode, extension, { baseUrl: `${server.url}/v1` });
    expect(faults).toEqual([]);
    expect(runtime.session.lastAssistantText()).toBe("Hi");
    check((await server.request(0)) as never);
  } finally {
    await server.close();
  }
}

/** A tool that counts, and says so as it goes. */
export function count(pi: ExtensionAPI, ran: unknown[] = []): void {
  pi.registerTool({
    name: "count",
    label: "Count",
    description: "Counts",
    parameters: { type: "object", properties: { to: { type: "number" } }, required: ["to"] },
    execute: async (
      _id: string,
      params: { to: number },
      _signal: AbortSignal | undefined,
      onUpdate?: (partial: { content: { type: "text"; text: string }[]; details: object }) => void,
    ) => {
      ran.push(params);
      onUpdate?.({ content: [{ type: "text", text: "1" }], details: {} });
      const numbers = Array.from({ length: params.to }, (_, index) => index + 1);
      return { content: [{ type: "text", text: numbers.join(" ") }], details: { to: params.to } };
    },
  });
}

function roles(messages: unknown): string[] {
  return (messages as { role: string }[]).map(({ role }) => role);
}

/** Text and fate of each result. */
export function results(messages: readonly { role: string }[]): [string, boolean][] {
  return messages
    .filter(({ role }) => role === "toolResult")
    .map((message) => [textOf(message), (message as unknown as { isError: boolean }).isError]);
}
