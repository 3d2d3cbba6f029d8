// The members of `pi`: what each does once a session is there, and what it refuses while the extension loads.

import { toolCall } from "@earendil-works/pi-ai/testing";
import { expect } from "vitest";
import type { ExtensionAPI } from "../../../src/extensions/api.js";
import { type Mode, play, textOf } from "../play.js";
import { probe, type Rows } from "./row.js";
import { count } from "./run-events.js";

export const apiMembers: Rows<keyof ExtensionAPI> = {
  on: async (mode) => {
    const heard: string[] = [];
    await play(mode, [
      (pi) => {
        pi.on("agent_start", () => void heard.push("one"));
        const end = pi.on("agent_start", () => void heard.push("ended"));
        pi.on("agent_start", async () => {
          await new Promise((resolve) => setImmediate(resolve));
          heard.push("late");
        });
        end();
      },
      (pi) => pi.on("agent_start", () => void heard.push("other")),
    ]);
    expect(heard).toEqual(["one", "late", "other"]);
  },

  registerTool: async (mode) => {
    const { scripted, runtime } = await play(
      mode,
      (pi) => {
        count(pi);
        pi.registerTool({
          name: "grow",
          description: "Registers another",
          parameters: { type: "object" },
          execute: async () => {
            pi.registerTool({
              name: "grown",
              description: "Grown",
              parameters: { type: "object" },
              execute: async () => ({ content: [], details: {} }),
            });
            return { content: [{ type: "text", text: "done" }], details: {} };
          },
        });
        // Takes the place of the built-in tool of its name.
        pi.registerTool({
          name: "read",
          description: "Mine",
          parameters: { type: "object" },
          execute: async () => ({ content: [{ type: "text", text: "my read" }], details: {} }),
        });
      },
      { answers: [[toolCall("grow", {}), toolCall("read", {})]] },
    );
    const names = scripted.requests.map(({ context }) => context.tools?.map(({ name }) => name));
    expect(names).toEqual([
      ["read", "bash", "edit", "write", "count", "grow"],
      ["read", "bash", "edit", "write", "count", "grow", "grown"],
    ]);
    expect(runtime.session.messages.filter(({ role }) => role === "toolResult").map(textOf)).toEqual([
      "done",
      "my read",
    ]);
  },

  registerCommand: async (mode) => {
    const called: [string, string][] = [];
    const inputs: string[] = [];
    const { requests, faults, answers } = await play(
      mode,
      (pi) => {
        pi.on("input", ({ text }) => void inputs.push(text));
        pi.registerCommand("greet", {
          description: "Greets",
          getArgumentCompletions: () => null,
          handler: async (args) => void called.push(["greet", args]),
        });
        pi.registerCommand("stumble", {
          handler: () => {
            throw new Error("I stumbled");
          },
        });
      },
      { prompts: ["/greet", "/greet  a  b ", "/stumble", "/nothing here"] },
    );
    expect(called).toEqual([
      ["greet", ""],
      ["greet", " a  b "],
    ]);
    expect(faults).toEqual([{ extensionPath: "command:stumble", event: "command", error: "I stumbled" }]);
    // A command that nobody registered is a text like any other.
    expect(inputs).toEqual(["/nothing here"]);
    expect(requests).toEqual([["/nothing here"]]);
    if (mode === "rpc")
      expect(answers.map(({ success, data }) => [success, (data as { disposition: string }).disposition])).toEqual([
        [true, "handled"],
        [true, "handled"],
        [true, "handled"],
        [true, "started"],
      ]);
  },

  registerFlag: async (mode) => {
    const { value } = await probe(mode, (_, pi) => [pi.getFlag("depth"), pi.getFlag("loud"), pi.getFlag("none")], {
      extension: (pi) => {
        pi.registerFlag("depth", { description: "How deep", type: "string", default: "3" });
        pi.registerFlag("loud", { type: "boolean" });
        expect(() => pi.registerFlag("bad", { type: "number" as never })).toThrow('its type is "boolean" or "string"');
        // While the extension loads a flag has its default.
        expect(pi.getFlag("depth")).toBe("3");
      },
    });
    expect(value).toEqual(["3", undefined, undefined]);
  },

  getFlag: async (mode) => {
    const { value } = await probe(mode, (_, pi) => [pi.getFlag("loud"), pi.getFlag("unknown")], {
      extension: (pi) => pi.registerFlag("loud", { type: "boolean", default: true }),
    });
    expect(value).toEqual([true, undefined]);
  },

  registerProvider: async (mode) => {
    const { value, runtime } = await probe(
      mode,
      async (ctx, pi) => {
        pi.registerProvider("later", {
          baseUrl: "http://127.0.0.1:9",
          apiKey: "k",
          api: "openai-completions",
          models: [{ id: "m" }],
        });
        const chosen = await pi.setModel(ctx.modelRegistry.find("mine", "m") as never);
        return { chosen, later: ctx.modelRegistry.find("later", "m")?.id };
      },
      {
        prompts: ["/probe", "Hello"],
        extension: (pi) =>
          pi.registerProvider("mine", {
            name: "Mine",
            baseUrl: "http://127.0.0.1:9",
            apiKey: "secret",
            models: [{ id: "m", name: "M", contextWindow: 1000, maxTokens: 100 }],
            streamSimple: (model) => answerOf(model, "From my own wire"),
          }),
      },
    );
    expect(value).toEqual({ chosen: true, later: "m" });
    expect(runtime.session.lastAssistantText()).toBe("From my own wire");
  },

  unregisterProvider: async (mode) => {
    const { value } = await probe(mode, (ctx, pi) => {
      const address = () => ctx.modelRegistry.getAll().find(({ provider }) => provider === "anthropic")?.baseUrl;
      const before = address();
      pi.registerProvider("anthropic", { baseUrl: "http://127.0.0.1:10" });
      const changed = address();
      pi.unregisterProvider("anthropic");
      pi.unregisterProvider("nobody");
      return [changed, address() === before];
    });
    expect(value).toEqual(["http://127.0.0.1:10", true]);
  },

  events: async (mode) => {
    const heard: unknown[] = [];
    const { faults } = await play(mode, [
      (pi) => {
        const end = pi.events.on("news", (data) => void heard.push(data));
        pi.events.on("end", end);
        pi.events.on("news", () => {
          throw new Error("I stumbled");
        });
      },
      (pi) => {
        pi.events.emit("news", { during: "loading" });
        pi.on("agent_start", () => {
          pi.events.emit("news", 1);
          pi.events.emit("end");
          pi.events.emit("news", 2);
        });
      },
    ]);
    expect(heard).toEqual([{ during: "loading" }, 1]);
    expect(faults.map(({ event }) => event)).toEqual(["events:news", "events:news", "events:news"]);
  },

  exec: async (mode) => {
    const { value } = await probe(mode, (ctx, pi) =>
      Promise.all([
        pi.exec(process.execPath, ["-e", "console.log(process.cwd()); console.error('err'); process.exit(3)"]),
        pi.exec("no-such-program-anywhere", []),
        ctx.cwd,
      ]),
    );
    const [done, missing, cwd] = value;
    expect(done).toEqual({ stdout: `${cwd}\n`, stderr: "err\n", code: 3, killed: false, truncated: false });
    expect(missing).toMatchObject({ code: 1, killed: false, stderr: expect.stringContaining("ENOENT") });
  },

  sendMessage: async (mode) => {
    const { requests, events, runtime } = await play(
      mode,
      (pi) => {
        pi.registerCommand("store", {
          handler: () => pi.sendMessage({ customType: "a", content: "Stored", details: 1 }),
        });
        pi.registerCommand("next", {
          handler: () => pi.sendMessage({ customType: "b", content: "Next" }, { deliverAs: "nextTurn" }),
        });
        pi.registerCommand("go", {
          handler: () =>
            pi.sendMessage({ customType: "c", content: [{ type: "text", text: "Go" }] }, { triggerTurn: true }),
        });
        pi.on("turn_end", ({ turnIndex }) => {
          if (turnIndex === 0) pi.sendMessage({ customType: "d", content: "After" }, { deliverAs: "followUp" });
        });
      },
      { prompts: ["/store", "/next", "Hello", "/go"] },
    );
    expect(requests[0]).toEqual(["Stored", "Hello", "Next"]);
    expect(requests.at(-2)?.at(-1)).toBe("Go");
    expect(requests.at(-1)?.at(-1)).toBe("After");
    const ofCustom = events.filter((event) => "message" in event && event.message.role === "custom");
    expect(ofCustom.slice(0, 2).map(({ type }) => type)).toEqual(["message_start", "message_end"]);
    const stored = runtime.session.store.getEntries().filter(({ type }) => type === "custom_message");
    expect(stored[0]).toMatchObject({ customType: "a", content: "Stored", display: true, details: 1 });
  },

  sendUserMessage: async (mode) => {
    const sources: string[] = [];
    const { requests, faults } = await play(
      mode,
      (pi) => {
        pi.on("input", ({ source, text }) => void sources.push(`${source}: ${text}`));
        pi.registerCommand("go", { handler: () => pi.sendUserMessage([{ type: "text", text: "/go" }]) });
        pi.on("turn_start", ({ turnIndex }) => {
          if (turnIndex > 0) return;
          pi.sendUserMessage("Refused");
          pi.sendUserMessage("Steered", { deliverAs: "steer" });
        });
      },
      { prompts: ["/go"] },
    );
    // A text of an extension calls no command unless it asks for that.
    expect(requests[0]?.[0]).toBe("/go");
    expect(requests.flat()).toContain("Steered");
    expect(requests.flat()).not.toContain("Refused");
    expect(sources.slice(0, 1)).toEqual(["extension: /go"]);
    expect(faults[0]).toMatchObject({ extensionPath: "<runtime>", event: "send_user_message" });
  },

  appendEntry: async (mode) => {
    const { events, requests, runtime } = await probe(mode, (_, pi) => pi.appendEntry("mark", { n: 1 }), {
      prompts: ["/probe", "Hello"],
    });
    const entry = expect.objectContaining({
      type: "custom",
      customType: "mark",
      data: { n: 1 },
      id: expect.any(String),
      parentId: expect.any(String),
      timestamp: expect.any(String),
    });
    expect(events).toContainEqual({ type: "entry_appended", entry });
    expect(runtime.session.store.getEntries()).toContainEqual(entry);
    expect(requests).toEqual([["Hello"]]);
  },

  setSessionName: async (mode) => {
    const { events, runtime } = await probe(mode, (_, pi) => pi.setSessionName("Spring"));
    expect(events).toContainEqual({ type: "session_info_changed", name: "Spring" });
    expect(runtime.session.store.getSessionName()).toBe("Spring");
  },

  getSessionName: async (mode) => {
    const { value } = await probe(mode, async (_, pi) => {
      const before = pi.getSessionName();
      pi.setSessionName("Spring");
      await new Promise((resolve) => setImmediate(resolve));
      return [before, pi.getSessionName()];
    });
    expect(value).toEqual([undefined, "Spring"]);
  },

  setLabel: async (mode) => {
    const { value } = await probe(
      mode,
      (ctx, pi) => {
        const id = ctx.sessionManager.getLeafId() as string;
        pi.setLabel(id, "here");
        const labelled = ctx.sessionManager.getLabel(id);
        pi.setLabel(id, undefined);
        expect(() => pi.setLabel("nowhere", "x")).toThrow("Entry not found: nowhere");
        return [labelled, ctx.sessionManager.getLabel(id)];
      },
      { prompts: ["Hello", "/probe"] },
    );
    expect(value).toEqual(["here", undefined]);
  },

  getActiveTools: async (mode) => {
    const { value } = await probe(mode, (_, pi) => pi.getActiveTools(), { extension: count });
    expect(value).toEqual(["read", "bash", "edit", "write", "count"]);
  },

  getAllTools: async (mode) => {
    const { value } = await probe(mode, (_, pi) => pi.getAllTools(), { extension: count });
    expect(value.map(({ name }) => name).sort()).toEqual(
      ["read", "bash", "edit", "write", "grep", "find", "ls", "count"].sort(),
    );
    expect(value.find(({ name }) => name === "bash")).toMatchObject({
      description: expect.any(String),
      parameters: { type: "object" },
      exposure: "direct",
      sourceInfo: { path: "builtin:bash", source: "builtin", scope: "temporary", origin: "top-level" },
    });
    expect(value.find(({ name }) => name === "count")).toMatchObject({ sourceInfo: { path: "<inline:1>" } });
  },

  setActiveTools: async (mode) => {
    const { scripted, value } = await probe(
      mode,
      (_, pi) => {
        pi.setActiveTools(["count", "nobody", "grep", "count"]);
        return pi.getActiveTools();
      },
      { extension: count, prompts: ["/probe", "Hello"] },
    );
    expect(value).toEqual(["count", "grep"]);
    expect(scripted.requests[0]?.context.tools?.map(({ name }) => name)).toEqual(["count", "grep"]);
  },

  getCommands: async (mode) => {
    const { value } = await probe(mode, (_, pi) => pi.getCommands(), {
      files: {
        "agent/prompts/mine.md": "Mine",
        "agent/skills/knitting/SKILL.md": "---\nname: knitting\ndescription: Knit\n---\n",
      },
    });
    expect(value.map(({ name, source }) => [name, source])).toEqual([
      ["probe", "extension"],
      ["mine", "prompt"],
      ["skill:knitting", "skill"],
    ]);
  },

  setModel: async (mode) => {
    const { value, runtime } = await probe(mode, async (ctx, pi) => {
      const without = { ...ctx.model, provider: "anthropic", id: "nobody" };
      return [
        await pi.setModel(without as never),
        await pi.setModel(ctx.modelRegistry.find("scripted", "plain") as never),
      ];
    });
    expect(value).toEqual([false, true]);
    expect(runtime.session.model?.id).toBe("plain");
  },

  getThinkingLevel: async (mode) => {
    const { value } = await probe(mode, (_, pi) => pi.getThinkingLevel());
    expect(value).toBe("medium");
  },

  setThinkingLevel: async (mode) => {
    const { value } = await probe(
      mode,
      (_, pi) => {
        pi.setThinkingLevel("high");
        return pi.getThinkingLevel();
      },
      { model: "scripted/thinker" },
    );
    expect(value).toBe("high");
    const clamped = await probe(
      mode,
      (_, pi) => {
        pi.setThinkingLevel("high");
        return pi.getThinkingLevel();
      },
      { model: "scripted/plain" },
    );
    expect(clamped.value).toBe("off");
  },

  getSettings: async (mode) => {
    const { value } = await probe(
      mode,
      (_, pi) => {
        // A copy.
        Object.assign(pi.getSettings(), { steeringMode: "all" });
        return pi.getSettings() as { steeringMode?: string; theme?: string };
      },
      { files: { "agent/settings.json": { steeringMode: "one-at-a-time" } } },
    );
    expect(value.steeringMode).toBe("one-at-a-time");
  },

  registerMessageRenderer: (mode) => isKept(mode, (pi, draw) => pi.registerMessageRenderer("a", draw)),
  registerEntryRenderer: (mode) => isKept(mode, (pi, draw) => pi.registerEntryRenderer("a", draw)),
  registerToolRenderer: (mode) => isKept(mode, (pi, draw) => pi.registerToolRenderer(draw)),
  registerMarkdownTransformer: (mode) => isKept(mode, (pi, draw) => pi.registerMarkdownTransformer(draw)),
  registerShortcut: (mode) => isKept(mode, (pi, draw) => pi.registerShortcut("ctrl+x", { handler: draw })),

  registerVirtualModel: async (mode) => {
    const { value } = await probe(mode, (_, pi) => {
      expect(() => pi.registerVirtualModel({ id: "x" })).toThrow("Virtual models are not supported");
      return true;
    });
    expect(value).toBe(true);
  },

  unregisterVirtualModel: async (mode) => {
    const { value } = await probe(mode, (_, pi) => pi.unregisterVirtualModel("a", "b"));
    expect(value).toBeUndefined();
  },

  registerMcpServer: async (mode) => {
    const { faults } = await play(mode, (pi) => {
      pi.registerMcpServer("one", {});
      pi.registerMcpServer("two", {});
    });
    expect(faults.map(({ event, error }) => [event, error])).toEqual([
      ["register_mcp_server", expect.stringContaining('"one"')],
      ["register_mcp_server", expect.stringContaining('"two"')],
    ]);
  },

  unregisterMcpServer: async (mode) => {
    const { value, faults } = await probe(mode, (_, pi) => pi.unregisterMcpServer("one"));
    expect([value, faults]).toEqual([undefined, []]);
  },

  getMcpServers: async (mode) => {
    const { value } = await probe(mode, (_, pi) => pi.getMcpServers(), {
      extension: (pi) => expect(pi.getMcpServers()).toEqual([]),
    });
    expect(value).toEqual([]);
  },
};

