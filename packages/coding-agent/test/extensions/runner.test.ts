import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { isCancelled } from "../../src/extensions/hooks.js";
import { runnerBench } from "./extensions.js";

afterEach(() => void vi.useRealTimers());

describe("each", () => {
  test("handlers run in the order of extensions, then of registration, each awaited", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ extension: fc.nat(2), waits: fc.nat(3), throws: fc.boolean() }), { maxLength: 12 }),
        async (handlers) => {
          const { runner, apis, faults } = runnerBench(3);
          const heard: string[] = [];
          let inside = 0;
          for (const [index, { extension, waits, throws }] of handlers.entries())
            apis[extension]?.on("agent_start", async () => {
              inside += 1;
              expect(inside).toBe(1);
              for (let count = 0; count < waits; count += 1) await Promise.resolve();
              heard.push(`${extension}/${index}`);
              inside -= 1;
              if (throws) throw new Error(`fault ${index}`);
            });
          await runner.each("agent_start", {});
          const inOrder = handlers
            .map((handler, index) => ({ ...handler, index }))
            .sort((a, b) => a.extension - b.extension || a.index - b.index);
          expect(heard).toEqual(inOrder.map(({ extension, index }) => `${extension}/${index}`));
          expect(faults.map(({ error }) => error)).toEqual(
            inOrder.filter(({ throws }) => throws).map(({ index }) => `fault ${index}`),
          );
        },
      ),
      { seed: 11, numRuns: 60 },
    );
  });

  test("a handler that unsubscribes others, or subscribes some, changes the next round and not this one", async () => {
    const { runner, apis } = runnerBench(1);
    const [pi] = apis as [(typeof apis)[0]];
    const heard: string[] = [];
    pi.on("agent_start", () => {
      heard.push("first");
      end();
      pi.on("agent_start", () => void heard.push("new"));
    });
    const end = pi.on("agent_start", () => void heard.push("second"));
    await runner.each("agent_start", {});
    expect(heard).toEqual(["first", "second"]);
    await runner.each("agent_start", {});
    expect(heard.slice(2)).toEqual(["first", "new"]);
  });

  test("one function registered twice is called twice, and each registration ends by itself", async () => {
    const { runner, apis } = runnerBench(1);
    let calls = 0;
    const handler = () => {
      calls += 1;
    };
    const end = apis[0]?.on("agent_start", handler);
    apis[0]?.on("agent_start", handler);
    end?.();
    end?.();
    await runner.each("agent_start", {});
    expect(calls).toBe(1);
  });

  test("what a handler throws is told with the extension and the event, whatever it is", async () => {
    const { runner, apis, faults } = runnerBench(2);
    apis[0]?.on("agent_start", () => {
      throw "a text";
    });
    apis[1]?.on("agent_start", () => Promise.reject(new Error("late")));
    await runner.each("agent_start", {});
    expect(faults).toEqual([
      { extensionPath: "one", event: "agent_start", error: "a text" },
      { extensionPath: "two", event: "agent_start", error: "late" },
    ]);
  });

  test("after 30 s a handler is told of, once, and waited for all the same", async () => {
    vi.useFakeTimers();
    const { runner, apis, faults } = runnerBench(1);
    let finish = () => {};
    apis[0]?.on(
      "agent_start",
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    let isOver = false;
    const round = runner.each("agent_start", {}).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(faults).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(faults).toEqual([
      { extensionPath: "one", event: "agent_start", error: "The handler has not returned for 30 s" },
    ]);
    expect(isOver).toBe(false);
    finish();
    await round;
    expect(vi.getTimerCount()).toBe(0);
  });

  test("an interrupt lets go of the handler that runs, and what it returns later counts for nothing", async () => {
    const { runner, apis } = runnerBench(2);
    const heard: string[] = [];
    apis[0]?.on("session_before_switch", () => new Promise<never>(() => {}));
    apis[1]?.on("session_before_switch", () => void heard.push("two"));
    const cancelled = isCancelled(runner, "session_before_switch", { reason: "new" });
    runner.interrupt();
    expect(await cancelled).toBe(true);
    expect(heard).toEqual([]);
  });
});

