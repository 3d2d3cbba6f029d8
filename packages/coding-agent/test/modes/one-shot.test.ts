import { fail, hold, stop } from "@earendil-works/pi-ai/testing";
import { describe, expect, test, vi } from "vitest";
import type { ModeInput } from "../../src/modes/index.js";
import { runJsonMode } from "../../src/modes/json.js";
import { runPrintMode } from "../../src/modes/print.js";
import { FakeIo } from "../helpers/fake-io.js";
import { testRuntime } from "./runtime.js";

const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };

const given = (prompts: ModeInput["prompts"]) => ({ prompts, theme: () => undefined });

describe("runPrintMode", () => {
  test("runs the prompts one after another, images too, and prints the last answer's text", async () => {
    const { runtime, scripted } = testRuntime();
    scripted.reply("One").reply("Two\n");
    const io = new FakeIo();
    expect(await runPrintMode(runtime, io, given([{ text: "a", images: [image] }, { text: "b" }]))).toBe(0);
    expect([io.text, io.logged, io.records]).toEqual(["Two\n", [], []]);
    expect(scripted.requests.map(({ context }) => context.messages.length)).toEqual([1, 3]);
    expect(scripted.requests[0]?.context.messages[0]?.content).toEqual([{ type: "text", text: "a" }, image]);
  });

  test("a text without a last newline gets one; an answer without text prints nothing", async () => {
    const { runtime, scripted } = testRuntime();
    scripted.reply("One");
    const io = new FakeIo();
    await runPrintMode(runtime, io, given([{ text: "a" }]));
    expect(io.text).toBe("One\n");
    const silent = testRuntime();
    silent.scripted.reply();
    const quiet = new FakeIo();
    expect([await runPrintMode(silent.runtime, quiet, given([{ text: "a" }])), quiet.text]).toEqual([0, ""]);
  });

  test("a cut answer is printed, told of, and counts as failed", async () => {
    const { runtime, scripted } = testRuntime();
    scripted.reply("Half", stop("length"));
    const io = new FakeIo();
    expect(await runPrintMode(runtime, io, given([{ text: "a" }]))).toBe(1);
    expect([io.text, io.logged]).toEqual(["Half\n", ["pi: The answer was cut off by the output limit"]]);
  });

  test("a failure is told in the provider's words, and nothing is printed", async () => {
    const { runtime, scripted } = testRuntime();
    scripted.reply("Half", fail("invalid_request", "400: no"));
    const io = new FakeIo();
    expect(await runPrintMode(runtime, io, given([{ text: "a" }]))).toBe(1);
    expect([io.text, io.logged]).toEqual(["", ["400: no"]]);
  });

  test("without a prompt there is nothing to do", async () => {
    const io = new FakeIo();
    expect(await runPrintMode(testRuntime().runtime, io, given([]))).toBe(1);
    expect(io.logged).toEqual(["pi: Nothing to do: give a message, or pipe one in"]);
  });

  test("a prompt that is refused is told, and ends it", async () => {
    const { runtime } = testRuntime({ model: null });
    const io = new FakeIo();
    expect(await runPrintMode(runtime, io, given([{ text: "a" }, { text: "b" }]))).toBe(1);
    expect(io.logged).toEqual([expect.stringMatching(/^pi: No model selected\. /)]);
  });
});

describe("runJsonMode", () => {
  test("writes the header, then every event of the stream, deltas without the message", async () => {
    const { runtime, scripted } = testRuntime();
    scripted.reply("One");
    const io = new FakeIo();
    expect(await runJsonMode(runtime, io, given([{ text: "a" }]))).toBe(0);
    expect(io.records[0]).toEqual(runtime.session.store.getHeader());
    expect(io.types().slice(1)).toEqual([
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
      "message_update",
      "message_update",
      "message_update",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    for (const update of io.records.filter(({ type }) => type === "message_update"))
      expect(Object.keys(update)).toEqual(["type", "usage", "assistantMessageEvent"]);
  });

  test("events of RPC only are no part of the stream; a file that cannot be written is told on stderr", async () => {
    const { runtime } = testRuntime();
    const io = new FakeIo();
    const { session } = runtime;
    const run = runJsonMode(runtime, io, given([]));
    await session.bash({ command: "printf x" });
    session.store.onWriteError?.(new Error("No space"));
    expect([await run, io.types(), io.logged]).toEqual([0, ["session"], ['pi: Cannot write "": No space']]);
  });

  test("a failed last run gives exit code 1, a failed earlier one does not end the prompts", async () => {
    const { runtime, scripted } = testRuntime();
    scripted.reply(fail("invalid_request", "no")).reply("Two");
    expect(await runJsonMode(runtime, new FakeIo(), given([{ text: "a" }, { text: "b" }]))).toBe(0);
    const failing = testRuntime();
    failing.scripted.reply("One").reply(fail("invalid_request", "no"));
    expect(await runJsonMode(failing.runtime, new FakeIo(), given([{ text: "a" }, { text: "b" }]))).toBe(1);
  });
});

describe("the end", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s aborts the run in order, and the prompts behind it do not run", async (signal, code) => {
    const { runtime, scripted } = testRuntime();
    const pause = hold();
    scripted.reply("So", pause).reply("Never");
    const io = new FakeIo();
    const run = runJsonMode(runtime, io, given([{ text: "a" }, { text: "b" }]));
    await pause.reached;
    io.signal(signal);
    expect(await run).toBe(code);
    expect(io.records.at(-1)).toEqual({ type: "agent_settled", aborted: true });
    expect([scripted.requests.length, io.relaxed, io.exits]).toEqual([1, true, []]);
  });

  test("a reader that goes ends the run, with exit code 1", async () => {
    const { runtime, scripted } = testRuntime();
    const pause = hold();
    scripted.reply("So", pause);
    const io = new FakeIo();
    const run = runJsonMode(runtime, io, given([{ text: "a" }]));
    await pause.reached;
    io.closeReader();
    expect([await run, runtime.session.isStreaming]).toEqual([1, false]);
  });

  test("the reader is waited for without limit, until a signal cuts it short", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const { runtime, scripted } = testRuntime();
      scripted.reply("One");
      const io = new FakeIo();
      const ended = vi.fn();
      io.reader = new Promise(() => {});
      const run = runJsonMode(runtime, io, given([{ text: "a" }])).then((code) => {
        ended();
        return code;
      });
      await io.list.anywhere({ type: "agent_settled" });
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(ended).not.toHaveBeenCalled();
      io.signal("SIGTERM");
      expect(await run).toBe(143);
    } finally {
      vi.useRealTimers();
    }
  });
});
