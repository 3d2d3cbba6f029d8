// createAgentSession: what is found when little is given, and what each option changes.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fail, toolCall } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import type { ExtensionAPI } from "../../src/extensions/api.js";
import { SettingsManager } from "../../src/resources/settings-manager.js";
import { createAgentSession } from "../../src/sdk/create-agent-session.js";
import { ModelRegistry, ModelRuntime } from "../../src/sdk/model-runtime.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { sdkBench } from "./bench.js";

const noParameters = { type: "object", properties: {} };
const tool = (name: string, text = name) => ({
  name,
  label: name,
  description: name,
  parameters: noParameters,
  execute: async () => ({ content: [{ type: "text" as const, text }], details: {} }),
});

describe("createAgentSession", () => {
  it("finds model, instructions and tools, and resolves prompts when the run is over", async () => {
    const { session: make, scripted } = sdkBench({ "project/AGENTS.md": "Speak in rhymes" });
    const { session, extensionsResult, ...rest } = await make();
    scripted.reply(toolCall("ls", { path: "." })).reply("Done");
    await session.prompt("List");
    expect(session.getLastAssistantText()).toBe("Done");
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect([session.model?.id, session.isStreaming, rest]).toEqual(["thinker", false, {}]);
    expect(session.getActiveToolNames()).toEqual(["read", "bash", "edit", "write"]);
    expect(scripted.requests[0]?.context.systemPrompt).toContain("Speak in rhymes");
    expect([extensionsResult.extensions, extensionsResult.errors]).toEqual([[], []]);
  });

  it("resolves a prompt after the retries of a failed answer", async () => {
    const settingsManager = SettingsManager.inMemory({ retry: { enabled: true, maxRetries: 1, baseDelayMs: 1 } });
    const { session: make, scripted } = sdkBench();
    const { session } = await make({ settingsManager });
    scripted.reply(fail("overloaded")).reply("At last");
    await session.prompt("Hi");
    expect([session.getLastAssistantText(), scripted.requests.length]).toEqual(["At last", 2]);
  });

  it("says when there is no model, and refuses prompts", async () => {
    const { session: make, place } = sdkBench();
    const { session, modelFallbackMessage } = await make({
      modelRuntime: ModelRuntime.load({ agentDir: join(place.root, "nobody"), env: {} }),
    });
    expect(modelFallbackMessage).toMatch(/^No model selected/);
    expect(session.model).toBeUndefined();
    await expect(session.prompt("Hi")).rejects.toMatchObject({ code: "no_model" });
  });

  it("says when the model of a resumed session is gone", async () => {
    const { session: make, place } = sdkBench();
    const sessionManager = SessionManager.inMemory(place.cwd);
    sessionManager.appendModelChange("scripted", "gone");
    sessionManager.appendMessage({ role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 1 });
    const { session, modelFallbackMessage } = await make({ sessionManager });
    expect(modelFallbackMessage).toContain('"scripted/gone"');
    expect([session.model?.id, session.messages.length]).toEqual(["thinker", 1]);
  });

  it("takes the model, level and scope that are given", async () => {
    const { session: make, modelRuntime } = sdkBench();
    const plain = modelRuntime.getModel("scripted", "plain");
    const thinker = modelRuntime.getModel("scripted", "thinker");
    if (!plain || !thinker) throw new Error("The models of the test are not there");
    const scopedModels = [{ model: plain }, { model: thinker }];
    const { session } = await make({ model: thinker, thinkingLevel: "high", scopedModels });
    expect([session.model, session.thinkingLevel, session.scopedModels]).toEqual([thinker, "high", scopedModels]);
    expect((await session.cycleModel())?.model).toBe(plain);
  });

  it("limits tools to those named, for good", async () => {
    const { session: make } = sdkBench();
    const { session } = await make({ tools: ["read", "mine", "nobody"], customTools: [tool("mine"), tool("other")] });
    expect(session.getActiveToolNames()).toEqual(["read", "mine"]);
    session.setActiveToolsByName(["mine", "bash", "other"]);
    expect(session.getActiveToolNames()).toEqual(["mine"]);
  });

  it.each([
    [{ noTools: "all" as const, customTools: [tool("mine")] }, []],
    [{ tools: [], customTools: [tool("mine")] }, []],
    [{ noTools: "builtin" as const, customTools: [tool("mine")] }, ["mine"]],
    [{ excludeTools: ["bash", "write"] }, ["read", "edit"]],
    [{ tools: ["read", tool("whole")] }, ["read", "whole"]],
  ])("offers the tools that %o leaves", async (options, names) => {
    const { session: make } = sdkBench();
    const { session } = await make(options);
    expect(session.getActiveToolNames()).toEqual(names);
  });

  it("runs own tools with a context, one with a built-in name in place of it", async () => {
    const { session: make, scripted, place } = sdkBench();
    const seen: unknown[] = [];
    const own = {
      ...tool("read"),
      parameters: Type.Object({ path: Type.String() }),
      execute: async (...[id, { path }, , , ctx]: [string, { path: string }, unknown, unknown, { cwd: string }]) => {
        seen.push([id, path, ctx.cwd]);
        return { content: [{ type: "text" as const, text: "mine" }], details: {} };
      },
    };
    const { session } = await make({ customTools: [own] });
    scripted.reply(toolCall("read", { path: "a" }, "c1")).reply("ok");
    await session.prompt("Read");
    expect(seen).toEqual([["c1", "a", place.cwd]]);
  });

  it("rejects a custom tool that is none", async () => {
    const { session: make } = sdkBench();
    await expect(make({ customTools: [{ name: "x" } as never] })).rejects.toThrow('Cannot register tool "x"');
  });

  it("works in the directory asked for, whatever that of the session store is", async () => {
    const { session: make, scripted, place } = sdkBench({ "elsewhere/here.txt": "x" });
    const cwd = join(place.root, "elsewhere");
    const { session } = await make({ cwd, sessionManager: SessionManager.inMemory("/") });
    scripted.reply(toolCall("bash", { command: "ls" })).reply("ok");
    await session.prompt("List");
    expect(JSON.stringify(session.messages[2])).toContain("here.txt");
    expect((await session.executeBash("ls")).output).toContain("here.txt");
  });

  it("saves the session unless told otherwise", async () => {
    const { session: make, scripted, place } = sdkBench();
    const { session } = await make({ sessionManager: SessionManager.create(place.cwd, join(place.root, "sessions")) });
    scripted.reply("Saved");
    await session.prompt("Keep this");
    await session.dispose();
    expect(readFileSync(session.sessionFile as string, "utf8")).toContain("Keep this");
  });

  it("knows the models and keys behind a registry, and takes those of a runtime in its form", async () => {
    const { session: make, modelRuntime, scripted } = sdkBench();
    const registry = new ModelRegistry(modelRuntime);
    expect(registry.find("scripted", "plain")?.id).toBe("plain");
    const { session } = await make({ modelRuntime: undefined as never, modelRegistry: registry });
    expect(session.modelRuntime).toBe(modelRuntime);
    scripted.reply("ok");
    await session.prompt("Hi");
    expect(scripted.requests[0]?.options.apiKey).toBe("key-for-tests");
  });

  it("loads extensions once more for a second session of one loader", async () => {
    const { session: make, loader } = sdkBench();
    let loads = 0;
    const resourceLoader = await loader({
      extensionFactories: [
        () => {
          loads += 1;
        },
      ],
    });
    const first = await make({ resourceLoader });
    const second = await make({ resourceLoader });
    expect(loads).toBe(2);
    await first.session.dispose();
    expect(second.session.getActiveToolNames()).toContain("read");
  });

  it("takes loaders of a program's own", async () => {
    const { session: make, scripted } = sdkBench();
    const { createExtensionRuntime } = await import("../../src/sdk/names.js");
    const { session } = await make({
      resourceLoader: {
        getExtensions: () => ({ extensions: [], errors: [], runtime: createExtensionRuntime() }),
        getSkills: () => ({ skills: [], diagnostics: [] }),
        getPrompts: () => ({ prompts: [], diagnostics: [] }),
        getThemes: () => ({ themes: [], diagnostics: [] }),
        getAgentsFiles: () => ({ agentsFiles: [{ path: "/AGENTS.md", content: "Be kind" }] }),
        getSystemPrompt: () => "You are minimal",
        getAppendSystemPrompt: () => ["One", "Two"],
        extendResources: () => {},
        reload: async () => {},
      },
    });
    scripted.reply("ok");
    await session.prompt("Hi");
    const prompt = scripted.requests[0]?.context.systemPrompt ?? "";
    expect(prompt).toMatch(/^You are minimal[\s\S]*One\n\nTwo[\s\S]*Be kind/);
    expect(session.systemPrompt).toBe(prompt);
  });

  it("uses the user's own directories when nothing is given", async () => {
    const { place, scripted } = sdkBench();
    const { PI_CODING_AGENT_DIR } = process.env;
    process.env.PI_CODING_AGENT_DIR = place.agentDir;
    try {
      const { session } = await createAgentSession({ sessionManager: SessionManager.inMemory(place.cwd) });
      scripted.reply("Found");
      await session.prompt("Hi");
      expect(session.getLastAssistantText()).toBe("Found");
      await session.dispose();
    } finally {
      if (PI_CODING_AGENT_DIR === undefined) delete process.env.PI_CODING_AGENT_DIR;
      else process.env.PI_CODING_AGENT_DIR = PI_CODING_AGENT_DIR;
    }
  });
});

