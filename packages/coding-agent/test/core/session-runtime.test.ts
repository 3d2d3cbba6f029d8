import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hold } from "@earendil-works/pi-ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommandError } from "../../src/core/errors.js";
import type { AgentSessionEvent } from "../../src/core/events.js";
import type { SessionExtensions } from "../../src/core/session-extensions.js";
import { SessionRuntime, type SessionRuntimeOptions } from "../../src/core/session-runtime.js";
import { type AnyHandler, Extension } from "../../src/extensions/extension.js";
import { ExtensionRunner } from "../../src/extensions/runner.js";
import { ExtensionRuntime } from "../../src/extensions/runtime.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { opened } from "../modes/runtime.js";
import { assistant, textOf, user } from "./messages.js";
import { sessionBench, testModel } from "./session.js";

function runtimeBench(options: Partial<SessionRuntimeOptions> = {}, handlers: Record<string, AnyHandler> = {}) {
  const scripted = testModel();
  const first = sessionBench({ extensions: handledBy(handlers) }, scripted).session;
  const runtime = new SessionRuntime({
    ...opened(first),
    create: async (store) => opened(sessionBench({ store }, scripted).session),
    fault: (error) => {
      throw error;
    },
    ...options,
  });
  const events: AgentSessionEvent[] = [];
  runtime.subscribe((event) => {
    events.push(event);
    return undefined;
  });
  return { runtime, first, scripted, events };
}

/** An extension that handles these events. */
function handledBy(handlers: Record<string, AnyHandler>): SessionExtensions {
  const sourceInfo = { path: "x", source: "cli", scope: "temporary", origin: "top-level" } as const;
  const extension = new Extension("x", sourceInfo);
  for (const [event, handler] of Object.entries(handlers)) extension.on(event, handler);
  return {
    runner: new ExtensionRunner({ extensions: [extension], runtime: new ExtensionRuntime() }),
    promptOptions: () => {
      throw new Error("not asked for");
    },
    buildPrompt: () => "",
    setActiveTools: () => {},
  };
}

describe("SessionRuntime", () => {
  test("a new session is empty and its own, and listeners hear it", async () => {
    const { runtime, first, scripted, events } = runtimeBench();
    expect(await runtime.newSession("/parent.jsonl")).toEqual({ cancelled: false });
    const { session } = runtime;
    expect(session).not.toBe(first);
    expect(session.store.getHeader()).toMatchObject({ parentSession: "/parent.jsonl" });
    expect(session.store.getSessionId()).not.toBe(first.store.getSessionId());
    scripted.reply("Hello");
    await session.prompt("hi");
    await session.waitForIdle();
    expect(events.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
    expect([first.messages.length, session.messages.map(textOf)]).toEqual([0, ["hi", "Hello"]]);
  });

  test("a run under way is aborted and stored first, its queue dropped and named, and none of its events come later", async () => {
    const { runtime, first, scripted, events } = runtimeBench();
    const pause = hold();
    scripted.reply("So ", pause);
    await first.prompt("hi");
    await pause.reached;
    await first.steer("s");
    await first.followUp("f");
    expect(await runtime.newSession()).toEqual({ cancelled: false, dropped: { steering: ["s"], followUp: ["f"] } });
    expect(events.at(-1)).toEqual({ type: "agent_settled", aborted: true });
    const count = events.length;
    await first.setName("too late");
    expect(events).toHaveLength(count);
    expect(first.messages.map(textOf)).toEqual(["hi", "So "]);
    expect(runtime.session.state().pendingMessageCount).toBe(0);
  });

  test("a session that cannot be opened leaves the old one as it is, its run going on", async () => {
    const { runtime, first, scripted } = runtimeBench();
    const pause = hold();
    scripted.reply(pause, "Hello");
    await first.prompt("hi");
    await pause.reached;
    await expect(runtime.switchSession("/no/such.jsonl")).rejects.toMatchObject({ code: "not_found" });
    expect([runtime.session, first.isStreaming]).toEqual([first, true]);
    pause.release();
    await first.waitForIdle();
    expect(first.lastAssistantText()).toBe("Hello");
  });

  test("a slow listener holds the session through the runtime", async () => {
    const { runtime, scripted, first } = runtimeBench();
    const reader = hold();
    runtime.subscribe(({ type }) => (type === "turn_start" ? reader.wait().then(() => {}) : undefined));
    scripted.reply("Hello");
    await first.prompt("hi");
    await reader.reached;
    expect(scripted.requests).toHaveLength(0);
    reader.release();
    await first.waitForIdle();
    expect(scripted.requests).toHaveLength(1);
  });

  test("a subscription ends when it is asked to", async () => {
    const { runtime, first } = runtimeBench();
    const seen: string[] = [];
    const end = runtime.subscribe(({ type }) => {
      seen.push(type);
      return undefined;
    });
    await first.setName("one");
    end();
    await first.setName("two");
    expect(seen).toEqual(["session_info_changed"]);
  });
});

describe("switchSession", () => {
  test("goes on in the other file, in its own directory; warnings are passed on", async () => {
    const { folder, file } = storedSession();
    const scripted = testModel();
    const runtime = new SessionRuntime({
      ...opened(sessionBench({}, scripted).session),
      create: async (store) => ({
        ...opened(sessionBench({ store }, scripted).session),
        warnings: ["Its model is gone"],
      }),
      fault: (error) => {
        throw error;
      },
    });
    expect(await runtime.switchSession(file)).toEqual({ cancelled: false, warnings: ["Its model is gone"] });
    expect([runtime.session.store.getSessionFile(), runtime.session.store.getCwd()]).toEqual([file, folder]);
    expect(runtime.session.messages.map(textOf)).toEqual(["hi", "Hello"]);
  });

  test.each<[string, (folder: string) => string, string]>([
    ["a file that is not there", (folder) => join(folder, "none.jsonl"), "not_found"],
    [
      "a file that is no session",
      (folder) => {
        writeFileSync(join(folder, "notes.txt"), "hello");
        return join(folder, "notes.txt");
      },
      "invalid_params",
    ],
    [
      "a newer version",
      (folder) => {
        const header = { type: "session", version: 99, id: "x", timestamp: "2026-01-01T00:00:00.000Z", cwd: folder };
        writeFileSync(join(folder, "new.jsonl"), `${JSON.stringify(header)}\n`);
        return join(folder, "new.jsonl");
      },
      "not_supported",
    ],
    ["a directory", (folder) => folder, "io_error"],
    [
      "a directory of work that is gone",
      (folder) => {
        mkdirSync(join(folder, "gone"));
        const store = SessionManager.create(join(folder, "gone"), folder);
        store.appendMessage(user("hi"));
        store.release();
        rmSync(join(folder, "gone"), { recursive: true });
        return store.getSessionFile() as string;
      },
      "not_found",
    ],
  ])("%s is refused, and the old session stays with its run", async (_, makePath, code) => {
    const { runtime, first, scripted } = runtimeBench();
    const pause = hold();
    scripted.reply(pause, "Hello");
    await first.prompt("hi");
    await pause.reached;
    const error = await runtime.switchSession(makePath(temporaryFolder())).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CommandError);
    expect([(error as CommandError).code, runtime.session, first.isStreaming]).toEqual([code, first, true]);
    pause.release();
    await first.waitForIdle();
  });
});

