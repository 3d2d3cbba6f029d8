// The members of `ctx`: of handlers, commands, tools, and of a session that took the place of another.

import { hold, toolCall, usage } from "@earendil-works/pi-ai/testing";
import { expect } from "vitest";
import type {
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionToolContext,
  ReplacedSessionContext,
} from "../../../src/extensions/api.js";
import { type Mode, play, textOf } from "../play.js";
import { listenTo, probe, type Rows } from "./row.js";
import { count } from "./run-events.js";
import { userEntry } from "./session-events.js";

export type BaseMember = keyof ExtensionContext;
export type CommandMember = Exclude<keyof ExtensionCommandContext, BaseMember>;
export type ToolMember = Exclude<keyof ExtensionToolContext, BaseMember>;
export type ReplacedMember = Exclude<keyof ReplacedSessionContext, BaseMember | CommandMember>;

export const contextMembers: Rows<BaseMember> = {
  ui: async (mode) => {
    const { value } = await probe(mode, (ctx) => [new Set([ctx.ui, ctx.ui]).size, ctx.ui.getEditorText()]);
    expect(value).toEqual([1, ""]);
  },

  mode: async (mode) => expect((await probe(mode, (ctx) => ctx.mode)).value).toBe(mode),

  hasUI: async (mode) => expect((await probe(mode, (ctx) => ctx.hasUI)).value).toBe(mode === "rpc"),

  cwd: async (mode) => {
    const { value, place } = await probe(mode, (ctx) => ctx.cwd);
    expect(value).toBe(place.cwd);
  },

  sessionManager: async (mode) => {
    const { value, runtime } = await probe(mode, (ctx) => ctx.sessionManager);
    expect(value).toBe(runtime.session.store);
  },

  modelRegistry: async (mode) => {
    const { value } = await probe(mode, (ctx) => ctx.modelRegistry.find("scripted", "plain")?.id);
    expect(value).toBe("plain");
  },

  model: async (mode) => expect((await probe(mode, (ctx) => ctx.model?.id)).value).toBe("thinker"),

  thinkingLevel: async (mode) => {
    const { value } = await probe(mode, (ctx, pi) => {
      const before = ctx.thinkingLevel;
      pi.setThinkingLevel("low");
      return [before, ctx.thinkingLevel];
    });
    expect(value).toEqual(["medium", "low"]);
  },

  scopedModels: async (mode) => expect((await probe(mode, (ctx) => ctx.scopedModels)).value).toEqual([]),

  signal: async (mode) => {
    const seen: unknown[] = [];
    const { value } = await probe(mode, (ctx) => ctx.signal, {
      prompts: ["Hello", "/probe"],
      extension: (pi) => pi.on("turn_start", (_, ctx) => void seen.push(ctx.signal instanceof AbortSignal)),
    });
    expect([seen, value]).toEqual([[true], undefined]);
  },

  isProjectTrusted: async (mode) => {
    expect((await probe(mode, (ctx) => ctx.isProjectTrusted())).value).toBe(true); // nothing needs trust
    const asked = await probe(mode, (ctx) => ctx.isProjectTrusted(), { files: { "project/.pi/settings.json": {} } });
    expect(asked.value).toBe(false);
  },

  isIdle: async (mode) => {
    const seen: boolean[] = [];
    const { value } = await probe(mode, (ctx) => ctx.isIdle(), {
      prompts: ["Hello", "/probe"],
      extension: (pi) => {
        for (const name of ["before_agent_start", "turn_end", "agent_end"])
          pi.on(name, (_, ctx) => void seen.push(ctx.isIdle()));
      },
    });
    expect([seen, value]).toEqual([[false, false, false], true]);
  },

  hasPendingMessages: async (mode) => {
    const seen: boolean[] = [];
    await play(mode, (pi) => {
      pi.on("agent_start", async (_, ctx) => {
        seen.push(ctx.hasPendingMessages());
        if (seen.length > 1) return;
        pi.sendMessage({ customType: "a", content: "A" }, { deliverAs: "followUp" });
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(ctx.hasPendingMessages());
      });
      pi.on("agent_end", (_, ctx) => void seen.push(ctx.hasPendingMessages()));
    });
    expect(seen).toEqual([false, true, false]);
  },

  abort: async (mode) => {
    const waiting = hold();
    const { events, runtime } = await play(
      mode,
      (pi) => {
        pi.on("message_update", (_, ctx) => ctx.abort());
      },
      { answers: [["Begun", waiting, " and never ended"]] },
    );
    expect(events.at(-1)).toEqual({ type: "agent_settled", aborted: true });
    expect(runtime.session.messages.at(-1)).toMatchObject({ stopReason: "aborted" });
  },

  shutdown: async (mode) => {
    const ended: unknown[] = [];
    const { code, requests } = await play(
      mode,
      (pi) => {
        pi.on("session_shutdown", ({ reason }) => void ended.push(reason));
        pi.registerCommand("leave", { handler: (_, ctx) => ctx.shutdown() });
      },
      {
        prompts: ["/leave", ...(mode === "rpc" ? [] : ["Hello"])],
        // The client waits for the end, which comes without stdin being closed.
        drive: () => new Promise(() => {}),
      },
    );
    expect([code, ended]).toEqual([0, ["quit"]]);
    // Elsewhere the program ends by itself, when its prompts are done.
    expect(requests).toEqual(mode === "rpc" ? [] : [["Hello"]]);
  },

  getSystemPrompt: async (mode) => {
    const seen: string[] = [];
    const { value } = await probe(mode, (ctx) => ctx.getSystemPrompt(), {
      prompts: ["Hello", "/probe"],
      extension: (pi) => {
        pi.on("before_agent_start", ({ systemPrompt }) => ({ systemPrompt: `${systemPrompt} CHANGED` }));
        pi.on("turn_start", (_, ctx) => void seen.push(ctx.getSystemPrompt()));
      },
    });
    expect(seen[0]).toMatch(/ CHANGED$/);
    expect(value).not.toMatch(/CHANGED/);
    expect(value.length).toBeGreaterThan(100);
  },

  getContextUsage: async (mode) => {
    const { value } = await probe(mode, (ctx) => ctx.getContextUsage(), {
      prompts: ["Hello", "/probe"],
      answers: [["Hi", usage({ input: 1000, output: 280 })]],
    });
    expect(value).toEqual({ tokens: 1280, contextWindow: 128_000, percent: 1 });
  },

  compact: async (mode) => {
    const texts: string[] = [];
    const { value } = await probe(
      mode,
      (ctx) =>
        new Promise<unknown>((resolve) => {
          const returned = ctx.compact({
            onComplete: () => resolve("done"),
            onError: (error) => resolve(error.message),
          });
          texts.push(String(returned));
        }),
      { prompts: ["/probe"] },
    );
    expect([texts, value]).toEqual([["undefined"], "Nothing to compact (session too small)"]);
    // Without `onError` somebody is told all the same.
    const { faults } = await probe(mode, (ctx) => ctx.compact(), { prompts: ["/probe", "Hello"] });
    expect(faults.map(({ event }) => event)).toEqual(["compact"]);
  },
};

