import { hold } from "@earendil-works/pi-ai/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AgentSessionOptions } from "../../../src/core/agent-session.js";
import type { StoredSessions } from "../../../src/core/stored-sessions.js";
import { capabilities } from "../../../src/modes/rpc/capabilities.js";
import { heldAboveUnsent, runRpcMode } from "../../../src/modes/rpc/rpc-mode.js";
import { FakeIo } from "../../helpers/fake-io.js";
import { testRuntime } from "../runtime.js";

afterEach(() => void vi.useRealTimers());

function rpcMode(options: Partial<AgentSessionOptions> = {}) {
  const { runtime, scripted } = testRuntime(options);
  const io = new FakeIo();
  const ended = runRpcMode(runtime, io, {
    stored: {} as StoredSessions,
    diagnostics: () => [],
    capabilities: () => capabilities("1.2.3"),
    commands: () => [],
  });
  return { runtime, scripted, io, ended };
}

const image = { type: "image", data: "AA==", mimeType: "image/png" };

describe("answers", () => {
  test.each<[string, unknown]>([
    ["a text", "a"],
    ["a number", 7],
    ["null", null],
    ["an object", { a: [1, null] }],
    ["false", false],
  ])("the id comes back as it was: %s", async (_, id) => {
    const { io } = rpcMode();
    io.send({ id, type: "get_last_assistant_text" });
    expect(await io.list.anywhere({ type: "response" })).toEqual({
      id,
      type: "response",
      command: "get_last_assistant_text",
      success: true,
      data: { text: null },
    });
  });

  test("without an id there is none; a command without data has none", async () => {
    const { io } = rpcMode();
    io.send({ type: "set_steering_mode", mode: "all" });
    expect(await io.list.anywhere({ type: "response" })).toEqual({
      type: "response",
      command: "set_steering_mode",
      success: true,
    });
  });

  test("a bug is told on stderr, and to the client without the engine's words", async () => {
    const { io, runtime } = rpcMode();
    runtime.session.stats = () => {
      throw new TypeError("Cannot read properties of undefined");
    };
    io.send({ id: 1, type: "get_session_stats" });
    expect(await io.list.anywhere({ type: "response" })).toEqual({
      id: 1,
      type: "response",
      command: "get_session_stats",
      success: false,
      error: "Internal error; details are on stderr",
      code: "internal",
    });
    expect(io.logged).toEqual([expect.stringMatching(/^pi: get_session_stats failed: TypeError: Cannot read/)]);
  });

  test("a command that waited behind a text is checked like any other", async () => {
    const { io } = rpcMode({ model: null });
    io.send(
      { id: 1, type: "prompt", message: "x" },
      { id: 2, type: "bash" },
      { id: 3, type: "compact", customInstructions: 5 },
    );
    await io.list.anywhere({ id: 3 });
    expect(io.records.map(({ id, code, field }) => [id, code, field])).toEqual([
      [1, "no_model", undefined],
      [2, "invalid_params", "command"],
      [3, "invalid_params", "customInstructions"],
    ]);
  });

  test("while much is unsent commands wait, and what stops things does not", async () => {
    const { io } = rpcMode();
    const reader = hold();
    io.unsent = heldAboveUnsent + 1;
    io.reader = reader.wait().then(() => {});
    io.send({ id: 1, type: "get_messages" }, { id: 2, type: "abort" });
    await io.list.anywhere({ id: 2 });
    expect(io.records.map(({ id }) => id)).toEqual([2]);
    io.unsent = 0;
    reader.release();
    await io.list.anywhere({ id: 1 });
  });
});

describe("the end of input", () => {
  test("every record before it is carried out, the run is aborted in order, and what was queued is shown", async () => {
    const { io, ended, scripted } = rpcMode();
    const pause = hold();
    scripted.reply("So", pause);
    io.send({ id: 1, type: "prompt", message: "x" });
    await pause.reached;
    io.send({ id: 2, type: "follow_up", message: "y" }, { id: 3, type: "get_last_assistant_text" });
    io.endInput();
    expect(await ended).toBe(0);
    expect(io.records.slice(-2)).toEqual([
      { type: "queue_update", steering: [], followUp: ["y"] },
      { type: "agent_settled", aborted: true },
    ]);
    expect(io.records.filter(({ type }) => type === "response").map(({ id, success }) => [id, success])).toEqual([
      [1, true],
      [2, true],
      [3, true],
    ]);
  });
});

describe("signals", () => {
  test("an interrupt in a run stops the run and the texts behind it, as abort does; the process goes on", async () => {
    const preparing = hold();
    const { io, scripted, ended } = rpcMode({
      images: {
        maxImages: 1,
        prepareImage: async (given) => {
          await preparing.wait();
          return given;
        },
      },
    });
    const pause = hold();
    scripted.reply("So", pause).reply("Next");
    io.send({ id: 1, type: "prompt", message: "x" });
    await pause.reached;
    io.send(
      { id: 2, type: "steer", message: "y", images: [image] },
      { id: 3, type: "new_session" },
      { id: 4, type: "steer", message: "z" },
    );
    await preparing.reached;
    io.signal("SIGINT");
    preparing.release();
    await io.list.anywhere({ id: 3 });
    expect(
      io.records.filter(({ type }) => type === "response").map(({ id, success, code }) => [id, success, code]),
    ).toEqual(
      expect.arrayContaining([
        [1, true, undefined],
        [2, false, "cancelled"],
        [3, true, undefined],
        [4, false, "cancelled"],
      ]),
    );
    io.send({ id: 5, type: "prompt", message: "again" });
    await io.list.anywhere({ id: 5, success: true });
    io.endInput();
    expect(await ended).toBe(0);
  });

  test("an interrupt without a run ends the process", async () => {
    const { io, ended } = rpcMode();
    io.signal("SIGINT");
    expect(await ended).toBe(130);
  });

  test("a signal after the end of input is heard, though the reader takes nothing", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { io, ended } = rpcMode();
    io.reader = new Promise(() => {});
    io.unsent = 1;
    io.send({ id: 1, type: "get_messages" });
    io.endInput();
    await io.list.anywhere({ id: 1 });
    io.signal("SIGTERM");
    await vi.advanceTimersByTimeAsync(1000);
    expect(await ended).toBe(143);
  });

  test("a reader that goes ends it with 0, the run aborted", async () => {
    const { io, ended, scripted, runtime } = rpcMode();
    const pause = hold();
    scripted.reply("So", pause);
    io.send({ id: 1, type: "prompt", message: "x" });
    await pause.reached;
    io.closeReader();
    expect([await ended, runtime.session.isStreaming]).toEqual([0, false]);
  });
});
