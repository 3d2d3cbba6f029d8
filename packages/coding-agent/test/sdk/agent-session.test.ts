// The session of programs: its members, its events, and an end that comes once.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { hold, toolCall } from "@earendil-works/pi-ai/testing";
import { describe, expect, it } from "vitest";
import type { ExtensionFactory } from "../../src/extensions/api.js";
import { createUi } from "../../src/extensions/ui.js";
import { sdkBench } from "./bench.js";

/** A session whose only extension is this one. */
async function sessionWith(factory: ExtensionFactory, bench = sdkBench()) {
  const resourceLoader = await bench.loader({ extensionFactories: [factory] });
  return { ...bench, ...(await bench.session({ resourceLoader })) };
}

describe("AgentSession", () => {
  it("tells what it knows of the conversation", async () => {
    const { session: make, scripted } = sdkBench();
    const { session } = await make();
    scripted.reply("One");
    await session.prompt("Hi");
    session.setSessionName("mine");
    session.setThinkingLevel("low");
    expect(session).toMatchObject({
      sessionId: session.sessionManager.getSessionId(),
      sessionFile: undefined,
      thinkingLevel: "low",
      isStreaming: false,
      isIdle: true,
      isCompacting: false,
      isRetrying: false,
      pendingMessageCount: 0,
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      autoCompactionEnabled: true,
      autoRetryEnabled: true,
    });
    expect(session.getSessionStats()).toMatchObject({ userMessages: 1, assistantMessages: 1, toolCalls: 0 });
    expect(session.getUserMessagesForForking()).toMatchObject([{ text: "Hi" }]);
    expect(session.getToolDefinition("read")?.name).toBe("read");
    expect([session.supportsThinking(), session.getAvailableThinkingLevels().includes("low")]).toEqual([true, true]);
    session.messages.pop();
    expect(session.messages).toHaveLength(2);
  });

  it("shows the loop as older programs read it, and ignores what they assign", async () => {
    const { session: make, scripted } = sdkBench();
    const { session } = await make();
    scripted.reply("One");
    await session.agent.prompt("Hi");
    const { state } = session.agent;
    state.messages = [];
    state.systemPrompt = "";
    expect(session.state).toBe(state);
    expect(state.messages).toHaveLength(2);
    expect(state.systemPrompt).toBe(session.systemPrompt);
    expect(state.tools.map(({ name }) => name)).toEqual(session.getActiveToolNames());
    expect({ ...state }).toMatchObject({ isStreaming: false, thinkingLevel: "medium", model: session.model });
  });

  it("queues during a run, gives the queues back, and refuses a bare prompt", async () => {
    const { session: make, scripted } = sdkBench();
    const { session } = await make();
    const pause = hold();
    scripted.reply("Wait", pause).reply("After");
    const run = session.prompt("Hi");
    await pause.reached;
    await expect(session.prompt("No")).rejects.toMatchObject({ code: "busy" });
    expect(await session.steer("Left")).toBe("queued");
    await session.prompt("Later", { streamingBehavior: "followUp" });
    expect([session.getSteeringMessages(), session.getFollowUpMessages()]).toEqual([["Left"], ["Later"]]);
    expect(session.agent.hasQueuedMessages()).toBe(true);
    expect(session.clearQueue()).toEqual({ steering: ["Left"], followUp: ["Later"] });
    pause.release();
    await run;
    expect(scripted.requests).toHaveLength(1);
  });

  it("waits for no listener: one may abort and wait for it", async () => {
    const { session: make, scripted } = sdkBench();
    const { session } = await make();
    const settled: string[] = [];
    session.subscribe(async ({ type }) => {
      if (type !== "turn_start") return;
      await session.abort();
      settled.push("aborted");
    });
    session.subscribe(({ type }) => {
      if (type === "agent_settled") settled.push(type);
    });
    scripted.reply("Never", hold());
    await session.prompt("Hi");
    await session.waitForIdle();
    expect(settled).toContain("agent_settled");
    expect(session.isIdle).toBe(true);
  });

  it("hears nothing after a subscription has ended", async () => {
    const { session: make, scripted } = sdkBench();
    const { session } = await make();
    const seen: string[] = [];
    const end = session.subscribe(({ type }) => seen.push(type));
    scripted.reply("One").reply("Two");
    await session.prompt("Hi");
    const before = seen.length;
    end();
    await session.prompt("Again");
    expect([before > 0, seen.length]).toEqual([true, before]);
  });

  it("sends messages and texts as extensions do", async () => {
    const { session: make, scripted } = sdkBench();
    const { session } = await make();
    await session.sendCustomMessage({ customType: "note", content: "Kept", display: true });
    expect(session.messages.map(({ role }) => role)).toEqual(["custom"]);
    scripted.reply("To the note").reply("To the text");
    await session.sendCustomMessage({ customType: "note", content: "Go" }, { triggerTurn: true });
    await session.sendUserMessage("And now");
    expect(session.messages.map(({ role }) => role)).toEqual(["custom", "custom", "assistant", "user", "assistant"]);
  });

  it("runs the user's commands, and hands on their output as it comes", async () => {
    const { session: make } = sdkBench();
    const { session } = await make();
    const chunks: string[][] = [[], []];
    const running = ["one", "two"].map((word, at) =>
      session.executeBash(`echo ${word}`, (chunk) => chunks[at]?.push(chunk)),
    );
    expect(session.isBashRunning).toBe(true);
    expect((await Promise.all(running)).map(({ output }) => output.trim())).toEqual(["one", "two"]);
    expect(chunks.map((heard) => heard.join("").trim())).toEqual(["one", "two"]);
    expect([session.isBashRunning, session.messages.length]).toEqual([false, 2]);
  });

  it("refuses a model without credentials", async () => {
    const { session: make, modelRuntime } = sdkBench();
    const { session } = await make();
    const model = modelRuntime.getModel("scripted", "plain");
    if (!model) throw new Error("The model of the test is not there");
    await session.setModel(model);
    await expect(session.setModel({ ...model, provider: "nobody" })).rejects.toMatchObject({ code: "no_credentials" });
    expect(session.model).toBe(model);
  });
});