export const commandMembers: Rows<CommandMember> = {
  waitForIdle: async (mode) => {
    const order: string[] = [];
    await play(
      mode,
      (pi) => {
        pi.on("agent_end", () => void order.push("end"));
        pi.registerCommand("go", {
          handler: async (_, ctx) => {
            pi.sendUserMessage("Hello");
            while (ctx.isIdle()) await new Promise((resolve) => setImmediate(resolve));
            await ctx.waitForIdle();
            order.push("idle");
          },
        });
      },
      { prompts: ["/go"] },
    );
    expect(order).toEqual(["end", "idle"]);
  },

  getSystemPromptOptions: async (mode) => {
    const { value } = await probe(mode, (ctx) => ctx.getSystemPromptOptions(), {
      files: { "project/AGENTS.md": "Be kind" },
    });
    expect(value).toMatchObject({
      selectedTools: ["read", "bash", "edit", "write"],
      contextFiles: [{ content: "Be kind" }],
      promptGuidelines: [],
    });
  },

  navigateTree: async (mode) => {
    let moves: object[] = [];
    const { value, requests } = await probe(
      mode,
      async (ctx) => {
        const first = userEntry(ctx);
        const moved = await ctx.navigateTree(first, { summarize: false, label: "start" });
        const missing = await ctx.navigateTree("nowhere").catch(({ message }) => message);
        return { moved, missing, label: ctx.sessionManager.getLabel(first) };
      },
      { prompts: ["One", "Two", "/probe", "Three"] },
    );
    expect(value).toEqual({ moved: { cancelled: false }, missing: "Entry not found: nowhere", label: "start" });
    // A message of the user is written anew: what is typed next takes its place.
    expect(requests.at(-1)).toEqual(["Three"]);
    const answer = await probe(
      mode,
      async (ctx) => {
        const reply = ctx.sessionManager.getChildren(userEntry(ctx))[0]?.id as string;
        const moved = await ctx.navigateTree(reply);
        return [reply, moved, ctx.sessionManager.getLeafId(), await ctx.navigateTree(reply)];
      },
      {
        prompts: ["One", "Two", "/probe", "Three"],
        extension: (pi) => {
          moves = listenTo(pi, "session_tree");
        },
      },
    );
    expect(answer.value).toEqual([answer.value[0], { cancelled: false }, answer.value[0], { cancelled: false }]);
    expect(answer.requests.at(-1)).toEqual(["One", "Hi", "Three"]);
    expect(moves).toHaveLength(1); // going where one is tells nobody
    // Not during a run.
    let refusal = "";
    await play(
      mode,
      (pi) => {
        let command: ExtensionCommandContext | undefined;
        pi.registerCommand("keep", {
          handler: (_, ctx) => {
            command = ctx;
          },
        });
        pi.on("turn_start", async (_, ctx) => {
          refusal = await (command as ExtensionCommandContext).navigateTree(userEntry(ctx)).then(
            () => "moved",
            ({ message }) => message,
          );
        });
      },
      { prompts: ["/keep", "Hello"] },
    );
    expect(refusal).toContain("The agent is busy");
  },

  newSession: async (mode) => {
    const seen: unknown[] = [];
    const { value, requests, runtime } = await probe(
      mode,
      async (ctx) => {
        const old = ctx.sessionManager.getSessionId();
        const result = await ctx.newSession({
          parentSession: "/parent.jsonl",
          setup: (store) => void store.appendCustomEntry("seed", 1),
          withSession: (next) => {
            seen.push(next.sessionManager.getSessionId() !== old, next.sessionManager.getHeader().parentSession);
          },
        });
        return { result, stale: staleText(() => ctx.cwd) };
      },
      { prompts: ["Hello", "/probe", "Again"] },
    );
    expect(value).toEqual({ result: { cancelled: false }, stale: expect.stringContaining("stale") });
    expect(seen).toEqual([true, "/parent.jsonl"]);
    expect(runtime.session.store.getEntries()).toContainEqual(expect.objectContaining({ customType: "seed" }));
    expect(requests.at(-1)).toEqual(["Again"]);
  },

  switchSession: async (mode) => {
    let first = "";
    const { requests, faults } = await play(
      mode,
      (pi) => {
        pi.on("agent_start", (_, ctx) => {
          first ||= ctx.sessionManager.getSessionFile() as string;
        });
        pi.registerCommand("new", { handler: (_, ctx) => ctx.newSession() });
        pi.registerCommand("back", { handler: (_, ctx) => ctx.switchSession(first) });
        pi.registerCommand("nowhere", { handler: (_, ctx) => ctx.switchSession("/nowhere.jsonl") });
      },
      { prompts: ["One", "/new", "/back", "/nowhere", "Two"] },
    );
    expect(requests.at(-1)).toEqual(["One", "Hi", "Two"]);
    expect(faults.map(({ extensionPath, event }) => [extensionPath, event])).toEqual([["command:nowhere", "command"]]);
  },

  fork: async (mode) => {
    const { requests, faults } = await play(
      mode,
      (pi) => {
        pi.registerCommand("before", { handler: (_, ctx) => ctx.fork(userEntry(ctx)) });
        pi.registerCommand("at", { handler: (_, ctx) => ctx.fork(userEntry(ctx), { position: "at" }) });
        pi.registerCommand("nowhere", { handler: (_, ctx) => ctx.fork("nowhere") });
      },
      { prompts: ["One", "/at", "Two", "/before", "Three", "/nowhere"] },
    );
    expect(requests).toEqual([["One"], ["One", "Two"], ["Three"]]);
    expect(faults.map(({ error }) => error)).toEqual(["Invalid entry ID for forking"]);
  },

  reload: async (mode) => {
    let factories = 0;
    const { value, requests } = await probe(
      mode,
      async (ctx) => {
        await ctx.reload();
        return staleText(() => ctx.isIdle());
      },
      {
        prompts: ["One", "/probe", "Two"],
        extension: () => {
          factories += 1;
        },
      },
    );
    expect(factories).toBe(2);
    expect(value).toContain("stale");
    expect(requests.at(-1)).toEqual(["One", "Hi", "Two"]);
  },
};

