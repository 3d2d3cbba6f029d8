// Every name that published extensions import: it is there, under old and new module names, and it can be called.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extensionModules } from "../../src/extension-modules/index.js";
import { Theme } from "../../src/extension-modules/theme.js";

type Loose = (...args: unknown[]) => unknown;
type Module = Record<string, Loose & (new (...args: unknown[]) => Record<string, Loose>)>;

const modules = extensionModules();
const host = modules["@earendil-works/pi-coding-agent"] as Module;
const ai = modules["@earendil-works/pi-ai"] as Module;
const tui = modules["@earendil-works/pi-tui"] as Module;

let folder: string;
const before = process.env.PI_CODING_AGENT_DIR;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "modules-"));
  process.env.PI_CODING_AGENT_DIR = folder;
});
afterAll(() => {
  if (before === undefined) delete process.env.PI_CODING_AGENT_DIR;
  else process.env.PI_CODING_AGENT_DIR = before;
  rmSync(folder, { recursive: true, force: true });
});

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const usage = (input: number) => ({
  ...{ input, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: input },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});
const assistant = (text: string, more: object = {}) => ({
  ...{ role: "assistant", content: [{ type: "text", text }], api: "x", provider: "p", model: "m" },
  ...{ usage: usage(7), stopReason: "stop", timestamp: 2, ...more },
});
const entry = (id: string, parentId: string | null, message: unknown) => ({
  ...{ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message },
});
const entries = [
  entry("a", null, user("x".repeat(400))),
  entry("b", "a", assistant("y".repeat(400))),
  entry("c", "b", user("z".repeat(400))),
  entry("d", "c", assistant("w".repeat(400))),
];
const model = () => (ai.getModel as Loose)("anthropic", "claude-opus-5-5") as { id: string };

describe("extensionModules", () => {
  it("gives the same object under the names of today and of older extensions", () => {
    for (const name of ["pi-coding-agent", "pi-tui", "pi-ai", "pi-ai/compat", "pi-ai/models", "pi-agent-core"])
      expect(modules[`@mariozechner/${name}`]).toBe(modules[`@earendil-works/${name}`]);
    for (const path of ["", "/value", "/compile"])
      expect(modules[`@sinclair/typebox${path}`]).toBe(modules[`typebox${path}`]);
    expect(modules["@earendil-works/pi-ai/compat"]).toBe(ai);
    expect(Object.keys(modules)).toEqual(
      expect.arrayContaining(["@mariozechner/pi-ai/oauth", "@mariozechner/pi-ai/providers/all"]),
    );
    expect(modules["@sinclair/typebox/compiler"]).toBeUndefined();
  });

  it("shares one schema builder, which checks what it built", () => {
    const { Type } = modules.typebox as { Type: { Object: Loose; Number: Loose } };
    expect(ai.Type).toBe(Type);
    const { Value, Check } = modules["typebox/value"] as { Value: { Check: Loose }; Check: Loose };
    const schema = Type.Object({ n: Type.Number() });
    expect([Value.Check(schema, { n: 1 }), Check(schema, { n: "1" })]).toEqual([true, false]);
  });

  it("lays over the host's module what the caller has", () => {
    const createAgentSession = () => "session";
    const own = extensionModules({ createAgentSession })["@mariozechner/pi-coding-agent"] as Module;
    expect(own.createAgentSession).toBe(createAgentSession);
    expect(own.getAgentDir).toBe(host.getAgentDir);
  });

  it("leaves names that only older versions had undefined", () => {
    expect(host.AuthStorage).toBeUndefined();
    expect(tui.NobodyKnowsIt).toBeUndefined();
  });
});

