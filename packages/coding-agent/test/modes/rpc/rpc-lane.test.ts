import { hold } from "@earendil-works/pi-ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CommandLane } from "../../../src/modes/rpc/rpc-lane.js";
import type { RpcCommandName } from "../../../src/modes/rpc/rpc-types.js";

/** A lane whose commands write down when they start, end and are cancelled, and end when the test says so. */
class LaneBench {
  readonly log: string[] = [];
  held: Promise<void> | undefined;
  readonly lane = new CommandLane({ hold: () => this.held });
  readonly #ends = new Map<string, () => void>();

  submit(name: RpcCommandName, label: string = name, ready?: () => Promise<void>): void {
    this.lane.submit({
      name,
      ...(ready && { ready }),
      run: (cancelled) => {
        this.log.push(cancelled > 0 ? `${label} starts, ${cancelled} cancelled` : `${label} starts`);
        return new Promise((resolve) => {
          this.#ends.set(label, () => {
            this.log.push(`${label} ends`);
            resolve();
          });
        });
      },
      cancel: (by) => void this.log.push(`${label} cancelled by ${by}`),
    });
  }

  async end(label: string): Promise<void> {
    const end = this.#ends.get(label);
    if (!end) throw new Error(`${label} is not running`);
    end();
    await rest();
  }

  get running(): string[] {
    return [...this.#ends.keys()];
  }
}

/** Lets everything go on that waits for nothing outside. */
const rest = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("CommandLane", () => {
  test("commands that change nothing in steps start at once, one after another, long ones side by side", async () => {
    const bench = new LaneBench();
    for (const name of ["bash", "get_messages", "compact", "clear_queue"] as const) bench.submit(name);
    expect(bench.log).toEqual(["bash starts", "get_messages starts", "compact starts", "clear_queue starts"]);
  });

  test("texts follow one another; what is behind them waits until their fate is known, who only looks does not", async () => {
    const bench = new LaneBench();
    for (const name of ["prompt", "steer", "bash", "follow_up", "get_state"] as const) bench.submit(name);
    // get_state looks at what is: bash stands between it and now.
    expect(bench.log).toEqual(["prompt starts", "steer starts"]);
    expect(bench.lane.waitingTexts).toBe(1);
    await bench.end("prompt");
    expect(bench.log.slice(2)).toEqual(["prompt ends"]);
    await bench.end("steer");
    expect(bench.log.slice(3)).toEqual(["steer ends", "bash starts", "follow_up starts", "get_state starts"]);
    expect(bench.lane.waitingTexts).toBe(0);
  });

  test("who only looks sees texts whose fate is open", async () => {
    const bench = new LaneBench();
    bench.submit("prompt");
    bench.submit("get_state");
    expect(bench.log).toEqual(["prompt starts", "get_state starts"]);
  });

  test.each([
    "new_session",
    "switch_session",
    "fork",
    "clone",
    "set_model",
    "set_thinking_level",
    "set_session_name",
    "navigate_tree",
    "set_label",
    "rename_session",
    "delete_session",
  ] as const)("everything behind %s waits until it is done", async (name) => {
    const bench = new LaneBench();
    for (const each of [name, "get_state", "prompt", "bash"] as const) bench.submit(each);
    expect(bench.log).toEqual([`${name} starts`]);
    await bench.end(name);
    expect(bench.log.slice(2)).toEqual(["get_state starts", "prompt starts"]);
    await bench.end("prompt");
    expect(bench.log.at(-1)).toBe("bash starts");
  });

  test("what ends a wait is never held", async () => {
    const bench = new LaneBench();
    bench.held = new Promise(() => {});
    bench.submit("new_session");
    for (const name of ["abort_bash", "abort_retry", "abort"] as const) bench.submit(name);
    expect(bench.log).toEqual(["abort_bash starts", "abort_retry starts", "abort starts"]);
  });

  test("abort cancels the texts that wait, in their order, and nothing else", async () => {
    const bench = new LaneBench();
    for (const name of ["new_session", "prompt", "set_model", "steer"] as const) bench.submit(name);
    bench.submit("abort");
    expect(bench.log.slice(1)).toEqual([
      "prompt cancelled by abort",
      "steer cancelled by abort",
      "abort starts, 2 cancelled",
    ]);
    await bench.end("new_session");
    expect(bench.log.at(-1)).toBe("set_model starts");
    expect(bench.lane.waitingTexts).toBe(0);
  });

  test("abort_bash cancels the commands that wait", async () => {
    const bench = new LaneBench();
    for (const name of ["prompt", "bash", "get_tree"] as const) bench.submit(name);
    bench.submit("abort_bash");
    await bench.end("prompt");
    expect(bench.log).toEqual([
      "prompt starts",
      "bash cancelled by abort_bash",
      "abort_bash starts, 1 cancelled",
      "prompt ends",
      "get_tree starts",
    ]);
  });

  test("a text cancelled while its check is loaded is not started", async () => {
    const bench = new LaneBench();
    const loading = hold();
    bench.submit("prompt", "first", () => loading.wait().then(() => {}));
    bench.submit("prompt", "second");
    bench.submit("abort");
    bench.submit("prompt", "third");
    loading.release();
    await rest();
    expect(bench.log).toEqual([
      "first cancelled by abort",
      "second cancelled by abort",
      "abort starts, 2 cancelled",
      "third starts",
    ]);
  });

  test("a command that had to wait for another is prepared all the same", async () => {
    const bench = new LaneBench();
    const prepared: string[] = [];
    const ready = (name: string) => async () => void prepared.push(name);
    bench.submit("prompt");
    bench.submit("bash", "bash", ready("bash"));
    bench.submit("set_model", "set_model", ready("set_model"));
    await bench.end("prompt");
    expect(bench.log.slice(2)).toEqual(["bash starts", "set_model starts"]);
    expect(prepared).toEqual(["bash", "set_model"]);
  });

  test("a reader that is far behind holds the line; an end of holding lets it go on", async () => {
    const bench = new LaneBench();
    const reader = hold();
    bench.held = reader.wait().then(() => {});
    bench.submit("get_messages");
    bench.submit("prompt");
    await rest();
    expect(bench.log).toEqual([]);
    bench.held = undefined;
    reader.release();
    await rest();
    expect(bench.log).toEqual(["get_messages starts", "prompt starts"]);
  });

  test("a hold that is let go while much is unsent holds nobody twice", async () => {
    const bench = new LaneBench();
    bench.held = Promise.resolve();
    bench.submit("get_messages");
    bench.submit("get_tree");
    await rest();
    expect(bench.log).toEqual(["get_messages starts", "get_tree starts"]);
  });

  test("idle: all has started, texts and changes are done; answered: all is done", async () => {
    const bench = new LaneBench();
    for (const name of ["bash", "prompt", "set_model"] as const) bench.submit(name);
    const order: string[] = [];
    const idle = bench.lane.idle().then(() => order.push("idle"));
    const answered = bench.lane.answered().then(() => order.push("answered"));
    await bench.end("prompt");
    await bench.end("set_model");
    await idle;
    expect(order).toEqual(["idle"]);
    await bench.end("bash");
    await answered;
    expect(order).toEqual(["idle", "answered"]);
  });
});