export const toolMembers: Rows<ToolMember> = {
  tools: async (mode) => {
    const { value } = await inTool(mode, (ctx) => ctx.tools.map(({ name }) => name));
    expect(value).toEqual(["read", "bash", "edit", "write", "count", "probe"]);
  },

  executeTool: async (mode) => {
    const partial: string[] = [];
    const { value, events } = await inTool(mode, async (ctx) => [
      await ctx.executeTool(
        "count",
        { to: "2" },
        { onUpdate: ({ content }) => void partial.push(textOf({ role: "", content })) },
      ),
      await ctx.executeTool("count", {}),
      await ctx.executeTool("nobody", {}),
    ]);
    expect(value).toMatchObject([
      { content: [{ text: "1 2" }], details: { to: 2 }, isError: false },
      { isError: true, content: [{ text: expect.stringContaining('Invalid arguments for tool "count"') }] },
      { isError: true, content: [{ text: "Tool nobody not found" }] },
    ]);
    expect(partial).toEqual(["1"]);
    const nested = events.filter((event) => "parentToolCallId" in event && event.type === "tool_execution_start");
    expect(nested.map((event) => "toolCallId" in event && event.toolCallId)).toEqual(["p/1", "p/2", "p/3"]);
  },
};

export const replacedMembers: Rows<ReplacedMember> = {
  sendMessage: async (mode) => {
    const { requests } = await probe(
      mode,
      (ctx) => ctx.newSession({ withSession: (next) => next.sendMessage({ customType: "a", content: "Kept" }) }),
      { prompts: ["One", "/probe", "Two"] },
    );
    expect(requests.at(-1)).toEqual(["Kept", "Two"]);
  },

  sendUserMessage: async (mode) => {
    const { requests } = await probe(
      mode,
      (ctx) =>
        ctx.newSession({
          withSession: async (next) => {
            await next.sendUserMessage("From the command");
            await next.waitForIdle();
          },
        }),
      { prompts: ["One", "/probe"] },
    );
    expect(requests.at(-1)).toEqual(["From the command"]);
  },
};