describe("commands", () => {
  test("a name that several extensions have gets a number in load order; one's own name is replaced", async () => {
    const { runner, apis } = runnerBench(3);
    const called: string[] = [];
    for (const [index, pi] of apis.entries()) {
      pi.registerCommand("review", { handler: () => void called.push("replaced") });
      pi.registerCommand("review", { handler: () => void called.push(`review of ${index}`) });
    }
    apis[1]?.registerCommand("own", { handler: () => void called.push("own") });
    expect(runner.commands.map(({ name }) => name)).toEqual(["review:1", "review:2", "own", "review:3"]);
    for (const text of ["/review:2 x", "/own", "/review", "own"]) {
      const call = runner.commandIn(text);
      if (call) await runner.runCommand(call.command, call.args);
    }
    expect(called).toEqual(["review of 1", "own"]);
  });

  test.each<[string, string | undefined]>([
    ["/go", ""],
    ["/go ", ""],
    ["/go a  b ", "a  b "],
    ["/go\nx", undefined],
    ["/gone", undefined],
    [" /go", undefined],
    ["/", undefined],
  ])("arguments of %j", (text, args) => {
    const { runner, apis } = runnerBench(1);
    apis[0]?.registerCommand("go", { handler: () => {} });
    expect(runner.commandIn(text)?.args).toBe(args);
  });

  test.each(["", "two words", "tab\t", 5])("%j is no name of a command", (name) => {
    const { apis } = runnerBench(1);
    expect(() => apis[0]?.registerCommand(name as string, { handler: () => {} })).toThrow("Cannot register command");
  });
});

describe("tools", () => {
  const tool = {
    name: "probe",
    description: "",
    parameters: { type: "object" },
    execute: async () => ({ content: [] }),
  };

  test("the same tool by two extensions is refused; by one it is replaced", () => {
    const { runner, apis } = runnerBench(2);
    apis[0]?.registerTool(tool as never);
    apis[0]?.registerTool({ ...tool, label: "again" } as never);
    expect(() => apis[1]?.registerTool(tool as never)).toThrow('Tool "probe" is registered by "one" already');
    expect(runner.tools.map(({ definition, extensionPath }) => [definition.label, extensionPath])).toEqual([
      ["again", "one"],
    ]);
  });
});

describe("invalidate", () => {
  test("members of `pi` and of contexts refuse, and nothing is called any more", async () => {
    const { runner, apis } = runnerBench(1, { host: { mode: "rpc", cwd: "/" } });
    const [pi] = apis as [(typeof apis)[0]];
    const heard: string[] = [];
    pi.on("agent_start", () => void heard.push("agent_start"));
    pi.events.on("news", () => void heard.push("news"));
    pi.registerCommand("go", { handler: () => {} });
    expect(runner.context.cwd).toBe("/");
    runner.invalidate();
    await runner.each("agent_start", {});
    pi.events.emit("news", 1);
    expect(heard).toEqual([]);
    expect(runner.commandIn("/go")).toBeUndefined();
    const stale = /stale: the session was replaced/;
    for (const act of [
      () => pi.on("agent_start", () => {}),
      () => pi.registerTool({} as never),
      () => pi.registerCommand("x", { handler: () => {} }),
      () => pi.sendMessage({ customType: "a", content: "b" }),
      () => pi.setActiveTools([]),
      () => pi.registerProvider("x", {}),
      () => runner.context.cwd,
      () => runner.context.abort(),
      () => runner.commandContext.newSession(),
    ])
      expect(act).toThrow(stale);
    await expect(pi.exec("true")).rejects.toThrow(stale);
  });
});

describe("extensionOf", () => {
  test("finds the extension a stack leads to", () => {
    const { runner } = runnerBench(2);
    expect(runner.extensionOf("Error: x\n    at two:1:1")?.path).toBe("two");
    expect(runner.extensionOf("Error: x\n    at /elsewhere.js:1:1")).toBeUndefined();
  });
});
