import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputCapture } from "../../src/tools/output-capture.js";
import { OutputLog } from "../../src/tools/output-log.js";
import { truncateTail } from "../../src/tools/truncate.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();

describe("OutputCapture", () => {
  test("shows for any pieces what truncateTail shows for the whole, and keeps the whole in the log", async () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.integer({ min: 1, max: 60_000 }).map((length) => "é".repeat(length)),
      fc.integer({ min: 1, max: 1500 }).map((count) => "x\n".repeat(count)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const capture = new OutputCapture(folder.path);
        for (const text of pieces) await capture.add(text);
        await capture.end();
        const whole = pieces.join("");
        const wanted = truncateTail(whole);
        expect(capture.snapshot()).toEqual(wanted);
        expect(capture.logPath !== undefined).toBe(wanted.truncated);
        if (capture.logPath) expect(readFileSync(capture.logPath, "utf8")).toBe(whole);
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  test("shows the end when there is no place for a log", async () => {
    const capture = new OutputCapture(join(folder.path, "missing"));
    capture.add("x".repeat(60_000));
    await capture.end();
    expect(capture.logPath).toBeUndefined();
    expect(capture.snapshot().content).toBe("x".repeat(51_200));
  });
});

describe("OutputLog", () => {
  test("is a private file with a name of its own", async () => {
    const log = new OutputLog(folder.path);
    log.write("text", 4);
    expect(await log.end()).toBe(true);
    expect(readdirSync(folder.path)).toEqual([expect.stringMatching(/^pi-bash-[0-9a-f]+\.log$/)]);
    expect(statSync(log.path).mode & 0o777).toBe(0o600);
    expect(readFileSync(log.path, "utf8")).toBe("text");
  });

  test("asks to wait when the disk has much to do, and stops at 200 MB", async () => {
    const log = new OutputLog(folder.path);
    const megabyte = "x".repeat(1024 * 1024);
    expect(log.write(megabyte.slice(1), megabyte.length - 1)).toBeUndefined();
    for (let count = 1; count < 200; count++) await log.write(megabyte, megabyte.length);
    expect(log.isComplete).toBe(true);
    expect(log.write("ab", 2)).toBeUndefined();
    expect(log.isComplete).toBe(false);
    await log.end();
    expect(statSync(log.path).size).toBe(200 * 1024 * 1024 - 1);
  });
});
