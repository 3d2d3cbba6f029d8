// The members of `ctx.sessionManager` that extensions use.

import { expect } from "vitest";
import type { ExtensionFactory } from "../../../src/extensions/api.js";
import type { SessionManager } from "../../../src/sessions/session-manager.js";
import { type Mode, play } from "../play.js";
import { probe, type Rows } from "./row.js";

/** Those that are promised to extensions; the object has more. */
export type SessionManagerMember = Extract<
  keyof SessionManager,
  | "getEntries"
  | "getBranch"
  | "getSessionId"
  | "getSessionFile"
  | "getLeafId"
  | "getLeafEntry"
  | "getCwd"
  | "getSessionDir"
  | "getHeader"
  | "getEntry"
  | "getSessionName"
  | "buildSessionContext"
  | "buildContextEntries"
  | "getLabel"
  | "getTree"
  | "appendCustomEntry"
  | "appendMessage"
  | "appendCustomMessageEntry"
  | "appendModelChange"
  | "branch"
  | "branchWithSummary"
>;

/** The session after one exchange. */
async function after<T>(mode: Mode, read: (store: SessionManager) => T) {
  return probe(mode, (ctx) => read(ctx.sessionManager), { prompts: ["One", "/probe"] });
}

const types = (entries: readonly { type: string }[]) => entries.map(({ type }) => type);
const exchange = ["model_change", "thinking_level_change", "message", "message"];

export const sessionManagerMembers: Rows<SessionManagerMember> = {
  getEntries: async (mode) => expect((await after(mode, (store) => types(store.getEntries()))).value).toEqual(exchange),

  getBranch: async (mode) => {
    const { value } = await after(mode, (store) => {
      const all = store.getBranch();
      return [types(all), types(store.getBranch(all[2]?.id))];
    });
    expect(value).toEqual([exchange, exchange.slice(0, 3)]);
  },

  getSessionId: async (mode) => {
    const { value, runtime } = await after(mode, (store) => store.getSessionId());
    expect(value).toBe(runtime.session.state().sessionId);
    expect(value).toMatch(/^[0-9a-f-]{36}$/);
  },

  getSessionFile: async (mode) => {
    const { value, place } = await after(mode, (store) => store.getSessionFile());
    expect(value?.startsWith(`${place.agentDir}/sessions/`)).toBe(true);
    let inMemory: unknown = "not asked";
    const extension: ExtensionFactory = (pi) => {
      pi.on("agent_start", (_, ctx) => {
        inMemory = ctx.sessionManager.getSessionFile();
      });
    };
    await play(mode, extension, { inMemory: true });
    expect(inMemory).toBeUndefined();
  },

  getLeafId: async (mode) => {
    const { value } = await after(mode, (store) => [store.getLeafId(), store.getEntries().at(-1)?.id]);
    expect(value[0]).toBe(value[1]);
  },

  getLeafEntry: async (mode) => {
    const { value } = await after(mode, (store) => store.getLeafEntry());
    expect(value).toMatchObject({ type: "message", message: { role: "assistant" } });
  },

  getCwd: async (mode) => {
    const { value, place } = await after(mode, (store) => store.getCwd());
    expect(value).toBe(place.cwd);
  },

  getSessionDir: async (mode) => {
    const { value, place } = await after(mode, (store) => store.getSessionDir());
    expect(value).toBe(`${place.agentDir}/sessions`);
  },

  getHeader: async (mode) => {
    const { value, place } = await after(mode, (store) => store.getHeader());
    expect(value).toEqual({
      type: "session",
      version: 3,
      id: expect.any(String),
      timestamp: expect.any(String),
      cwd: place.cwd,
    });
  },

  getEntry: async (mode) => {
    const { value } = await after(mode, (store) => [
      store.getEntry(store.getLeafId() ?? "")?.type,
      store.getEntry("no"),
    ]);
    expect(value).toEqual(["message", undefined]);
  },

  getSessionName: async (mode) => {
    const { value } = await probe(mode, async (ctx, pi) => {
      pi.setSessionName("Spring");
      await new Promise((resolve) => setImmediate(resolve));
      return ctx.sessionManager.getSessionName();
    });
    expect(value).toBe("Spring");
  },

  buildSessionContext: async (mode) => {
    const { value } = await after(mode, (store) => store.buildSessionContext());
    expect(value).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }],
      thinkingLevel: "medium",
      model: { provider: "scripted", modelId: "thinker" },
    });
  },

  buildContextEntries: async (mode) => {
    const { value } = await after(mode, (store) => types(store.buildContextEntries()));
    expect(value.filter((type) => type === "message")).toHaveLength(2);
  },

  getLabel: async (mode) => {
    const { value } = await probe(
      mode,
      (ctx, pi) => {
        const id = ctx.sessionManager.getLeafId() as string;
        const before = ctx.sessionManager.getLabel(id);
        pi.setLabel(id, "here");
        return [before, ctx.sessionManager.getLabel(id)];
      },
      { prompts: ["One", "/probe"] },
    );
    expect(value).toEqual([undefined, "here"]);
  },

  getTree: async (mode) => {
    const { value } = await after(mode, (store) => store.getTree());
    expect(value).toEqual([
      { entry: expect.objectContaining({ type: "model_change" }), children: [expect.anything()] },
    ]);
  },

  appendCustomEntry: async (mode) => {
    const { value } = await after(mode, (store) => store.getEntry(store.appendCustomEntry("mark", { n: 1 })));
    expect(value).toMatchObject({ type: "custom", customType: "mark", data: { n: 1 } });
  },

  appendMessage: async (mode) => {
    const { value } = await after(mode, (store) =>
      store.getEntry(store.appendMessage({ role: "user", content: [{ type: "text", text: "Put in" }], timestamp: 1 })),
    );
    expect(value).toMatchObject({ type: "message", message: { content: [{ text: "Put in" }] } });
  },

  appendCustomMessageEntry: async (mode) => {
    const { value } = await after(mode, (store) =>
      store.getEntry(store.appendCustomMessageEntry("note", "Text", true)),
    );
    expect(value).toMatchObject({ type: "custom_message", customType: "note", content: "Text", display: true });
  },

  appendModelChange: async (mode) => {
    const { value } = await after(mode, (store) => store.getEntry(store.appendModelChange("a", "b")));
    expect(value).toMatchObject({ type: "model_change", provider: "a", modelId: "b" });
  },

  branch: async (mode) => {
    const { value } = await after(mode, (store) => {
      const [first] = store.getEntries();
      store.branch(first?.id as string);
      return store.getLeafId() === first?.id;
    });
    expect(value).toBe(true);
  },

  branchWithSummary: async (mode) => {
    const { value } = await after(mode, (store) => {
      const [first] = store.getEntries();
      return [store.getEntry(store.branchWithSummary(first?.id as string, "What was")), first?.id] as const;
    });
    expect(value[0]).toMatchObject({ type: "branch_summary", summary: "What was", parentId: value[1] });
  },
};