/** What a context has, by kind, as it is at run time. */
export async function membersOfContexts(
  mode: Mode,
): Promise<Record<"handler" | "command" | "tool" | "replaced", string[]>> {
  const found = { handler: [] as string[], command: [] as string[], tool: [] as string[], replaced: [] as string[] };
  await play(
    mode,
    (pi) => {
      pi.on("agent_start", (_, ctx) => {
        found.handler = Object.keys(ctx);
      });
      pi.registerTool({
        name: "probe",
        description: "Probes",
        parameters: { type: "object" },
        execute: async (
          _id: string,
          _params: object,
          _signal: unknown,
          _update: unknown,
          ctx: ExtensionToolContext,
        ) => {
          found.tool = Object.keys(ctx);
          return { content: [], details: {} };
        },
      });
      pi.registerCommand("probe", {
        handler: (_, ctx) => {
          found.command = Object.keys(ctx);
          return ctx.newSession({
            withSession: (next) => {
              found.replaced = Object.keys(next);
            },
          });
        },
      });
    },
    { prompts: ["Hello", "/probe"], answers: [[toolCall("probe", {})]] },
  );
  return found;
}

/** Runs something in a tool that the model calls, as call `p`. */
async function inTool<T>(mode: Mode, act: (ctx: ExtensionToolContext) => T | Promise<T>) {
  let result: { value: T } | undefined;
  const played = await play(
    mode,
    (pi) => {
      count(pi);
      pi.registerTool({
        name: "probe",
        description: "Probes",
        parameters: { type: "object" },
        execute: async (
          _id: string,
          _params: object,
          _signal: unknown,
          _update: unknown,
          ctx: ExtensionToolContext,
        ) => {
          result = { value: await act(ctx) };
          return { content: [], details: {} };
        },
      });
    },
    { answers: [[toolCall("probe", {}, "p")]] },
  );
  if (!result) throw new Error(`The tool did not come to its end: ${JSON.stringify(played.runtime.session.messages)}`);
  return { ...played, value: result.value };
}

function staleText(act: () => unknown): string {
  try {
    return `still works: ${act()}`;
  } catch (error) {
    return (error as Error).message;
  }
}