describe("AgentSession with extensions", () => {
  it("tells extensions that it begins when it is bound, once", async () => {
    const heard: unknown[] = [];
    const ui = createUi(undefined, { theme: () => "theme" });
    const { session } = await sessionWith((pi) => {
      pi.on("session_start", ({ reason }, ctx) => {
        heard.push([reason, ctx.mode, ctx.hasUI, ctx.ui.theme === ui.theme]);
      });
    });
    expect([heard, session.hasExtensionHandlers("session_start")]).toEqual([[], true]);
    await session.bindExtensions({ uiContext: ui });
    await session.bindExtensions({ uiContext: ui, mode: "tui" });
    expect(heard).toEqual([["startup", "rpc", true, true]]);
  });

  it("tells of errors of extensions, and of an end they ask for", async () => {
    const told: unknown[] = [];
    const { session } = await sessionWith((pi) => {
      pi.on("session_start", (_event, ctx) => {
        ctx.shutdown();
        throw new Error("broken");
      });
    });
    const onError = ({ event, error }: { event: string; error: string }) => told.push([event, error]);
    await session.bindExtensions({ onError, shutdownHandler: () => told.push("shutdown") });
    await session.waitForIdle();
    expect(told).toEqual(["shutdown", ["session_start", "broken"]]);
  });

  it("tells of errors without being bound, at the latest with the first text or event", async () => {
    for (const act of ["prompt", "event"]) {
      const { session, scripted } = await sessionWith((pi) => {
        pi.registerProvider("broken", {});
        pi.on("input", () => {
          throw new Error("at the text");
        });
        pi.on("agent_start", () => {
          throw new Error("in the run");
        });
      });
      const told: string[] = [];
      session.subscribe((event) => {
        if (event.type === "extension_error") told.push(event.event);
      });
      scripted.reply("Hi");
      if (act === "prompt") await session.prompt("Hello");
      else session.setSessionName("named");
      await session.waitForIdle();
      const atOnce = ["register_provider"];
      expect(told).toEqual(act === "prompt" ? [...atOnce, "input", "agent_start"] : atOnce);
    }
  });

  it("runs commands of extensions and offers their tools", async () => {
    const { session } = await sessionWith((pi) => {
      pi.registerCommand("name", { handler: (args) => pi.setSessionName(args) });
      pi.registerTool({
        name: "own",
        description: "",
        parameters: {},
        execute: async () => ({ content: [] }) as never,
      });
    });
    await session.bindExtensions();
    await session.prompt("/name called");
    expect([session.sessionName, session.getActiveToolNames()]).toEqual([
      "called",
      ["read", "bash", "edit", "write", "own"],
    ]);
    const { extensionRunner } = session;
    expect(extensionRunner.getRegisteredCommands().map(({ name }) => name)).toEqual(["name"]);
    expect(extensionRunner.getAllRegisteredTools().map(({ definition }) => definition.name)).toEqual(["own"]);
    expect([extensionRunner.getExtensionPaths(), extensionRunner.getCommand("nobody")]).toEqual([
      ["<inline:1>"],
      undefined,
    ]);
  });

  it("is another session after a command replaced it, and its listeners stay", async () => {
    const heard: string[] = [];
    const { session, scripted } = await sessionWith((pi) => {
      pi.on("session_start", ({ reason }) => {
        heard.push(reason);
      });
      pi.registerCommand("new", { handler: (_args, ctx) => ctx.newSession() });
    });
    await session.bindExtensions();
    const { sessionId } = session;
    await session.prompt("/new");
    session.subscribe(({ type }) => {
      if (type === "agent_start") heard.push(type);
    });
    scripted.reply("Fresh");
    await session.prompt("Hi");
    expect([heard, session.sessionId === sessionId]).toEqual([["startup", "new", "agent_start"], false]);
  });

  it("ends once, however often and early it is asked to", async () => {
    const heard: string[] = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { session } = await sessionWith((pi) => {
      pi.on("session_start", async () => {
        await begun;
        heard.push("start");
      });
      pi.on("session_shutdown", () => {
        heard.push("shutdown");
      });
    });
    void session.bindExtensions();
    const ends = [session.dispose(), session.dispose()];
    await new Promise(setImmediate);
    begin();
    await session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
    await Promise.all(ends);
    expect([heard, ends[0] === ends[1]]).toEqual([["start", "shutdown"], true]);
    expect(() => session.getActiveToolNames()).toThrow("stale");
    await expect(session.prompt("Hi")).rejects.toThrow("Cannot send a text: the session has ended");
    await expect(session.followUp("Hi")).rejects.toMatchObject({ code: "cancelled" });
  });

  it("leaves no child of an extension behind, whoever is quick", async () => {
    const children: ChildProcess[] = [];
    let shutdowns = 0;
    const bench = sdkBench();
    for (let round = 0; round < 20; round++) {
      const { session } = await sessionWith((pi) => {
        let child: ChildProcess | undefined;
        pi.on("session_start", async () => {
          await Promise.resolve();
          child = spawn("sleep", ["600"], { stdio: "ignore" });
          children.push(child);
        });
        pi.on("session_shutdown", async () => {
          shutdowns += 1;
          child?.kill("SIGKILL");
          if (child) await once(child, "exit");
        });
      }, bench);
      const bound = session.bindExtensions();
      if (round % 2 === 0) await bound;
      await session.dispose();
    }
    const alive = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    for (const child of alive) child.kill("SIGKILL");
    expect([children.length, shutdowns, alive.length]).toEqual([20, 20, 0]);
  });

  it("adds skills that extensions name, and loads everything anew on reload", async () => {
    const { place, ...bench } = sdkBench({ "more/tell/SKILL.md": "---\ndescription: Tells\n---\nTell it" });
    let loads = 0;
    const { session, scripted } = await sessionWith(
      (pi) => {
        loads += 1;
        pi.on("resources_discover", () => ({ skillPaths: [join(place.root, "more")] }));
      },
      { place, ...bench },
    );
    await session.bindExtensions();
    scripted.reply("Told").reply("Again");
    await session.prompt("/skill:tell");
    expect(JSON.stringify(session.messages[0])).toContain("Tell it");
    await session.reload();
    await session.prompt("Hi");
    expect([loads, session.messages.length]).toEqual([2, 4]);
  });
});

