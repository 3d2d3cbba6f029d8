import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { inTime } from "../../src/lib/in-time.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("inTime", () => {
  test("is true for what resolves or rejects before the limit, and leaves no timer", async () => {
    expect(await inTime(Promise.resolve(5), 1000)).toBe(true);
    expect(await inTime(Promise.reject(new Error("x")), 1000)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is false at the limit; a rejection that comes later is nobody's", async () => {
    let reject: (error: Error) => void = () => {};
    const open = new Promise<void>((_, refuse) => {
      reject = refuse;
    });
    const answer = inTime(open, 1000);
    await vi.advanceTimersByTimeAsync(999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toBe(false);
    reject(new Error("late"));
  });

  test("keeps the process alive, so that what comes after the wait is done", () => {
    const code = `const inTime = ${inTime.toString()}; await inTime(new Promise(() => {}), 1); console.log("after");`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    expect(output).toBe("after\n");
  });
});
