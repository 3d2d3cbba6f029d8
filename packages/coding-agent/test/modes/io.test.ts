import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OrderedOutput } from "../../src/modes/io.js";

/** A reader that takes a chunk when the test lets it. */
class Reader extends Writable {
  readonly chunks: string[] = [];
  readonly #takes: (() => void)[] = [];
  /** Takes by itself. */
  eager: boolean;

  constructor({ eager = false, highWaterMark = 16 * 1024 } = {}) {
    super({ highWaterMark });
    this.eager = eager;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.chunks.push(chunk.toString("utf8"));
    if (this.eager) done();
    else this.#takes.push(done);
  }

  get text(): string {
    return this.chunks.join("");
  }

  /** Takes what it was given, and what comes by that, `count` chunks at most. */
  async take(count = Number.POSITIVE_INFINITY): Promise<void> {
    for (let taken = 0; taken < count; taken += 1) {
      await rest();
      const done = this.#takes.shift();
      if (!done) return;
      done();
    }
    await rest();
  }
}

function outputTo(reader: Reader): OrderedOutput {
  return new OrderedOutput(reader, (data, done) => reader.write(data, done));
}

const rest = () => new Promise<void>((resolve) => setImmediate(resolve));
const kilobytes = (count: number, letter = "x") => letter.repeat(count * 1024);

/** Whether a promise has resolved by now. */
async function isDone(promise: Promise<unknown> | undefined): Promise<boolean> {
  let done = promise === undefined;
  void promise?.then(() => {
    done = true;
  });
  await rest();
  return done;
}