describe("what an extension of a file names", () => {
  it("is looked for beside the extension, and says so", async () => {
    const {
      place,
      loader,
      session: make,
    } = sdkBench({
      "agent/extensions/pack/index.ts":
        'export default (pi) => pi.on("resources_discover", () => ({ skillPaths: ["own"], promptPaths: ["greet.md"] }))',
      "agent/extensions/pack/own/tell/SKILL.md": "---\ndescription: Tells\n---\nTell it",
      "agent/extensions/pack/greet.md": "Greet",
    });
    const resourceLoader = await loader();
    const { session } = await make({ resourceLoader });
    await session.bindExtensions();
    const baseDir = join(place.agentDir, "extensions/pack");
    const origin = { source: "extension", scope: "temporary", origin: "top-level", baseDir };
    expect(resourceLoader.getSkills().skills.map(({ name, sourceInfo }) => [name, sourceInfo])).toEqual([
      ["tell", { ...origin, path: join(baseDir, "own/tell/SKILL.md") }],
    ]);
    expect(resourceLoader.getPrompts().prompts.map(({ name, sourceInfo }) => [name, sourceInfo])).toEqual([
      ["greet", { ...origin, path: join(baseDir, "greet.md") }],
    ]);
  });
});

describe("createAgentSession inside an extension", () => {
  it("shares models, keys and providers with the session around it", async () => {
    const bench = sdkBench({
      "project/delegate.ts": `
        import { createAgentSession, SessionManager } from "@earendil-works/pi-coding-agent";
        export default (pi: { registerTool(tool: object): void }) => pi.registerTool({
          name: "delegate", description: "Asks another agent", parameters: { type: "object", properties: {} },
          execute: async (_id: string, _params: unknown, _signal: unknown, _update: unknown, ctx: { cwd: string; model: object }) => {
            const sessionManager = SessionManager.inMemory(ctx.cwd);
            const { session } = await createAgentSession({ cwd: ctx.cwd, model: ctx.model, tools: ["read"], sessionManager });
            await session.prompt("Subtask");
            const text = session.getLastAssistantText();
            await session.dispose();
            return { content: [{ type: "text", text }], details: {} };
          },
        });`,
    });
    const { scripted, modelRuntime, loader, session: make } = bench;
    await modelRuntime.setRuntimeApiKey("scripted", "given-to-this-process");
    const resourceLoader = await loader({ additionalExtensionPaths: ["delegate.ts"] });
    const { session, extensionsResult } = await make({ resourceLoader });
    expect(extensionsResult.errors).toEqual([]);
    scripted.reply(toolCall("delegate", {})).reply("From below").reply("Done");
    await session.prompt("Delegate");
    expect(session.messages[2]).toMatchObject({ role: "toolResult", content: [{ text: "From below" }] });
    expect(scripted.requests.map(({ options }) => options.apiKey)).toEqual(Array(3).fill("given-to-this-process"));
    expect(scripted.requests[1]?.context.tools?.map(({ name }) => name)).toEqual(["read"]);
  });
});
