import { hold } from "@earendil-works/pi-ai/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EndSignal } from "../../src/modes/io.js";
import { endOnSignal, endOutput, signalExitCodes } from "../../src/modes/shutdown.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** Output whose reader takes what the test says, and has everything when the test says so. */
function slowOutput() {
  const everything = hold();
  return {
    io: { sent: 0, unsent: 1, drained: () => everything.wait().then(() => {}) },
    finish: () => everything.release(),
  };
}

/** Lets the time pass second by second, and gives the seconds after which the promise had resolved. */
async function secondsUntil(promise: Promise<unknown>, each: (second: number) => void = () => {}): Promise<number> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  for (let second = 0; second <= 60; second += 1) {
    for (let tick = 0; tick < 20; tick += 1) await undefined;
    if (done) return second;
    each(second);
    await vi.advanceTimersByTimeAsync(1000);
  }
  return Number.POSITIVE_INFINITY;
}

describe("endOutput", () => {
  test("ends at once when all is sent", async () => {
    const { io, finish } = slowOutput();
    finish();
    expect(await secondsUntil(endOutput(io))).toBe(0);
  });

  test("gives up a reader that takes nothing for a second", async () => {
    const { io } = slowOutput();
    expect(await secondsUntil(endOutput(io))).toBe(1);
  });

  test("waits for a reader that takes something each second, and ends when it has everything", async () => {
    const { io, finish } = slowOutput();
    const seconds = secondsUntil(endOutput(io), (second) => {
      io.sent += 1;
      if (second === 4) finish();
    });
    expect(await seconds).toBe(5);
  });

  test("waits for ten seconds at most", async () => {
    const { io } = slowOutput();
    const seconds = secondsUntil(endOutput(io), () => {
      io.sent += 1;
    });
    expect(await seconds).toBe(10);
  });

  test("a reader that stops in the middle is given up a second later", async () => {
    const { io } = slowOutput();
    const seconds = secondsUntil(endOutput(io), (second) => {
      if (second < 3) io.sent += 1;
    });
    expect(await seconds).toBe(4);
  });

  test("leaves no timer behind", async () => {
    const { io, finish } = slowOutput();
    const end = endOutput(io);
    finish();
    await end;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("endOnSignal", () => {
  const signals = () => {
    const listeners: ((signal: EndSignal) => void)[] = [];
    const exit = vi.fn();
    const io = { onSignal: (listener: (signal: EndSignal) => void) => void listeners.push(listener), exit };
    return { io, exit, signal: (name: EndSignal) => listeners.forEach((listener) => void listener(name)) };
  };

  test.each(Object.entries(signalExitCodes))("%s ends with %i when the end is in order", async (name, code) => {
    const { io, exit } = signals();
    expect(await endOnSignal(io, name as EndSignal, async () => {})).toBe(code);
    expect([exit.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
  });

  test("the codes are those of shells", () => {
    expect(signalExitCodes).toEqual({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 });
  });

  test("an end that takes long is given a second", async () => {
    const { io } = signals();
    expect(await secondsUntil(endOnSignal(io, "SIGTERM", () => new Promise(() => {})))).toBe(1);
  });

  test("a second signal ends at once, with the code of the first", async () => {
    const { io, exit, signal } = signals();
    const end = endOnSignal(io, "SIGTERM", () => new Promise(() => {}));
    signal("SIGINT");
    expect(exit).toHaveBeenCalledExactlyOnceWith(143);
    await vi.advanceTimersByTimeAsync(1000);
    await end;
  });
});