describe("fork and clone", () => {
  async function talked() {
    const bench = runtimeBench();
    bench.scripted.reply("One").reply("Two");
    for (const text of ["a", "b"]) {
      await bench.first.prompt(text);
      await bench.first.waitForIdle();
    }
    return bench;
  }

  test("fork goes on before a user's message, and gives its text back; the source stays as it was", async () => {
    const { runtime, first } = await talked();
    const messages = runtime.forkMessages();
    expect(messages.map(({ text }) => text)).toEqual(["a", "b"]);
    expect(await runtime.fork(messages[1]!.entryId)).toEqual({ text: "b", cancelled: false });
    expect(runtime.session.messages.map(textOf)).toEqual(["a", "One"]);
    expect(first.messages.map(textOf)).toEqual(["a", "One", "b", "Two"]);
    expect(runtime.session.store.getSessionId()).not.toBe(first.store.getSessionId());
  });

  test("clone goes on in a copy of the whole branch", async () => {
    const { runtime, first, scripted } = await talked();
    expect(await runtime.clone()).toEqual({ cancelled: false });
    scripted.reply("Three");
    await runtime.session.prompt("c");
    await runtime.session.waitForIdle();
    expect(runtime.session.messages.map(textOf)).toEqual(["a", "One", "b", "Two", "c", "Three"]);
    expect(first.messages).toHaveLength(4);
  });

  test("an entry that is no user's message, and an empty session, are refused", async () => {
    const { runtime } = await talked();
    const answer = runtime.session.store.getLeafId() as string;
    for (const id of ["nope", answer])
      await expect(runtime.fork(id)).rejects.toEqual(
        new CommandError("not_found", "Invalid entry ID for forking", "entryId"),
      );
    await runtime.newSession();
    await expect(runtime.clone()).rejects.toEqual(
      new CommandError("nothing_to_do", "Nothing to clone: the session is empty"),
    );
  });
});

describe("a handler before a change", () => {
  test("may refuse it: nothing changes", async () => {
    const changes: unknown[] = [];
    const { runtime, first } = runtimeBench(
      {},
      {
        session_before_switch: (event) => {
          changes.push(event);
          return { cancel: true };
        },
      },
    );
    expect(await runtime.newSession()).toEqual({ cancelled: true });
    expect([changes, runtime.session]).toEqual([[{ type: "session_before_switch", reason: "new" }], first]);
  });

  test("abort ends its wait, and the change with it", async () => {
    const asking = hold();
    const { runtime, first } = runtimeBench({}, { session_before_switch: () => asking.wait() });
    const change = runtime.newSession();
    await asking.reached;
    expect(await runtime.abort()).toBe(1);
    expect(await change).toEqual({ cancelled: true });
    expect(runtime.session).toBe(first);
  });

  test("one that throws does not refuse it", async () => {
    const { runtime, first } = runtimeBench(
      {},
      {
        session_before_switch: () => {
          throw new Error("broken");
        },
      },
    );
    expect(await runtime.newSession()).toEqual({ cancelled: false });
    expect(runtime.session).not.toBe(first);
  });
});

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-runtime-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A session with one exchange, in a file. */
function storedSession(): { folder: string; file: string } {
  const folder = temporaryFolder();
  const store = SessionManager.create(folder, folder);
  store.appendMessage(user("hi"));
  store.appendMessage(assistant("Hello"));
  store.release();
  return { folder, file: store.getSessionFile() as string };
}