describe("the host's module", () => {
  const calls: Record<string, [(f: Loose) => unknown, unknown]> = {
    getAgentDir: [(f) => f() === folder, true],
    keyHint: [(f) => f("tui.select.cancel", "cancel"), expect.stringContaining("escape/ctrl+c")],
    keyText: [(f) => [f("tui.select.up"), f("nobody.knows.it")], ["up", ""]],
    rawKeyHint: [(f) => f("x", "do it"), expect.stringContaining("do it")],
    formatSize: [(f) => [1023, 1024, 51_200, 5e6].map((bytes) => f(bytes)), ["1023B", "1.0KB", "50.0KB", "4.8MB"]],
    truncateHead: [
      (f) => f("a\nb\nc", { maxLines: 2 }),
      expect.objectContaining({ content: "a\nb", truncatedBy: "lines" }),
    ],
    truncateTail: [(f) => f("a\nb\nc", { maxLines: 2 }), expect.objectContaining({ content: "b\nc", totalLines: 3 })],
    truncateLine: [(f) => f("abcdef", 3), { text: "abc... [truncated]", wasTruncated: true }],
    convertToLlm: [
      (f) => f([{ role: "custom", customType: "c", content: "x", display: true, timestamp: 1 }, { role: "other" }]),
      [{ role: "user", content: [{ type: "text", text: "x" }], timestamp: 1 }],
    ],
    serializeConversation: [
      (f) => {
        const call = { type: "toolCall", id: "1", name: "read", arguments: { path: "a", n: 1 } };
        const asked = assistant("", { content: [{ type: "text", text: "a" }, call] });
        const result = {
          role: "toolResult",
          toolCallId: "1",
          toolName: "read",
          content: user("r").content,
          isError: false,
        };
        return f([user("q"), asked, result]);
      },
      '[User]: q\n\n[Assistant]: a\n\n[Assistant tool calls]: read(path="a", n=1)\n\n[Tool result]: r',
    ],
    buildSessionContext: [
      (f) => f(entries, "b"),
      {
        messages: [entries[0]?.message, entries[1]?.message],
        thinkingLevel: "off",
        model: { provider: "p", modelId: "m" },
      },
    ],
    buildContextEntries: [
      (f) => f([...entries, { type: "compaction", id: "e", parentId: "d", summary: "s", firstKeptEntryId: "c" }]),
      [expect.objectContaining({ id: "e" }), entries[2], entries[3]],
    ],
    sessionEntryToContextMessages: [
      (f) => [f(entries[0]), f({ type: "custom", id: "x" })],
      [[entries[0]?.message], []],
    ],
    parseSessionEntries: [(f) => f('{"type":"session"}\n\n{"type":"mess'), [{ type: "session" }]],
    getLatestCompactionEntry: [(f) => f(entries), null],
    estimateTokens: [(f) => f(user("12345678")), 2],
    calculateContextTokens: [(f) => [f({ ...usage(10), totalTokens: 0 }), f(usage(9))], [10, 9]],
    shouldCompact: [(f) => f(190_000, 200_000, { enabled: true, reserveTokens: 16_384, keepRecentTokens: 1 }), true],
    findCutPoint: [
      (f) => [f(entries, 0, 4, 150), f(entries, 0, 4, 50), f(entries, 0, 4, 99_999)],
      [
        { firstKeptEntryIndex: 2, turnStartIndex: -1, isSplitTurn: false },
        { firstKeptEntryIndex: 3, turnStartIndex: 2, isSplitTurn: true },
        { firstKeptEntryIndex: 0, turnStartIndex: -1, isSplitTurn: false },
      ],
    ],
    findTurnStartIndex: [(f) => [f(entries, 3, 0), f(entries, 1, 1)], [2, -1]],
    getLastAssistantUsage: [(f) => f(entries), usage(7)],
    parseFrontmatter: [
      (f) => [
        f("---\nname: x\nlist: [a, b]\n---\nbody\n"),
        f("no\n"),
        f("---\r\na: 1\r\n---\r\nb"),
        f("--- \na: 1\n---\n"),
      ],
      [
        { frontmatter: { name: "x", list: ["a", "b"] }, body: "body" },
        { frontmatter: {}, body: "no\n" },
        { frontmatter: { a: 1 }, body: "b" },
        { frontmatter: { a: 1 }, body: "" },
      ],
    ],
    stripFrontmatter: [(f) => f("---\na: 1\n---\n\nbody\n\n"), "body"],
    parseSkillBlock: [
      (f) => [f('<skill name="n" location="/l">\nbody\n</skill>\n\nargs'), f("x")],
      [{ name: "n", location: "/l", content: "body", userMessage: "args" }, null],
    ],
    isToolCallEventType: [(f) => [f("bash", { toolName: "bash" }), f("bash", { toolName: "read" })], [true, false]],
    isBashToolResult: [(f) => [f({ toolName: "bash" }), f({ toolName: "read" })], [true, false]],
    isReadToolResult: [(f) => f({ toolName: "read" }), true],
    isEditToolResult: [(f) => f({ toolName: "edit" }), true],
    isWriteToolResult: [(f) => f({ toolName: "write" }), true],
    defineTool: [(f) => f(entries) === entries, true],
    getLanguageFromPath: [
      (f) => ["a.ts", "x/Dockerfile", "a.unknown"].map((p) => f(p)),
      ["typescript", "dockerfile", undefined],
    ],
    generateUnifiedPatch: [
      (f) => f("a.txt", "a\nb\n", "a\nc\n"),
      expect.stringMatching(/^--- a\.txt\t?\n\+\+\+ a\.txt\t?\n@@ -1,2 \+1,2 @@\n a\n-b\n\+c\n$/),
    ],
    getShellConfig: [(f) => f(), { shell: expect.stringMatching(/sh$/), args: ["-c"] }],
    getPackageDir: [
      (f) => JSON.parse(readFileSync(join(f() as string, "package.json"), "utf8")).name,
      "@earendil-works/pi-coding-agent",
    ],
    createCodingTools: [
      (f) => (f("/") as { name: string }[]).map((tool) => tool.name),
      ["read", "bash", "edit", "write"],
    ],
    createReadOnlyTools: [
      (f) => (f("/") as { name: string }[]).map((tool) => tool.name),
      ["read", "grep", "find", "ls"],
    ],
    copyToClipboard: [async (f) => await f("x"), undefined],
    createSyntheticSourceInfo: [
      (f) => f("/p", { source: "x" }),
      { path: "/p", source: "x", scope: "temporary", origin: "top-level" },
    ],
    initTheme: [(f) => f(), undefined],
    getDocsPath: [(f) => f(), expect.stringMatching(/docs$/)],
  };
  it.each(Object.entries(calls))("has %s", async (name, [call, result]) => {
    expect(await call(host[name] as Loose)).toEqual(result);
  });

  it.each(["read", "bash", "edit", "write", "grep", "find", "ls"])("has %s as a tool and as its definition", (name) => {
    const titled = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    for (const form of [`create${titled}Tool`, `create${titled}ToolDefinition`]) {
      const tool = (host[form] as Loose)("/");
      expect(tool).toMatchObject({ name, description: expect.any(String), promptSnippet: expect.any(String) });
    }
  });

  it("has the constants", () => {
    expect(host).toMatchObject({ CONFIG_DIR_NAME: ".pi", DEFAULT_MAX_BYTES: 51_200, DEFAULT_MAX_LINES: 2000 });
    expect(host).toMatchObject({ VERSION: expect.stringMatching(/^\d+\.\d+\.\d+/), CURRENT_SESSION_VERSION: 3 });
    expect(host.DEFAULT_COMPACTION_SETTINGS).toEqual({
      enabled: true,
      reserveTokens: 16_384,
      keepRecentTokens: 20_000,
    });
    expect(host.Theme).toBe(Theme);
  });

  it.each<[string, unknown[]]>([
    ["DynamicBorder", []],
    ["BorderedLoader", [{}, new Theme(), "Working"]],
    ["CustomEditor", [{}, {}, undefined]],
    ["UserMessageComponent", ["hello"]],
    ["AssistantMessageComponent", [assistant("hello")]],
    ["ToolExecutionComponent", ["read", "1", { path: "a" }]],
    ["BashExecutionComponent", ["ls", {}]],
    ["CustomMessageComponent", [{ customType: "c", content: "x" }]],
    ["BranchSummaryMessageComponent", [{ summary: "s" }]],
    ["CompactionSummaryMessageComponent", [{ summary: "s" }]],
    ["SkillInvocationMessageComponent", [{ name: "n", content: "c" }]],
    ["ModelSelectorComponent", [{}, {}, {}]],
    ["SessionSelectorComponent", []],
    ["TreeSelectorComponent", []],
  ])("has the component %s, to be extended and drawn to a width", (name, args) => {
    class Own extends (host[name] as unknown as new (...parts: unknown[]) => { render(width: number): string[] }) {
      readonly mine = true;
    }
    const lines = new Own(...args).render(20);
    for (const line of lines) expect((tui.visibleWidth as Loose)(line)).toBeLessThanOrEqual(20);
    expect(new Own(...args).mine).toBe(true);
  });

  it("shows differences with numbers, and says where they begin", () => {
    const text = (changed: string) =>
      Array.from({ length: 12 }, (_, line) => (line === 5 ? changed : `l${line}`)).join("\n");
    expect((host.generateDiffString as Loose)(text("old"), text("new"))).toEqual({
      diff: "    ...\n  2 l1\n  3 l2\n  4 l3\n  5 l4\n- 6 old\n+ 6 new\n  7 l6\n  8 l7\n  9 l8\n 10 l9\n    ...",
      firstChangedLine: 6,
    });
    expect((host.renderDiff as Loose)("- 6 old\n+ 6 new")).toContain("\n");
  });

  it("colours code line by line without changing it", () => {
    const code = 'const a = "<b>"; // x\nfoo(a && 1);';
    const lines = (host.highlightCode as Loose)(code, "typescript") as string[];
    expect(lines.map((line) => (tui.stripTerminalSequences as Loose)(line)).join("\n")).toBe(code);
    expect(lines[0]).toContain("\u001b[");
    expect((host.highlightCode as Loose)("a\nb", "no-language")).toHaveLength(2);
  });

  it("has a bus whose listeners can be taken back and do not hear each other's faults", async () => {
    const bus = (host.createEventBus as Loose)() as Record<string, Loose>;
    const heard: unknown[] = [];
    bus.on?.("x", () => Promise.reject(new Error("mine")));
    const off = bus.on?.("x", (data: unknown) => heard.push(data)) as () => void;
    bus.emit?.("x", 1);
    off();
    bus.emit?.("x", 2);
    expect(heard).toEqual([1]);
  });

  it("reads a stored credential as it is, and nothing for others", () => {
    writeFileSync(join(folder, "auth.json"), '{"a":{"type":"oauth","access":"t"}}');
    expect((host.readStoredCredential as Loose)("a")).toEqual({ type: "oauth", access: "t" });
    expect((host.readStoredCredential as Loose)("toString")).toBeUndefined();
  });

  it("tells what it did to an image, and null for what is none", async () => {
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const facts = { originalWidth: 1, originalHeight: 1, width: 1, height: 1, wasResized: false };
    expect(await (host.resizeImage as Loose)(Buffer.from(pixel, "base64"), "image/png")).toEqual({
      ...{ data: pixel, mimeType: "image/png" },
      ...facts,
    });
    expect(await (host.resizeImage as Loose)(Buffer.from("no"), "image/png")).toBeNull();
  });

  it("refuses to compact without a working model, by rejecting", async () => {
    const preparation = { firstKeptEntryId: "c", messagesToSummarize: [user("q")], tokensBefore: 5 };
    const nobody = { ...model(), api: "no-such-api" };
    await expect((host.compact as Loose)(preparation, nobody, "key")).rejects.toThrow("no-such-api");
  });
});