describe("providers of a session's extensions", () => {
  const brings = (id: string) => (pi: ExtensionAPI) =>
    pi.registerProvider("brought", {
      baseUrl: "http://127.0.0.1:1",
      apiKey: "k",
      api: "openai-completions",
      models: [{ id }],
    } as never);

  it("end with it, and come again after a reload", async () => {
    const { session, loader, modelRuntime } = sdkBench();
    const made = await session({ resourceLoader: await loader({ extensionFactories: [brings("b")] }) });
    expect(modelRuntime.getModel("brought", "b")).toBeDefined();
    await made.session.reload();
    expect(modelRuntime.getModel("brought", "b")).toBeDefined();
    await made.session.dispose();
    expect([modelRuntime.getModels("brought"), modelRuntime.getRegisteredProviderIds()]).toEqual([[], []]);
  });

  it("are taken back when the session cannot be made", async () => {
    const { session, loader, modelRuntime } = sdkBench();
    const resourceLoader = await loader({ extensionFactories: [brings("b")] });
    const sessionManager = {
      getCwd: () => "/",
      getEntries: () => {
        throw new Error("broken");
      },
    } as never;
    await expect(session({ resourceLoader, sessionManager })).rejects.toThrow("broken");
    expect(modelRuntime.getRegisteredProviderIds()).toEqual([]);
  });
});
