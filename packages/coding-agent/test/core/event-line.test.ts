import { hold } from "@earendil-works/pi-ai/testing";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { EventLine } from "../../src/core/event-line.js";
import type { AgentSessionEvent } from "../../src/core/events.js";

const named = (name: string): AgentSessionEvent => ({ type: "session_info_changed", name });
/** No listener of these tests fails unseen. */
const rethrow = (error: unknown) => {
  throw error;
};
const nameOf = (event: AgentSessionEvent) => (event as { name: string }).name;

describe("EventLine", () => {
  test("an event passes the extensions, then the store, then the subscribers in order", () => {
    const steps: string[] = [];
    const line = new EventLine({
      fault: rethrow,
      extensions: () => {
        steps.push("extensions");
        return undefined;
      },
      store: () => void steps.push("store"),
    });
    for (const name of ["first", "second"])
      line.subscribe(() => {
        steps.push(name);
        return undefined;
      });
    expect(line.emit(named("a"))).toBeUndefined();
    expect(steps).toEqual(["extensions", "store", "first", "second"]);
  });

  test("without anybody who waits nothing is a promise; with one who is behind, the emitter waits for all", async () => {
    const line = new EventLine({ fault: rethrow, store: () => {} });
    expect(line.emit(named("a"))).toBeUndefined();
    const [one, two] = [hold(), hold()];
    line.subscribe(() => one.wait().then(() => {}));
    line.subscribe(() => two.wait().then(() => {}));
    const caughtUp = vi.fn();
    const behind = line.emit(named("b"))?.then(caughtUp);
    one.release();
    await one.passed;
    expect(caughtUp).not.toHaveBeenCalled();
    two.release();
    await behind;
    expect(caughtUp).toHaveBeenCalledOnce();
  });

  test("a reader that is behind holds its emitter, and not the events of others", async () => {
    const line = new EventLine({ fault: rethrow, store: () => {} });
    const seen: string[] = [];
    const reader = hold();
    line.subscribe((event) => {
      seen.push(nameOf(event));
      return nameOf(event) === "a" ? reader.wait().then(() => {}) : undefined;
    });
    const first = line.emit(named("a"));
    expect(line.emit(named("b"))).toBeUndefined();
    expect(seen).toEqual(["a", "b"]);
    reader.release();
    await first;
  });

  test("what an extension holds is not stored, and nothing behind it overtakes", async () => {
    const handler = hold();
    const order: string[] = [];
    const line = new EventLine({
      fault: rethrow,
      extensions: (event) => (nameOf(event) === "a" ? handler.wait().then(() => {}) : undefined),
      store: (event) => void order.push(`stored ${nameOf(event)}`),
    });
    line.subscribe((event) => {
      order.push(`told ${nameOf(event)}`);
      return undefined;
    });
    const a = line.emit(named("a"));
    const b = line.emit(named("b"));
    await handler.reached;
    expect(order).toEqual([]);
    handler.release();
    await Promise.all([a, b]);
    expect(order).toEqual(["stored a", "told a", "stored b", "told b"]);
    expect(line.emit(named("c"))).toBeUndefined();
  });

  test("flushed waits for all that was emitted", async () => {
    const handler = hold();
    const seen: string[] = [];
    const line = new EventLine({ fault: rethrow, extensions: () => handler.wait().then(() => {}), store: () => {} });
    line.subscribe((event) => {
      seen.push(nameOf(event));
      return undefined;
    });
    for (const name of ["a", "b", "c"]) void line.emit(named(name));
    const flushed = line.flushed().then(() => expect(seen).toEqual(["a", "b", "c"]));
    handler.release();
    await flushed;
  });

  test("what a listener emits reaches every listener after the event it answers", async () => {
    const line = new EventLine({ fault: rethrow, store: () => {} });
    const seen: string[] = [];
    line.subscribe((event) => {
      if (nameOf(event) === "a") {
        void line.emit(named("b"));
        void line.emit(named("c"));
      }
      return undefined;
    });
    line.subscribe((event) => {
      seen.push(nameOf(event));
      return undefined;
    });
    void line.emit(named("a"));
    const last = line.emit(named("d"));
    await last;
    expect(seen).toEqual(["a", "b", "c", "d"]);
  });

  test("a listener may end itself, or another, while it is called", () => {
    const line = new EventLine({ fault: rethrow, store: () => {} });
    const seen: string[] = [];
    const end = line.subscribe(() => {
      seen.push("first");
      end();
      return undefined;
    });
    line.subscribe(() => {
      seen.push("second");
      return undefined;
    });
    void line.emit(named("a"));
    void line.emit(named("b"));
    expect(seen).toEqual(["first", "second", "second"]);
  });

  test("a handler that fails tells its emitter; the line goes on", async () => {
    const seen: string[] = [];
    const line = new EventLine({
      fault: rethrow,
      extensions: async (event) => {
        if (nameOf(event) === "a") throw new Error("Handler broke");
      },
      store: () => {},
    });
    line.subscribe((event) => {
      seen.push(nameOf(event));
      return undefined;
    });
    const a = line.emit(named("a"));
    const b = line.emit(named("b"));
    await expect(a).rejects.toThrow("Handler broke");
    await b;
    expect(seen).toEqual(["b"]);
  });

  test("a store that throws leaves the line usable", () => {
    let broken = true;
    const seen: string[] = [];
    const line = new EventLine({
      fault: rethrow,
      store: () => {
        if (broken) throw new Error("Store broke");
      },
    });
    line.subscribe((event) => {
      seen.push(nameOf(event));
      return undefined;
    });
    expect(() => line.emit(named("a"))).toThrow("Store broke");
    broken = false;
    expect(line.emit(named("b"))).toBeUndefined();
    expect(seen).toEqual(["b"]);
  });

  test("order is kept whatever handlers, listeners and emitters wait for", async () => {
    const step = fc.record({
      handler: fc.nat(3),
      listener: fc.nat(3),
      waits: fc.boolean(),
      emitsAnother: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const emitted: string[] = [];
        const stored: string[] = [];
        const told: string[][] = [[], []];
        const facts = (event: AgentSessionEvent) => steps[Number(nameOf(event).split(".")[0])];
        const line: EventLine = new EventLine({
          fault: rethrow,
          extensions: (event) => ticks(facts(event)?.handler ?? 0),
          store: (event) => void stored.push(nameOf(event)),
        });
        const emit = (name: string) => {
          emitted.push(name);
          return line.emit(named(name));
        };
        line.subscribe((event) => {
          told[0]?.push(nameOf(event));
          if (facts(event)?.emitsAnother && !nameOf(event).includes(".")) void emit(`${nameOf(event)}.1`);
          return ticks(facts(event)?.listener ?? 0);
        });
        line.subscribe((event) => {
          told[1]?.push(nameOf(event));
          return undefined;
        });
        for (const [at, { waits }] of steps.entries()) {
          const behind = emit(String(at));
          if (waits) await behind;
        }
        await line.flushed();
        await line.flushed();
        expect({ stored, told }).toEqual({ stored: emitted, told: [emitted, emitted] });
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});

/** Resolves after some microtasks; nothing for none. */
function ticks(count: number): undefined | Promise<void> {
  if (count === 0) return undefined;
  return (async () => {
    for (let at = 0; at < count; at += 1) await undefined;
  })();
}