describe("the model layer's module", () => {
  const calls: Record<string, [(f: Loose) => unknown, unknown]> = {
    StringEnum: [
      (f) => f(["a", "b"], { description: "d", default: "a" }),
      { type: "string", enum: ["a", "b"], description: "d", default: "a" },
    ],
    getProviders: [(f) => f(), expect.arrayContaining(["anthropic", "openai"])],
    getModels: [(f) => [(f("anthropic") as unknown[]).length > 0, f("nobody")], [true, []]],
    getModel: [
      (f) => [f("anthropic", "claude-opus-5-5"), f("anthropic", "none")],
      [expect.objectContaining({ provider: "anthropic" }), undefined],
    ],
    getSupportedThinkingLevels: [(f) => f({ reasoning: false }), ["off"]],
    clampThinkingLevel: [(f) => f({ reasoning: false }, "high"), "off"],
    calculateCost: [
      (f) => {
        const used = usage(1e6);
        const cost = f({ cost: { input: 3, output: 1, cacheRead: 0, cacheWrite: 0 } }, used);
        return cost === used.cost && used.cost.total;
      },
      3,
    ],
    modelsAreEqual: [(f) => [f(model(), model()), f(model(), undefined)], [true, false]],
    isContextOverflow: [
      (f) => [
        f(assistant("", { stopReason: "error", errorMessage: "prompt is too long: 9 tokens > 5 maximum" })),
        f(assistant("", { stopReason: "error", errorMessage: "boom" })),
        f(assistant(""), 5),
        f(assistant(""), 50),
      ],
      [true, false, true, false],
    ],
    isRetryableAssistantError: [
      (f) => [
        f(assistant("", { stopReason: "error", error: { kind: "overloaded" } })),
        f(assistant("", { stopReason: "error", errorMessage: "terminated" })),
        f(assistant("", { stopReason: "error", errorMessage: "no such tool" })),
        f(assistant("")),
      ],
      [true, true, false, false],
    ],
    parseJsonWithRepair: [(f) => f('{"a":"x\ny","b":"c:\\dir"}'), { a: "x\ny", b: "c:\\dir" }],
    parseStreamingJson: [(f) => [f('{"a": [1, 2'), f("")], [{ a: [1, 2] }, {}]],
    getEnvApiKey: [(f) => [f("anthropic", { ANTHROPIC_API_KEY: "k" }), f("nobody")], ["k", undefined]],
    contentText: [(f) => [f("x"), f(user("a").content)], ["x", "a"]],
    uuidv7: [(f) => f(), expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)],
    getApiProvider: [
      (f) => [Object.keys(f("openai-completions") as object), f("none")],
      [["api", "stream", "streamSimple"], undefined],
    ],
    openAICompletionsApi: [(f) => Object.keys(f() as object), ["stream", "streamSimple"]],
    getCurrentSystemPrompt: [
      (f) =>
        f([
          { role: "system", content: "hi", sections: { a: "A", b: "B" } },
          { role: "system", content: "", sections: { a: null } },
        ]),
      "hi\n\nB",
    ],
    getCurrentTools: [
      (f) =>
        f([
          { role: "system", content: "", toolsAdded: [{ name: "t" }, { name: "u" }] },
          { role: "system", content: "", toolsRemoved: [{ name: "t" }] },
        ]),
      [{ name: "u" }],
    ],
    normalizeContext: [
      (f) => f({ systemPrompt: "S", messages: [user("q")] }),
      { messages: [{ role: "system", content: "S", toolsAdded: [], timestamp: 0 }, user("q")] },
    ],
    createProvider: [
      (f) => (f({ id: "x", models: [] }) as { getModels: () => unknown[]; name: string }).getModels(),
      [],
    ],
  };
  it.each(Object.entries(calls))("has %s", async (name, [call, result]) => {
    expect(await call(ai[name] as Loose)).toEqual(result);
  });

  it("has a stream to push events into and to read", async () => {
    const stream = (ai.createAssistantMessageEventStream as Loose)() as Record<string, Loose> &
      AsyncIterable<{ type: string }>;
    const message = assistant("hi");
    stream.push?.({ type: "start", partial: message });
    stream.push?.({ type: "done", reason: "stop", message });
    stream.end?.();
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect([types, await stream.result?.()]).toEqual([["start", "done"], message]);
  });

  it("calls a registered API with the transcript and the level, from all four functions", async () => {
    const seen: unknown[] = [];
    const streamSimple = (
      _model: unknown,
      context: { messages: { role: string }[] },
      options: { reasoning?: string },
    ) => {
      seen.push([context.messages.map(({ role }) => role), options.reasoning]);
      const stream = (ai.createAssistantMessageEventStream as Loose)() as Record<string, Loose>;
      stream.push?.({ type: "done", reason: "stop", message: assistant("answer") });
      return stream;
    };
    (ai.registerApiProvider as Loose)({ api: "of-the-test", streamSimple });
    try {
      const own = { ...model(), api: "of-the-test", reasoning: true, thinkingLevelMap: {} };
      const context = { systemPrompt: "S", messages: [user("q")] };
      const answers = [
        await (ai.complete as Loose)(own, context, { apiKey: "k" }),
        await (ai.completeSimple as Loose)(own, context, { apiKey: "k", reasoning: "high" }),
        await ((ai.stream as Loose)(own, context) as Record<string, Loose>).result?.(),
        await ((ai.streamSimple as Loose)(own, context) as Record<string, Loose>).result?.(),
      ];
      for (const answer of answers) expect(answer).toMatchObject({ content: [{ type: "text", text: "answer" }] });
      const roles = ["system", "user"];
      expect(seen).toEqual([
        [roles, undefined],
        [roles, "high"],
        [roles, undefined],
        [roles, undefined],
      ]);
    } finally {
      (ai.resetApiProviders as Loose)();
    }
    const after = await (ai.complete as Loose)({ ...model(), api: "of-the-test" }, { messages: [] });
    expect(after).toMatchObject({ stopReason: "error" });
  });
});

describe("the agent loop's module", () => {
  it("has an agent made and read in the form extensions know", async () => {
    const { Agent } = modules["@earendil-works/pi-agent-core"] as Module;
    const calls: unknown[] = [];
    const streamFn = (_model: unknown, _context: unknown, options: unknown) => {
      calls.push(options);
      const stream = (ai.createAssistantMessageEventStream as Loose)() as Record<string, Loose>;
      stream.push?.({ type: "done", reason: "stop", message: assistant("answer") });
      return stream;
    };
    const state = {
      systemPrompt: "S",
      model: { ...model(), reasoning: true, thinkingLevelMap: {} },
      thinkingLevel: "low",
    };
    const agent = new (Agent as Module[string])({ initialState: state, streamFn, getApiKey: () => "k" });
    await agent.prompt?.("q");
    const now = agent.state as unknown as { messages: { role: string }[]; systemPrompt: string };
    expect([now.systemPrompt, now.messages.map(({ role }) => role)]).toEqual(["S", ["user", "assistant"]]);
    expect(calls).toEqual([expect.objectContaining({ apiKey: "k", thinkingLevel: "low" })]);
    agent.reset?.();
    expect((agent.state as unknown as { messages: unknown[] }).messages).toEqual([]);
  });
});