/** What works while an extension loads; everything else refuses then. */
export const worksWhileLoading: readonly (keyof ExtensionAPI)[] = [
  "on",
  "registerTool",
  "registerCommand",
  "registerFlag",
  "getFlag",
  "registerProvider",
  "unregisterProvider",
  "events",
  "exec",
  "registerMessageRenderer",
  "registerEntryRenderer",
  "registerToolRenderer",
  "registerMarkdownTransformer",
  "registerShortcut",
  "registerVirtualModel",
  "unregisterVirtualModel",
  "registerMcpServer",
  "unregisterMcpServer",
  "getMcpServers",
];

/** What is registered for terminals is taken and never called. */
async function isKept(mode: Mode, register: (pi: ExtensionAPI, draw: () => void) => void): Promise<void> {
  let calls = 0;
  const draw = () => {
    calls += 1;
  };
  const { code, faults } = await play(
    mode,
    (pi) => {
      register(pi, draw);
      count(pi);
      pi.on("agent_start", () => {
        pi.sendMessage({ customType: "a", content: "A" });
        pi.appendEntry("a", 1);
      });
    },
    { answers: [[toolCall("count", { to: 1 })]] },
  );
  expect([code, faults, calls]).toEqual([0, [], 0]);
}

/** A wire format of an extension: one text. */
export async function* answerOf(model: { api: string; provider: string; id: string }, said: string) {
  const { api, provider, id } = model;
  const base = {
    role: "assistant" as const,
    api,
    provider,
    model: id,
    usage: {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop" as const,
    timestamp: 1,
  };
  const message = { ...base, content: [{ type: "text" as const, text: said }] };
  yield { type: "start", partial: { ...base, content: [] } };
  yield { type: "text_start", contentIndex: 0, partial: message };
  yield { type: "text_delta", contentIndex: 0, delta: said, partial: message };
  yield { type: "text_end", contentIndex: 0, content: said, partial: message };
  yield { type: "done", reason: "stop", message };
}
