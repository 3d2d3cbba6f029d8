// Events of sessions, of what a directory brings, and of the user: what each tells, and what its answers change.

import { expect } from "vitest";
import type { ExtensionEventName } from "../../../src/extensions/events.js";
import { type Mode, play } from "../play.js";
import { listenTo, probe, type Rows } from "./row.js";

export type SessionEventName = Extract<
  ExtensionEventName,
  `session_${string}` | `ui_${string}` | `${string}_select` | "project_trust" | "resources_discover" | "user_bash"
>;

/** Answers that fill the context, so that there is something to compact. */
const long = ["word ".repeat(20_000)];
const compacted = { prompts: ["One", "Two", "/probe"], answers: [long, long, ["The summary"]] };

export const sessionEvents: Rows<SessionEventName> = {
  project_trust: async (mode) => {
    const asked: unknown[] = [];
    const trusted = await play(
      mode,
      (pi) => {
        pi.on("project_trust", (event) => {
          asked.push({ ...event });
          return { trusted: "yes" };
        });
        pi.on("session_start", (_, ctx) => void asked.push(ctx.isProjectTrusted()));
      },
      { files: { "project/.pi/prompts/mine.md": "From the project" }, prompts: ["/mine"] },
    );
    expect(trusted.requests).toEqual([["From the project"]]);
    expect(asked).toEqual([{ type: "project_trust", cwd: expect.stringMatching(/project$/) }, true]);
    // Undecided: modes that ask nobody do not trust.
    const { requests } = await play(mode, (pi) => void pi.on("project_trust", () => ({ trusted: "undecided" })), {
      files: { "project/.pi/prompts/mine.md": "From the project" },
      prompts: ["/mine"],
    });
    expect(requests).toEqual([["/mine"]]);
  },

  session_start: async (mode) => {
    const heard: unknown[] = [];
    await play(mode, (pi) => {
      pi.on("session_start", (event) => void heard.push({ ...event }));
      pi.on("session_start", () => void heard.push("second"));
      pi.on("input", () => void heard.push("input"));
    });
    expect(heard).toEqual([{ type: "session_start", reason: "startup" }, "second", "input"]);
    expect(await reasonsOf(mode, "session_start")).toEqual([
      { type: "session_start", reason: "startup" },
      { type: "session_start", reason: "new", previousSessionFile: "first" },
      { type: "session_start", reason: "resume", previousSessionFile: "second" },
      { type: "session_start", reason: "fork", previousSessionFile: "first" },
      { type: "session_start", reason: "reload" },
    ]);
  },

  session_shutdown: async (mode) => {
    expect(await reasonsOf(mode, "session_shutdown")).toEqual(
      [
        { type: "session_shutdown", reason: "new", targetSessionFile: "second" },
        { type: "session_shutdown", reason: "resume", targetSessionFile: "first" },
        { type: "session_shutdown", reason: "fork", targetSessionFile: "third" },
        { type: "session_shutdown", reason: "reload", targetSessionFile: undefined },
        { type: "session_shutdown", reason: "quit", targetSessionFile: undefined },
      ].map(({ targetSessionFile, ...event }) => (targetSessionFile ? { ...event, targetSessionFile } : event)),
    );
    // It is waited for.
    let isDone = false;
    await play(mode, (pi) => {
      pi.on("session_shutdown", async () => {
        await new Promise((resolve) => setImmediate(resolve));
        isDone = true;
      });
    });
    expect(isDone).toBe(true);
  },

  resources_discover: async (mode) => {
    const heard: unknown[] = [];
    const { requests } = await play(
      mode,
      (pi) => {
        pi.on("resources_discover", (event, ctx) => {
          heard.push({ ...event });
          return { promptPaths: [`${ctx.cwd}/more`], skillPaths: [`${ctx.cwd}/skilled`], themePaths: ["nowhere"] };
        });
        pi.registerCommand("again", { handler: (_, ctx) => ctx.reload() });
        pi.on("session_start", () => void heard.push("session_start"));
      },
      {
        prompts: ["/greet", "/skill:knitting", "/again"],
        files: {
          "project/more/greet.md": "Greetings",
          "project/skilled/knitting/SKILL.md": "---\nname: knitting\ndescription: How to knit\n---\nKnit two",
        },
      },
    );
    const cwd = expect.stringMatching(/project$/);
    expect(heard).toEqual([
      "session_start",
      { type: "resources_discover", reason: "startup", cwd },
      "session_start",
      { type: "resources_discover", reason: "reload", cwd },
    ]);
    expect(requests[0]).toEqual(["Greetings"]);
    expect(requests[1]?.at(-1)).toMatch(/^<skill name="knitting"[^>]*>[\s\S]*Knit two/);
  },

  session_info_changed: async (mode) => {
    let heard: object[] = [];
    await probe(mode, (_, pi) => pi.setSessionName("Spring"), {
      extension: (pi) => {
        heard = listenTo(pi, "session_info_changed");
      },
    });
    expect(heard).toEqual([{ type: "session_info_changed", name: "Spring" }]);
  },

  session_before_switch: async (mode) => {
    const heard: object[] = [];
    const { value } = await probe(
      mode,
      async (ctx) => [await ctx.newSession(), await ctx.switchSession(ctx.sessionManager.getSessionFile() ?? "")],
      {
        prompts: ["Hello", "/probe"],
        extension: (pi) =>
          pi.on("session_before_switch", (event) => {
            heard.push({ ...event });
            return { cancel: true };
          }),
      },
    );
    expect(value).toEqual([{ cancelled: true }, { cancelled: true }]);
    const targetSessionFile = expect.stringMatching(/\.jsonl$/);
    expect(heard).toEqual([
      { type: "session_before_switch", reason: "new" },
      { type: "session_before_switch", reason: "resume", targetSessionFile },
    ]);
    if (mode !== "rpc") return;
    const { answers } = await play(mode, (pi) => void pi.on("session_before_switch", () => ({ cancel: true })), {
      prompts: [],
      drive: async ({ ask }) => void (await ask({ type: "new_session" })),
    });
    expect(answers.at(-1)).toMatchObject({ command: "new_session", success: true, data: { cancelled: true } });
  },

  session_before_fork: async (mode) => {
    const heard: object[] = [];
    const { value } = await probe(
      mode,
      async (ctx) => {
        const entryId = userEntry(ctx);
        return [await ctx.fork(entryId), await ctx.fork(entryId, { position: "at" })];
      },
      {
        prompts: ["Hello", "/probe"],
        extension: (pi) =>
          pi.on("session_before_fork", (event) => {
            heard.push({ ...event });
            return { cancel: true };
          }),
        drive: async ({ ask, runtime }) => {
          const [first] = runtime.forkMessages();
          const forked = await ask({ type: "fork", entryId: first?.entryId });
          expect(forked.data).toEqual({ text: "Hello", cancelled: true });
          expect((await ask({ type: "clone" })).data).toEqual({ cancelled: true });
        },
      },
    );
    expect(value).toMatchObject([{ cancelled: true }, { cancelled: true }]);
    const entryId = expect.any(String);
    expect(heard.slice(0, 2)).toEqual([
      { type: "session_before_fork", entryId, position: "before" },
      { type: "session_before_fork", entryId, position: "at" },
    ]);
  },

  session_before_compact: async (mode) => {
    const heard: Record<string, unknown>[] = [];
    const { value, scripted } = await probe(
      mode,
      (ctx) =>
        new Promise<unknown>((resolve, reject) =>
          ctx.compact({ customInstructions: "Be short", onComplete: resolve, onError: reject }),
        ),
      {
        ...compacted,
        extension: (pi) =>
          pi.on("session_before_compact", (event) => {
            heard.push({ ...event });
            const { firstKeptEntryId, tokensBefore } = event.preparation;
            return { compaction: { summary: "Mine", firstKeptEntryId, tokensBefore, details: { by: "me" } } };
          }),
      },
    );
    expect(value).toMatchObject({ summary: "Mine", details: { by: "me" } });
    expect(scripted.requests).toHaveLength(2); // no call of the model for it
    expect(heard).toEqual([
      {
        type: "session_before_compact",
        preparation: {
          firstKeptEntryId: expect.any(String),
          messagesToSummarize: expect.any(Array),
          turnPrefixMessages: expect.any(Array),
          isSplitTurn: expect.any(Boolean),
          tokensBefore: expect.any(Number),
          fileOps: { read: expect.any(Set), written: expect.any(Set), edited: expect.any(Set) },
          settings: { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000 },
        },
        branchEntries: expect.any(Array),
        customInstructions: "Be short",
        reason: "manual",
        willRetry: false,
        signal: expect.any(AbortSignal),
      },
    ]);
    // Cancelled
    const refused = await probe(
      mode,
      (ctx) => new Promise<unknown>((resolve) => ctx.compact({ onError: ({ message }) => resolve(message) })),
      { ...compacted, extension: (pi) => pi.on("session_before_compact", () => ({ cancel: true })) },
    );
    expect(refused.value).toBe("Compaction cancelled");
  },

  session_compact: async (mode) => {
    let heard: object[] = [];
    await probe(mode, (ctx) => new Promise<void>((resolve) => ctx.compact({ onComplete: () => resolve() })), {
      ...compacted,
      extension: (pi) => {
        heard = listenTo(pi, "session_compact");
      },
    });
    expect(heard).toEqual([
      {
        type: "session_compact",
        compactionEntry: expect.objectContaining({
          type: "compaction",
          summary: expect.stringContaining("The summary"),
        }),
        fromExtension: false,
        reason: "manual",
        willRetry: false,
      },
    ]);
  },

  session_compact_failed: async (mode) => {
    let heard: object[] = [];
    await probe(mode, (ctx) => new Promise<void>((resolve) => ctx.compact({ onError: () => resolve() })), {
      ...compacted,
      extension: (pi) => {
        heard = listenTo(pi, "session_compact_failed");
        pi.on("session_before_compact", () => ({ cancel: true }));
      },
    });
    expect(heard).toEqual([
      expect.objectContaining({ type: "session_compact_failed", reason: "manual", aborted: true, willRetry: false }),
    ]);
  },

  session_before_tree: async (mode) => {
    const heard: Record<string, unknown>[] = [];
    const { value } = await probe(
      mode,
      async (ctx) => {
        const first = userEntry(ctx);
        const leaf = ctx.sessionManager.getLeafId();
        const refused = await ctx.navigateTree(first, { label: "no" });
        const done = await ctx.navigateTree(first, { summarize: true, customInstructions: "Short", label: "yes" });
        const summary = ctx.sessionManager.getEntries().find(({ type }) => type === "branch_summary");
        return { leaf, refused, done, summary };
      },
      {
        prompts: ["One", "Two", "/probe"],
        extension: (pi) =>
          pi.on("session_before_tree", (event) => {
            heard.push({ ...event });
            if (event.preparation.label === "no") return { cancel: true };
            return { summary: { summary: "What I left", details: { by: "me" } } };
          }),
      },
    );
    expect([value.refused, value.done]).toEqual([{ cancelled: true }, { cancelled: false }]);
    expect(value.summary).toMatchObject({ summary: "What I left", details: { by: "me" } });
    expect(heard[1]).toEqual({
      type: "session_before_tree",
      preparation: {
        targetId: expect.any(String),
        oldLeafId: value.leaf,
        commonAncestorId: expect.anything(),
        entriesToSummarize: expect.any(Array),
        userWantsSummary: true,
        customInstructions: "Short",
        label: "yes",
      },
      signal: expect.any(AbortSignal),
    });
  },

  session_tree: async (mode) => {
    let heard: object[] = [];
    const { value } = await probe(
      mode,
      async (ctx) => {
        const old = ctx.sessionManager.getLeafId();
        await ctx.navigateTree(userEntry(ctx));
        return { old, leaf: ctx.sessionManager.getLeafId() };
      },
      {
        prompts: ["One", "Two", "/probe"],
        extension: (pi) => {
          heard = listenTo(pi, "session_tree");
        },
      },
    );
    expect(heard).toEqual([{ type: "session_tree", newLeafId: value.leaf, oldLeafId: value.old }]);
    expect(value.leaf).not.toBe(value.old);
  },

  user_bash: async (mode) => {
    const heard: object[] = [];
    const { answers } = await play(
      mode,
      (pi) => {
        pi.on("user_bash", (event) => {
          heard.push({ ...event });
          if (event.command === "mine")
            return { result: { output: "by hand", exitCode: 3, cancelled: false, truncated: false } };
          if (event.command !== "elsewhere") return undefined;
          return {
            operations: {
              exec: async (command, _cwd, { onData }) => {
                onData(Buffer.from(`ran ${command}`));
                return { exitCode: 0 };
              },
            },
          };
        });
      },
      {
        prompts: [],
        drive: async ({ ask }) => {
          await ask({ type: "bash", command: "mine", excludeFromContext: true });
          await ask({ type: "bash", command: "elsewhere" });
          await ask({ type: "bash", command: "echo really" });
        },
      },
    );
    // Nobody types commands where there is no client.
    if (mode !== "rpc") return expect(heard).toEqual([]);
    const cwd = expect.stringMatching(/project$/);
    expect(heard).toEqual([
      { type: "user_bash", command: "mine", excludeFromContext: true, cwd },
      { type: "user_bash", command: "elsewhere", excludeFromContext: false, cwd },
      { type: "user_bash", command: "echo really", excludeFromContext: false, cwd },
    ]);
    expect(answers.map(({ data }) => data)).toMatchObject([
      { output: "by hand", exitCode: 3 },
      { output: "ran elsewhere", exitCode: 0 },
      { output: expect.stringMatching(/^really\n?$/), exitCode: 0 },
    ]);
  },

  model_select: async (mode) => {
    let heard: Record<string, unknown>[] = [];
    const { answers } = await probe(
      mode,
      async (ctx, pi) => pi.setModel(ctx.modelRegistry.find("scripted", "plain") as never),
      {
        extension: (pi) => {
          heard = listenTo(pi, "model_select", "thinking_level_select");
        },
        drive: async ({ ask }) => void (await ask({ type: "cycle_model" })),
      },
    );
    const plain = expect.objectContaining({ id: "plain" });
    const thinker = expect.objectContaining({ id: "thinker" });
    expect(heard.slice(0, 2)).toEqual([
      { type: "thinking_level_select", level: "off", previousLevel: "medium" },
      { type: "model_select", model: plain, previousModel: thinker, source: "set" },
    ]);
    if (answers.length < 2) return expect(heard).toHaveLength(2);
    expect(heard.at(-1)).toEqual({ type: "model_select", model: thinker, previousModel: plain, source: "cycle" });
  },

  thinking_level_select: async (mode) => {
    let heard: object[] = [];
    await probe(mode, (_, pi) => pi.setThinkingLevel("high"), {
      extension: (pi) => {
        heard = listenTo(pi, "thinking_level_select");
      },
    });
    expect(heard).toEqual([{ type: "thinking_level_select", level: "high", previousLevel: "medium" }]);
  },

  ui_prompt_start: (mode) => waitingSpan(mode),
  ui_prompt_end: (mode) => waitingSpan(mode),
};