describe("OrderedOutput", () => {
  test("what is written in one tick leaves in order, in one piece", async () => {
    const reader = new Reader({ eager: true });
    const output = outputTo(reader);
    expect(output.push("a\n")).toBeUndefined();
    output.push("b\n");
    expect([reader.chunks, output.unsent, output.sent]).toEqual([[], 4, 0]);
    await output.drained(0);
    expect([reader.chunks, output.unsent, output.sent]).toEqual([["a\nb\n"], 0, 4]);
  });

  test("bytes are counted, not characters", async () => {
    const reader = new Reader({ eager: true });
    const output = outputTo(reader);
    output.push("한글😀");
    expect(output.unsent).toBe(10);
    await output.drained(0);
    expect(output.sent).toBe(10);
  });

  test("halves of a character that come one after the other are counted as what they become", async () => {
    const reader = new Reader({ eager: true });
    const output = outputTo(reader);
    for (const half of "😀".split("")) output.push(half);
    await output.drained(0);
    expect([reader.text, output.unsent, output.sent]).toEqual(["😀", 0, 4]);
  });

  test("what has to wait is kept as bytes, what need not is handed over as it is", async () => {
    const given: (string | Buffer)[] = [];
    const reader = new Reader();
    const output = new OrderedOutput(reader, (data, done) => {
      given.push(data);
      return reader.write(data, done);
    });
    for (let at = 0; at < 3; at += 1) output.push(kilobytes(64));
    output.push("last");
    await reader.take();
    expect(given.map((data) => typeof data)).toEqual(["string", "object", "object", "object"]);
  });

  test("all who wait for the same wait for one thing", () => {
    const output = outputTo(new Reader());
    output.push(kilobytes(256));
    expect(output.push(kilobytes(1))).toBe(output.push(kilobytes(1)));
    expect(output.drained(0)).toBe(output.drained(0));
  });

  test("a writer is asked to wait above a limit, until the reader has caught up half-way", async () => {
    const reader = new Reader();
    const output = outputTo(reader);
    expect(output.push(kilobytes(256))).toBeUndefined();
    const behind = output.push(kilobytes(256));
    expect(await isDone(behind)).toBe(false);
    await reader.take(1);
    expect([output.unsent, output.sent, await isDone(behind)]).toEqual([256 * 1024, 256 * 1024, false]);
    await reader.take();
    expect([output.unsent, await isDone(behind)]).toEqual([0, true]);
  });

  test("nothing is handed to a stream that is full: memory stays where it can be counted", async () => {
    const reader = new Reader();
    const output = outputTo(reader);
    for (let at = 0; at < 20; at += 1) output.push(kilobytes(64, String.fromCharCode(97 + at)));
    await rest();
    expect(reader.chunks).toHaveLength(1);
    expect(reader.writableLength).toBe(64 * 1024);
    expect(output.unsent).toBe(20 * 64 * 1024);
    await reader.take();
    expect(reader.chunks.map((chunk) => chunk[0]).join("")).toBe("abcdefghijklmnopqrst");
    expect([output.unsent, output.sent]).toEqual([0, 20 * 64 * 1024]);
  });

  test("a record of many megabytes passes whole, and what follows it stays behind it", async () => {
    const reader = new Reader();
    const output = outputTo(reader);
    output.push("first\n");
    output.push(kilobytes(8 * 1024));
    output.push("last\n");
    expect(output.unsent).toBe(8 * 1024 * 1024 + 11);
    await reader.take();
    expect(reader.text.length).toBe(8 * 1024 * 1024 + 11);
    expect([reader.text.slice(0, 7), reader.text.slice(-6)]).toEqual(["first\nx", "xlast\n"]);
  });

  test("several wait for different amounts", async () => {
    const reader = new Reader();
    const output = outputTo(reader);
    for (let at = 0; at < 4; at += 1) output.push(kilobytes(64));
    const waits = [output.drained(0), output.drained(64 * 1024), output.drained(128 * 1024)];
    const done = async () => Promise.all(waits.map(isDone));
    expect(await done()).toEqual([false, false, false]);
    await reader.take(2);
    expect(await done()).toEqual([false, false, true]);
    await reader.take(1);
    expect(await done()).toEqual([false, true, true]);
    await reader.take(1);
    expect(await done()).toEqual([true, true, true]);
    expect(await isDone(output.drained(0))).toBe(true);
  });

  test("relaxed, nobody is asked to wait, and only who waits for everything still does", async () => {
    const reader = new Reader();
    const output = outputTo(reader);
    const writer = output.push(kilobytes(512));
    const everything = output.drained(0);
    expect(await isDone(writer)).toBe(false);
    output.relax();
    expect([await isDone(writer), await isDone(everything)]).toEqual([true, false]);
    expect(output.push(kilobytes(512))).toBeUndefined();
    expect(await isDone(output.drained(1))).toBe(true);
    await reader.take();
    expect(await isDone(everything)).toBe(true);
  });

  test("a reader that goes ends all waits, tells it once, and takes what is left with it", async () => {
    const reader = new Reader();
    const output = outputTo(reader);
    const told: string[] = [];
    output.onClosed(() => void told.push("first"));
    const behind = output.push(kilobytes(512));
    const everything = output.drained(0);
    reader.destroy(new Error("EPIPE"));
    await Promise.all([behind, everything]);
    await rest();
    expect([output.unsent, output.sent, told]).toEqual([0, 0, ["first"]]);
    expect(output.push("more")).toBeUndefined();
    expect(output.unsent).toBe(0);
    output.onClosed(() => void told.push("second"));
    expect(told).toEqual(["first", "second"]);
    expect(await isDone(output.drained(0))).toBe(true);
  });

  test("whatever is written and taken when: all of it in order, and what is unsent is what was not taken", async () => {
    const step = fc.oneof(
      fc.record({ push: fc.nat(200 * 1024) }),
      fc.record({ take: fc.integer({ min: 1, max: 3 }) }),
      fc.constant("rest" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const reader = new Reader();
        const output = outputTo(reader);
        let written = "";
        for (const [at, one] of steps.entries()) {
          if (one === "rest") await rest();
          else if ("take" in one) await reader.take(one.take);
          else {
            const text = String.fromCharCode(97 + at).repeat(one.push);
            written += text;
            output.push(text);
          }
          expect(output.unsent + output.sent).toBe(written.length);
        }
        await reader.take();
        await output.drained(0);
        expect(reader.text).toBe(written);
        expect([output.unsent, output.sent]).toEqual([0, written.length]);
      }),
      { seed: 4, numRuns: 100 },
    );
  });
});
