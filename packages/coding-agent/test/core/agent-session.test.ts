import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, hold, toolCall, usage } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommandError } from "../../src/core/errors.js";
import { SessionLockedError } from "../../src/sessions/session-error.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { textOf } from "./messages.js";
import { sessionBench, testModel } from "./session.js";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pi-core-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const entriesOf = (store: SessionManager) =>
  store.getEntries().map((entry) => {
    switch (entry.type) {
      case "message":
        return `${entry.message.role} ${textOf(entry.message)}`;
      case "model_change":
        return `model ${entry.modelId}`;
      case "thinking_level_change":
        return `level ${entry.thinkingLevel}`;
      default:
        return entry.type;
    }
  });

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof CommandError ? [error.code, error.message, error.field] : error),
  );

describe("a prompt", () => {
  test("is in the file before it is answered, and the session's first entries with it", async () => {
    const folder = temporaryFolder();
    const { session, scripted } = sessionBench({ store: SessionManager.create("/", folder) });
    const pause = hold();
    scripted.reply(pause, "Hello");
    expect(() => readFileSync(session.store.getSessionFile() as string)).toThrow();
    expect(await session.prompt("hi")).toBe("started");
    const lines = readFileSync(session.store.getSessionFile() as string, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(
      lines.map(({ type, modelId, thinkingLevel, message }) => [type, modelId ?? thinkingLevel ?? message?.role]),
    ).toEqual([
      ["session", undefined],
      ["model_change", "scripted"],
      ["thinking_level_change", "medium"],
      ["message", "user"],
    ]);
    pause.release();
    await session.waitForIdle();
    await session.dispose();
  });

  test("is answered before its run announces anything, and the run shows at once", async () => {
    const { session, scripted, events, outline } = sessionBench();
    scripted.reply("Hello");
    const answered = session.prompt("hi").then(() => [...events]);
    expect(session.state().isStreaming).toBe(true);
    expect(await answered).toEqual([]);
    expect(session.isStreaming).toBe(true);
    await session.waitForIdle();
    expect(outline()).toEqual([
      "agent_start",
      "turn_start",
      "message_start user hi",
      "message_end user hi",
      "message_start assistant",
      "message_end assistant Hello",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(entriesOf(session.store)).toEqual(["model scripted", "level medium", "user hi", "assistant Hello"]);
    expect(session.messages.map(textOf)).toEqual(["hi", "Hello"]);
    expect(session.lastAssistantText()).toBe("Hello");
  });

  test("reaches the model with system prompt, key, headers, level and session", async () => {
    const { session, scripted } = sessionBench({ streamOptions: { idleTimeoutMs: 99 } });
    scripted.reply("Hello");
    await session.prompt("hi");
    await session.waitForIdle();
    const { context, options } = scripted.requests[0]!;
    const { signal, ...rest } = options;
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(rest).toEqual({
      apiKey: "key",
      headers: { "x-test": "1" },
      thinkingLevel: "medium",
      sessionId: session.store.getSessionId(),
      idleTimeoutMs: 99,
    });
    expect(context).toMatchObject({ systemPrompt: "Be brief", tools: [] });
  });

  test("during a run it is refused as busy, or queued as it says", async () => {
    const { session, scripted, outline } = sessionBench();
    const pause = hold();
    scripted.reply("One", pause).reply("Two").reply("Three");
    await session.prompt("hi");
    await pause.reached;
    expect(await refusal(session.prompt("no"))).toEqual([
      "busy",
      'The agent is running. Set streamingBehavior to "steer" or "followUp" to queue the message',
      undefined,
    ]);
    expect(await session.prompt("f", { streamingBehavior: "followUp" })).toBe("queued");
    expect(await session.prompt("s", { streamingBehavior: "steer" })).toBe("queued");
    expect(session.state().pendingMessageCount).toBe(2);
    pause.release();
    await session.waitForIdle();
    expect(outline().filter((line) => line.startsWith("message_end") || line.startsWith("queue"))).toEqual([
      "message_end user hi",
      "queue_update  | f",
      "queue_update s | f",
      "message_end assistant One",
      "queue_update  | f",
      "message_end user s",
      "message_end assistant Two",
      "queue_update  | ",
      "message_end user f",
      "message_end assistant Three",
    ]);
  });

  test("two at once: the first is accepted, the second judged when that is known", async () => {
    const { session, scripted } = sessionBench();
    const pause = hold();
    scripted.reply(pause);
    const fates = Promise.all([session.prompt("a"), refusal(session.prompt("b"))]);
    expect(session.state()).toMatchObject({ isStreaming: true, accepting: 2 });
    expect(await fates).toEqual(["started", ["busy", expect.any(String), undefined]]);
    expect(session.state()).not.toHaveProperty("accepting");
    await session.abort();
  });

  test.each([
    ["no model", { model: null }, "no_model", /^No model selected\. /],
    [
      "no credentials",
      {
        models: {
          find: () => undefined,
          getAvailable: () => [],
          hasCredentials: () => false,
          resolveRequest: async () => ({}),
        },
      },
      "no_credentials",
      /^No credentials for provider "scripted"\. /,
    ],
  ])("with %s it is refused before it has effects", async (_, options, code, message) => {
    const { session, events } = sessionBench(options);
    expect(await refusal(session.prompt("hi"))).toEqual([code, expect.stringMatching(message), undefined]);
    expect([session.messages, events, session.isStreaming]).toEqual([[], [], false]);
  });

  test("its model answers the first turn, whatever is chosen meanwhile; later turns take the new one", async () => {
    const other = testModel({ id: "other" });
    const scripted = testModel();
    const { session } = sessionBench(
      {
        models: {
          find: () => other.model,
          getAvailable: () => [scripted.model, other.model],
          hasCredentials: () => true,
          resolveRequest: async () => ({}),
        },
        tools: [
          {
            name: "noop",
            description: "",
            parameters: Type.Object({}),
            execute: async () => ({ content: [{ type: "text", text: "done" }] }),
          },
        ],
      },
      scripted,
    );
    scripted.reply(toolCall("noop", {}));
    other.reply("From the other");
    await session.prompt("hi");
    await session.models.set("any", "other");
    await session.waitForIdle();
    expect([scripted.requests.length, other.requests.length]).toEqual([1, 1]);
    expect(entriesOf(session.store)).toEqual([
      "model scripted",
      "level medium",
      "user hi",
      "model other",
      "assistant noop()",
      "toolResult done",
      "assistant From the other",
    ]);
  });

  test("a key that cannot be had fails the run, not the process", async () => {
    const scripted = testModel();
    const { session, events } = sessionBench(
      {
        models: {
          find: () => undefined,
          getAvailable: () => [],
          hasCredentials: () => true,
          resolveRequest: () => Promise.reject(new Error("Key command failed")),
        },
      },
      scripted,
    );
    await session.prompt("hi");
    await session.waitForIdle();
    expect(session.outcome?.last).toMatchObject({ stopReason: "error", errorMessage: "Key command failed" });
    expect(events.at(-1)).toEqual({ type: "agent_settled", aborted: false });
  });
});

describe("steer and followUp", () => {
  test("start a run when idle", async () => {
    const { session, scripted, requests } = sessionBench();
    scripted.reply("One").reply("Two");
    expect(await session.steer("a")).toBe("started");
    await session.waitForIdle();
    expect(await session.followUp("b")).toBe("started");
    await session.waitForIdle();
    expect(requests()).toEqual([["a"], ["a", "One", "b"]]);
  });

  test("carry images through the queue", async () => {
    const { session, scripted } = sessionBench({
      images: { maxImages: 1, prepareImage: async (image) => ({ ...image, data: `small ${image.data}` }) },
    });
    const pause = hold();
    scripted.reply(pause, "One").reply("Two");
    await session.prompt("hi");
    await pause.reached;
    const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
    await session.steer("", { images: [image] });
    expect(await refusal(session.followUp("x", { images: [image, image] }))).toEqual([
      "invalid_params",
      "A message can carry 1 images at most",
      "images",
    ]);
    pause.release();
    await session.waitForIdle();
    expect(scripted.requests[1]?.context.messages.at(-1)?.content).toEqual([{ ...image, data: "small AA==" }]);
    expect(session.state().pendingMessageCount).toBe(0);
  });

  test("a queue mode that changes during the run counts for the next delivery", async () => {
    const { session, scripted, requests } = sessionBench();
    const pause = hold();
    scripted.reply(pause, "One").reply("Two");
    await session.prompt("hi");
    await pause.reached;
    await session.followUp("a");
    await session.followUp("b");
    session.queueModes.followUp = "all";
    expect(session.state().followUpMode).toBe("all");
    pause.release();
    await session.waitForIdle();
    expect(requests()[1]).toEqual(["hi", "One", "a", "b"]);
  });
});

describe("abort", () => {
  test("before the key is there: the answer names the model", async () => {
    const scripted = testModel();
    const asked = hold();
    const models = {
      find: () => scripted.model,
      getAvailable: () => [scripted.model],
      hasCredentials: () => true,
      resolveRequest: async () => {
        await asked.wait();
        return {};
      },
    };
    const { session } = sessionBench({ models }, scripted);
    await session.prompt("hi");
    await asked.reached;
    await session.abort();
    const { api, provider, id } = scripted.model;
    expect(session.messages.at(-1)).toMatchObject({ api, provider, model: id, stopReason: "aborted" });
    asked.release();
  });

  test("stops the run and what is being accepted, and says how much", async () => {
    const preparing = hold();
    const { session, scripted, outline } = sessionBench({
      images: {
        maxImages: 1,
        prepareImage: async (image) => {
          await preparing.wait();
          return image;
        },
      },
    });
    const pause = hold();
    scripted.reply(pause, "Never");
    await session.prompt("hi");
    await pause.reached;
    const late = refusal(session.steer("late", { images: [{ type: "image", data: "AA==", mimeType: "image/png" }] }));
    await preparing.reached;
    expect(await session.abort()).toBe(2);
    preparing.release();
    expect(await late).toEqual(["cancelled", "Cancelled by abort before it was accepted", undefined]);
    expect(outline().at(-1)).toBe("agent_settled aborted");
    expect(await session.abort()).toBe(0);
  });

  test("a prompt that waits for the session's file does not start after it", async () => {
    const waiting = hold();
    const store = SessionManager.inMemory("/");
    store.acquire = async () => {
      await waiting.wait();
    };
    const { session, events } = sessionBench({ store });
    const prompt = refusal(session.prompt("hi"));
    await waiting.reached;
    expect(await session.abort()).toBe(1);
    waiting.release();
    expect(await prompt).toEqual(["cancelled", "Cancelled by abort before it was accepted", undefined]);
    expect([events, session.messages, session.isStreaming]).toEqual([[], [], false]);
  });

  test("keeps the queue, which goes out with the next prompt", async () => {
    const { session, scripted, requests, outline } = sessionBench();
    const pause = hold();
    scripted.reply(pause, "Never").reply("One").reply("Two");
    await session.prompt("hi");
    await pause.reached;
    await session.steer("s");
    await session.followUp("f");
    await session.abort();
    expect(outline().slice(-2)).toEqual(["queue_update s | f", "agent_settled aborted"]);
    await session.prompt("again");
    await session.waitForIdle();
    expect(requests().slice(1)).toEqual([
      ["hi", "again", "s"],
      ["hi", "again", "s", "One", "f"],
    ]);
  });
});

describe("bash", () => {
  test("is streamed with its id, answered, and seen by the model with the next prompt", async () => {
    const { session, scripted, events } = sessionBench();
    const result = await session.bash({ command: "printf 'a\\n'", id: 7 });
    expect(result).toEqual({ output: "a\n", exitCode: 0, cancelled: false, truncated: false });
    expect(events).toEqual([{ type: "bash_execution_update", id: 7, delta: "a\n" }]);
    scripted.reply("I see");
    await session.prompt("hi");
    await session.waitForIdle();
    expect(scripted.requests[0]?.context.messages[0]?.content).toEqual([
      { type: "text", text: "Ran `printf 'a\\n'`\n```\na\n\n```" },
    ]);
    expect(session.messages[0]).toEqual({
      role: "bashExecution",
      command: "printf 'a\\n'",
      ...result,
      timestamp: expect.any(Number),
    });
  });

  test("excluded from the context it is in the session and in no request", async () => {
    const { session, scripted, requests } = sessionBench();
    await session.bash({ command: "true", excludeFromContext: true });
    scripted.reply("Hello");
    await session.prompt("hi");
    await session.waitForIdle();
    expect(requests()).toEqual([["hi"]]);
    expect(entriesOf(session.store).slice(0, 3)).toEqual(["model scripted", "level medium", "bashExecution $ true"]);
  });

  test("in a run it is answered at once, joins after the run's last message, and is in no request of that run", async () => {
    const { session, scripted, requests, next } = sessionBench();
    const pause = hold();
    scripted.reply("One", pause).reply("Two").reply("Three");
    await session.prompt("hi");
    await pause.reached;
    expect((await session.bash({ command: "printf x" })).output).toBe("x");
    await session.followUp("more");
    expect(session.messages.map(textOf)).toEqual(["hi"]);
    pause.release();
    await next("agent_settled");
    expect(session.messages.map(textOf)).toEqual(["hi", "One", "more", "Two", "$ printf x"]);
    expect(requests()[1]).toEqual(["hi", "One", "more"]);
    await session.prompt("next");
    await session.waitForIdle();
    expect(requests()[2]?.slice(-2)).toEqual(["Ran `printf x`\n```\nx\n```", "next"]);
  });

  test("abortBash stops all commands and no run; abort stops the run and no command", async () => {
    const { session, scripted } = sessionBench();
    const pause = hold();
    scripted.reply(pause);
    const commands = [session.bash({ command: "sleep 60" }), session.bash({ command: "sleep 60" })];
    await session.prompt("hi");
    await pause.reached;
    expect(await session.abort()).toBe(1);
    expect(session.abortBash()).toBe(2);
    const cancelled = { output: "", cancelled: true, truncated: false };
    expect(await Promise.all(commands)).toEqual([cancelled, cancelled]);
    expect(session.abortBash()).toBe(0);
  });

  test("needs a command", async () => {
    const { session } = sessionBench();
    expect(await refusal(session.bash({ command: " \n" }))).toEqual([
      "invalid_params",
      "A command needs text",
      "command",
    ]);
    expect(session.messages).toEqual([]);
  });
});

describe("the session's own facts", () => {
  test("a name is trimmed, stored and announced; an empty one is refused", async () => {
    const { session, events } = sessionBench();
    await session.setName("  My work \n");
    expect(events).toEqual([{ type: "session_info_changed", name: "My work" }]);
    expect(session.state().sessionName).toBe("My work");
    expect(await refusal(session.setName(" "))).toEqual(["invalid_params", "Session name cannot be empty", "name"]);
    expect(events).toHaveLength(1);
  });

  test("state, whole: in memory, idle", () => {
    const { session, scripted } = sessionBench();
    expect(session.state()).toEqual({
      model: scripted.model,
      thinkingLevel: "medium",
      isStreaming: false,
      isCompacting: false,
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      sessionId: session.store.getSessionId(),
      autoCompactionEnabled: true,
      messageCount: 0,
      pendingMessageCount: 0,
    });
  });

  test("state without a model says null", () => {
    expect(sessionBench({ model: null }).session.state().model).toBeNull();
  });

  test("a resumed session notes a different model when it is written to again, and not before", async () => {
    const first = sessionBench();
    first.scripted.reply("Hello");
    await first.session.prompt("hi");
    await first.session.waitForIdle();
    const { store } = first.session;
    const same = sessionBench({ store }, first.scripted);
    expect(entriesOf(store)).toHaveLength(4);
    same.scripted.reply("Again");
    await same.session.prompt("more");
    await same.session.waitForIdle();
    expect(entriesOf(store).slice(4)).toEqual(["user more", "assistant Again"]);
    const other = sessionBench({ store, thinkingLevel: "high" }, testModel({ id: "other" }));
    expect(entriesOf(store)).toHaveLength(6);
    expect(other.session.messages.map(textOf)).toEqual(["hi", "Hello", "more", "Again"]);
    other.scripted.reply("New");
    await other.session.prompt("third");
    await other.session.waitForIdle();
    expect(entriesOf(store).slice(6)).toEqual(["model other", "level high", "user third", "assistant New"]);
  });

  test("a failed answer stays in the session and leaves the requests", async () => {
    const { session, scripted, requests } = sessionBench();
    scripted.reply("Half", fail("invalid_request", "Bad")).reply("Whole");
    await session.prompt("a");
    await session.waitForIdle();
    expect(session.outcome).toMatchObject({ aborted: false, last: { stopReason: "error", errorMessage: "Bad" } });
    await session.prompt("b");
    await session.waitForIdle();
    expect(requests()[1]).toEqual(["a", "b"]);
    expect(session.messages.map(textOf)).toEqual(["a", "Half", "b", "Whole"]);
  });

  test("stats count what was used", async () => {
    const { session, scripted } = sessionBench();
    scripted.reply("Hello", usage({ input: 10, output: 5 }));
    await session.prompt("hi");
    await session.waitForIdle();
    expect(session.stats()).toEqual({
      sessionId: session.store.getSessionId(),
      userMessages: 1,
      assistantMessages: 1,
      toolCalls: 0,
      toolResults: 0,
      totalMessages: 2,
      tokens: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 },
      cost: 0,
      contextUsage: { tokens: 15, contextWindow: 128_000, percent: (15 / 128_000) * 100 },
    });
  });

  test("the last answer's text: joined blocks of the last answer that has any; null without one", async () => {
    const { session, scripted } = sessionBench();
    expect(session.lastAssistantText()).toBeNull();
    scripted.reply("One ", toolCall("nope", {}), "two").reply(toolCall("nope", {})).reply(fail("server"));
    await session.prompt("hi");
    await session.waitForIdle();
    expect(session.lastAssistantText()).toBe("One two");
  });

  test("another owner of the file refuses every change, by name", async () => {
    const store = SessionManager.inMemory("/");
    const { session, events } = sessionBench({ store });
    const locked = new SessionLockedError("/s.jsonl", { host: "here", pid: 7, token: "t" });
    store.acquire = () => Promise.reject(locked);
    const fates = await Promise.all([
      refusal(session.prompt("hi")),
      refusal(session.setName("name")),
      refusal(session.bash({ command: "true" })),
    ]);
    const text = 'Cannot write session "/s.jsonl": process 7 on host "here" is writing it';
    expect(fates).toEqual(Array(3).fill(["session_locked", text, undefined]));
    expect([events, session.messages, session.isStreaming]).toEqual([[], [], false]);
  });

  test("a file that cannot be written is announced; the conversation goes on in memory", async () => {
    const store = SessionManager.inMemory("/");
    const { events } = sessionBench({ store });
    store.onWriteError?.(new Error("No space"));
    expect(events).toEqual([{ type: "session_write_error", path: "", error: "No space" }]);
  });

  test("dispose ends the run and the commands, and delivers every event before it resolves", async () => {
    const { session, scripted, outline } = sessionBench();
    const pause = hold();
    scripted.reply(pause);
    const command = session.bash({ command: "sleep 60" });
    await session.prompt("hi");
    await pause.reached;
    await session.dispose();
    expect(outline().at(-1)).toBe("agent_settled aborted");
    expect((await command).cancelled).toBe(true);
  });
});
