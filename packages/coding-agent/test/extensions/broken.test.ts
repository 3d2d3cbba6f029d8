import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ExtensionAPI } from "../../src/extensions/api.js";
import { startCliRpc } from "../helpers/cli-rpc.js";
import { play } from "./play.js";

const texts = (entries: readonly { type: string }[]) =>
  entries.flatMap((entry) => (entry.type === "custom_message" ? [(entry as { content?: unknown }).content] : []));

describe("a session that cannot be replaced", () => {
  test("what waits behind the attempt is answered when it has failed", async () => {
    const { answers, faults } = await play(
      "rpc",
      (pi) => {
        pi.on("session_before_switch", () => new Promise((resolve) => setImmediate(resolve)));
        pi.registerCommand("away", {
          handler: async (_, ctx) => void (await ctx.switchSession("/no/such.jsonl")),
        });
      },
      {
        prompts: [],
        drive: async ({ io, ask }) => {
          io.send({ id: "away", type: "prompt", message: "/away" });
          expect(await ask({ type: "set_session_name", name: "still here" })).toMatchObject({ success: true });
        },
      },
    );
    expect(faults).toMatchObject([{ event: "command", error: expect.stringContaining("/no/such.jsonl") }]);
    expect(answers.every(({ success }) => success)).toBe(true);
  });

  test("a set-up that throws leaves the old session as it is", async () => {
    await play(
      "rpc",
      (pi) => {
        pi.registerCommand("fresh", {
          handler: async (_, ctx) => {
            await ctx.newSession({
              setup: () => {
                throw new Error("no set-up");
              },
            });
          },
        });
      },
      {
        prompts: [],
        drive: async ({ ask, runtime }) => {
          const { session } = runtime;
          await ask({ type: "prompt", message: "/fresh" });
          expect(runtime.session).toBe(session);
          expect(session.runner?.commands.map(({ name }) => name)).toEqual(["fresh"]);
        },
      },
    );
  });

  test("an extension that is gone costs the new session its extensions, not itself", async () => {
    const { cli, place } = await startCliRpc({
      args: ["-e", "mine.js"],
      files: { "project/mine.js": "export default (pi) => { pi.registerCommand('mine', { handler: () => {} }); };" },
    });
    await cli.ask({ type: "get_state" });
    rmSync(`${place.cwd}/mine.js`);
    const { data, success } = await cli.ask({ type: "new_session" });
    expect([success, data]).toMatchObject([true, { cancelled: false, warnings: [expect.stringContaining("mine.js")] }]);
    expect(await cli.ask({ type: "get_commands" })).toMatchObject({ data: { commands: [] } });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ success: true });
  });
});

describe("messages of extensions", () => {
  test("that start nothing are in the session when the run is over, whenever they were sent", async () => {
    const { runtime } = await play("rpc", (pi) => {
      const note = (content: string) => pi.sendMessage({ customType: "note", content }, { triggerTurn: false });
      pi.on("turn_start", () => note("in the turn"));
      pi.on("agent_end", () => note("at its end"));
      pi.on("agent_settled", () => note("behind it"));
    });
    expect(texts(runtime.session.store.getEntries())).toEqual(["in the turn", "at its end", "behind it"]);
  });

  test("that wait for the user's next message survive a reload", async () => {
    const { requests } = await play(
      "rpc",
      (pi) => {
        pi.registerCommand("note", {
          handler: async (_, ctx) => {
            pi.sendMessage({ customType: "note", content: "Remember" }, { deliverAs: "nextTurn" });
            await ctx.reload();
          },
        });
      },
      { prompts: ["/note", "Hello"] },
    );
    expect(requests.at(-1)).toEqual(["Hello", "Remember"]);
  });
});

describe("an answer that cannot be carried out", () => {
  test("costs its own entry only, and the run ends as usual", async () => {
    const { events, faults, runtime } = await play("rpc", (pi) => {
      pi.on("turn_end", () => ({
        entries: [
          { type: "custom", customType: "bad", data: 1n },
          { type: "context_edit", targetId: "nobody", replacement: null },
          { type: "custom", customType: "good", data: 1 },
        ],
      }));
    });
    expect(faults.map(({ event }) => event)).toEqual(["append_entry", "append_entry"]);
    const kept = runtime.session.store.getEntries().flatMap((entry) => ("customType" in entry ? entry.customType : []));
    expect(kept).toEqual(["good"]);
    const ends = events.map(({ type }) => type).filter((type) => /_end$|_settled$/.test(type));
    expect(ends.slice(-3)).toEqual(["turn_end", "agent_end", "agent_settled"]);
  });

  test("paths that are no list of texts are told of, and the session begins", async () => {
    const { faults, requests } = await play("rpc", (pi) => {
      pi.on("resources_discover", () => ({ skillPaths: "/skills" as never }));
    });
    expect(faults).toMatchObject([{ event: "resources_discover", error: "skillPaths must be a list of paths" }]);
    expect(requests).toEqual([["Hello"]]);
  });
});

test("a command that sends a text and waits has its answer afterwards", async () => {
  const heard: unknown[] = [];
  await play(
    "rpc",
    (pi) => {
      pi.registerCommand("ask", {
        handler: async (_, ctx) => {
          pi.sendUserMessage("How are you?");
          await ctx.waitForIdle();
          heard.push(ctx.isIdle(), ctx.sessionManager.getEntries().filter(({ type }) => type === "message").length);
        },
      });
    },
    { prompts: ["/ask"] },
  );
  expect(heard).toEqual([true, 2]);
});

test("a tool that takes a built-in one's place is offered like any other", async () => {
  const names: string[][] = [];
  const extension = (defaultActive: boolean) => (pi: ExtensionAPI) => {
    pi.registerTool({
      name: "ls",
      description: "Own",
      parameters: {} as never,
      defaultActive,
      execute: async () => ({ content: [] }),
    });
    pi.on("agent_start", () => void names.push(pi.getActiveTools()));
  };
  await play("rpc", extension(true));
  await play("rpc", extension(false));
  expect(names).toEqual([
    ["read", "bash", "edit", "write", "ls"],
    ["read", "bash", "edit", "write"],
  ]);
});