/** Dialogs that overlap are one span; without a user nobody is waited for. */
async function waitingSpan(mode: Mode): Promise<void> {
  let heard: object[] = [];
  const { ui } = await probe(
    mode,
    async (ctx) => {
      await Promise.all([ctx.ui.select("First", ["a"]), ctx.ui.confirm("Second", "Really?")]);
      await ctx.ui.input("Third");
    },
    {
      extension: (pi) => {
        heard = listenTo(pi, "ui_prompt_start", "ui_prompt_end");
      },
      answerDialog: () => ({ cancelled: true }),
    },
  );
  if (mode !== "rpc") return expect(heard).toEqual([]);
  expect(ui.map(({ method }) => method)).toEqual(["select", "confirm", "input"]);
  const first = { reason: "ui_prompt", kind: "select", title: "First" };
  const third = { reason: "ui_prompt", kind: "input", title: "Third" };
  expect(heard).toEqual([
    { type: "ui_prompt_start", ...first },
    { type: "ui_prompt_end", ...first },
    { type: "ui_prompt_start", ...third },
    { type: "ui_prompt_end", ...third },
  ]);
}

/** What an event tells when a session is started, replaced three times and reloaded; files by the order they came. */
async function reasonsOf(mode: Mode, name: "session_start" | "session_shutdown"): Promise<object[]> {
  const heard: Record<string, unknown>[] = [];
  const files: string[] = [];
  await play(
    mode,
    (pi) => {
      pi.on("session_start", (_, ctx) => {
        const file = ctx.sessionManager.getSessionFile() as string;
        if (!files.includes(file)) files.push(file);
      });
      pi.on(name, (event: object) => void heard.push({ ...event }));
      pi.registerCommand("new", { handler: (_, ctx) => ctx.newSession() });
      pi.registerCommand("back", { handler: (_, ctx) => ctx.switchSession(files[0] as string) });
      pi.registerCommand("fork", { handler: (_, ctx) => ctx.fork(userEntry(ctx)) });
      pi.registerCommand("reload", { handler: (_, ctx) => ctx.reload() });
    },
    { prompts: ["Hello", "/new", "/back", "/fork", "/reload"] },
  );
  const ordinal = (file: unknown) => ["first", "second", "third"][files.indexOf(file as string)] ?? file;
  return heard.map((event) =>
    Object.fromEntries(
      Object.entries(event).map(([key, value]) => [key, key.endsWith("File") ? ordinal(value) : value]),
    ),
  );
}

/** The id of the first message of the user. */
export function userEntry(ctx: { sessionManager: { getEntries(): readonly { id: string; type: string }[] } }): string {
  const entry = ctx.sessionManager
    .getEntries()
    .find((one) => one.type === "message" && (one as { message?: { role?: string } }).message?.role === "user");
  if (!entry) throw new Error("There is no message of the user");
  return entry.id;
}