describe("whatever comes and ends when", () => {
  const commands = [
    "prompt",
    "steer",
    "follow_up",
    "get_state",
    "get_capabilities",
    "bash",
    "get_messages",
    "clear_queue",
    "new_session",
    "set_model",
    "abort",
    "abort_bash",
  ] as const satisfies RpcCommandName[];
  const texts: readonly string[] = ["prompt", "steer", "follow_up"];
  const changes: readonly string[] = ["new_session", "set_model"];
  const onlookers: readonly string[] = ["get_state", "get_capabilities"];
  const stops: Record<string, readonly string[]> = { abort: texts, abort_bash: ["bash"] };
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ name: fc.constantFrom(...commands), ready: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ end: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant("rest" as const) },
  );

  test("commands start in the order they came, none before what it waits for is done, and each has one end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const bench = new LaneBench();
        const submitted: string[] = [];
        const open = () =>
          bench.log
            .filter((line) => line.includes("starts"))
            .map((line) => line.split(" ")[0]!)
            .filter((label) => !bench.log.includes(`${label} ends`));
        for (const one of steps) {
          if (one === "rest") await rest();
          else if ("end" in one) {
            const running = open();
            if (running.length > 0) await bench.end(running[one.end % running.length]!);
          } else {
            const label = `${one.name}#${submitted.length}`;
            submitted.push(label);
            bench.submit(one.name, label, one.ready ? async () => {} : undefined);
          }
        }
        for (;;) {
          await rest();
          const [first] = open();
          if (!first) break;
          await bench.end(first);
        }
        await bench.lane.idle();
        await bench.lane.answered();
        const nameOf = (label: string) => label.split("#")[0]!;
        const numberOf = (label: string) => Number(label.split("#")[1]);
        const running = new Set<string>();
        const started: string[] = [];
        const over = new Set<string>();
        for (const line of bench.log) {
          const [label, what] = line.split(" ") as [string, string];
          const name = nameOf(label);
          if (what === "ends") {
            running.delete(label);
            over.add(label);
          } else if (what === "cancelled") {
            over.add(label);
            expect(stops[line.split(" by ")[1]!]).toContain(name);
          } else {
            const isImmediate = name in stops;
            const before = submitted.slice(0, numberOf(label));
            if (isImmediate) {
              // Nothing it stops and that came before it starts after it.
              for (const earlier of before)
                if (stops[name]!.includes(nameOf(earlier)))
                  expect(started.includes(earlier) || over.has(earlier)).toBe(true);
            } else {
              for (const earlier of before) {
                const kind = nameOf(earlier);
                if (kind in stops || over.has(earlier)) continue;
                const mayPass = onlookers.includes(name) ? texts.includes(kind) || onlookers.includes(kind) : false;
                if (!mayPass) expect([label, earlier, started.includes(earlier)]).toEqual([label, earlier, true]);
                // A change is done before anything behind it begins, and a text's fate known before all but texts and onlookers.
                if (changes.includes(kind)) expect(running.has(earlier)).toBe(false);
                if (texts.includes(kind) && !texts.includes(name) && !onlookers.includes(name))
                  expect(running.has(earlier)).toBe(false);
              }
            }
            started.push(label);
            running.add(label);
          }
        }
        expect([...over].sort()).toEqual([...submitted].sort());
        expect(over.size + 0).toBe(bench.log.filter((line) => / (ends|cancelled by)/.test(line)).length);
      }),
      { seed: 9, numRuns: 500 },
    );
  });
});
