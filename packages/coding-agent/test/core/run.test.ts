import type { AssistantMessage, AssistantMessageEvent, Message } from "@earendil-works/pi-ai";
import { hold } from "@earendil-works/pi-ai/testing";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { AgentSessionEvent } from "../../src/core/events.js";
import { Queues } from "../../src/core/queue.js";
import { Runs, type RunsOptions } from "../../src/core/run.js";
import { assistant, textOf, user } from "./messages.js";

/** What the scripted model does with a request: gives an answer, or makes one when it is asked. */
type Answer = AssistantMessage | ((signal: AbortSignal | undefined) => Promise<AssistantMessage>);

/** Runs over a model that answers by script, then with "ok" for ever, and a conversation of its own. */
class Bench {
  readonly events: AgentSessionEvent[] = [];
  readonly conversation: Message[] = [];
  readonly requests: string[][] = [];
  readonly faults: unknown[] = [];
  readonly queues: Queues;
  readonly runs: Runs;
  starts = 0;
  settledCommands = 0;
  /** Called for every event; a promise makes the emitter wait. */
  onEvent: (event: AgentSessionEvent, at: number) => undefined | Promise<void> = () => undefined;
  readonly #answers: Answer[];

  constructor(answers: Answer[] = [], options: Partial<RunsOptions> = {}) {
    this.#answers = answers;
    const emit = (event: AgentSessionEvent) => {
      const at = this.events.push(event) - 1;
      if (event.type === "message_end") this.conversation.push(event.message as Message);
      return this.onEvent(event, at);
    };
    this.queues = new Queues(emit, { steering: "one-at-a-time", followUp: "one-at-a-time" });
    this.runs = new Runs({
      emit,
      queues: this.queues,
      loop: {
        setup: () => ({ model: { id: "m", api: "a", provider: "p" } as never, tools: [], options: {} }),
        modelMessages: () => this.conversation,
        stream: (_, context, { signal }) => {
          this.requests.push(context.messages.map(textOf));
          return this.#stream(signal);
        },
      },
      beforeSettled: () => {
        this.settledCommands += 1;
      },
      fault: (error) => this.faults.push(error),
      ...options,
    });
  }

  /** A text as the session takes it: queued during a run, the start of one otherwise. */
  send(name: "steering" | "followUp", text: string): void {
    if (this.runs.isRunning) void this.queues.add(name, user(text));
    else this.start(text);
  }

  start(text: string): void {
    this.starts += 1;
    this.runs.start([user(text)]);
  }

  get outline(): string[] {
    return this.events
      .filter(({ type }) => type !== "message_update")
      .map((event) => {
        if (event.type === "message_end" || event.type === "message_start")
          return `${event.type} ${event.message.role} ${textOf(event.message)}`.trim();
        if (event.type === "queue_update") return `queue_update ${event.steering} | ${event.followUp}`;
        if (event.type === "agent_end") return `agent_end${event.willRetry ? " willRetry" : ""}`;
        if (event.type === "agent_settled") return `agent_settled${event.aborted ? " aborted" : ""}`;
        return event.type;
      });
  }

  async *#stream(signal: AbortSignal | undefined): AsyncGenerator<AssistantMessageEvent> {
    const answer = this.#answers.shift() ?? assistant("ok");
    const message = signal?.aborted
      ? assistant("", { stopReason: "aborted" })
      : typeof answer === "function"
        ? await answer(signal)
        : answer;
    yield { type: "start", partial: message };
    const { stopReason } = message;
    if (stopReason === "error" || stopReason === "aborted") yield { type: "error", reason: stopReason, error: message };
    else yield { type: "done", reason: "stop", message };
  }
}

const failed = (errorMessage = "Overloaded") =>
  assistant("", { stopReason: "error", errorMessage, error: { kind: "overloaded" } });

const waiting = (pause: ReturnType<typeof hold>, text: string) => async (signal: AbortSignal | undefined) =>
  (await pause.wait(signal)) ? assistant(text) : assistant("", { stopReason: "aborted" });

describe("Runs", () => {
  test("a run is under way from its start until it settles, and settles once, last", async () => {
    const bench = new Bench([assistant("Hello")]);
    expect([bench.runs.isRunning, bench.runs.outcome]).toEqual([false, undefined]);
    bench.start("hi");
    expect(bench.runs.isRunning).toBe(true);
    expect(bench.events).toEqual([]);
    await bench.runs.settled();
    expect(bench.runs.isRunning).toBe(false);
    expect(bench.outline).toEqual([
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
    expect(bench.events.slice(-2)).toEqual([
      { type: "agent_end", messages: [user("hi"), assistant("Hello")], willRetry: false },
      { type: "agent_settled", aborted: false },
    ]);
    expect(bench.runs.outcome).toEqual({ aborted: false, last: assistant("Hello") });
    expect(bench.settledCommands).toBe(1);
  });

  test("the run is over when agent_settled is announced: a text that comes with it starts the next", async () => {
    const bench = new Bench();
    bench.onEvent = (event) => {
      if (event.type === "agent_settled" && bench.starts === 1) bench.send("steering", "next");
      return undefined;
    };
    bench.start("hi");
    await bench.runs.settled();
    await bench.runs.settled();
    expect(bench.starts).toBe(2);
    expect(bench.requests).toEqual([["hi"], ["hi", "ok", "next"]]);
    expect(bench.outline.filter((line) => line.startsWith("agent_"))).toEqual([
      "agent_start",
      "agent_end",
      "agent_settled",
      "agent_start",
      "agent_end",
      "agent_settled",
    ]);
  });

  test("a message that comes with agent_end is delivered in another low-level run before the run settles", async () => {
    const bench = new Bench();
    let sent = false;
    bench.onEvent = (event) => {
      if (event.type === "agent_end" && !sent) {
        sent = true;
        bench.send("followUp", "late");
      }
      return undefined;
    };
    bench.start("hi");
    await bench.runs.settled();
    expect(bench.outline.slice(7)).toEqual([
      "agent_end",
      "queue_update  | late",
      "agent_start",
      "turn_start",
      "queue_update  | ",
      "message_start user late",
      "message_end user late",
      "message_start assistant",
      "message_end assistant ok",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(bench.settledCommands).toBe(1);
  });

  test("abort resolves after agent_settled, keeps the queue, and shows it once more", async () => {
    const pause = hold();
    const bench = new Bench([waiting(pause, "Never")]);
    bench.start("hi");
    await pause.reached;
    bench.send("steering", "s");
    bench.send("followUp", "f");
    expect(await bench.runs.abort()).toBe(true);
    expect(bench.outline.slice(5)).toEqual([
      "queue_update s | f",
      "message_start assistant",
      "message_end assistant",
      "turn_end",
      "agent_end",
      "queue_update s | f",
      "agent_settled aborted",
    ]);
    expect(bench.runs.outcome).toEqual({ aborted: true, last: assistant("", { stopReason: "aborted" }) });
    bench.start("again");
    await bench.runs.settled();
    // Steering goes out behind the prompt's message, the follow-up after its answer. Failed answers stay out of requests
    // elsewhere; this conversation keeps them.
    expect(bench.requests.slice(1).map((request) => request.slice(2))).toEqual([
      ["again", "s"],
      ["again", "s", "ok", "f"],
    ]);
    expect(bench.queues.length).toBe(0);
  });

  test("abort without anything queued repeats no queue; abort when idle stops nothing", async () => {
    const pause = hold();
    const bench = new Bench([waiting(pause, "Never")]);
    expect(await bench.runs.abort()).toBe(false);
    bench.start("hi");
    await pause.reached;
    await Promise.all([bench.runs.abort(), bench.runs.abort()]);
    expect(bench.outline.slice(-2)).toEqual(["agent_end", "agent_settled aborted"]);
    expect(await bench.runs.abort()).toBe(false);
  });

  test("abort before the run has announced anything: it still begins and ends", async () => {
    const bench = new Bench();
    bench.start("hi");
    await bench.runs.abort();
    expect(bench.outline).toEqual([
      "agent_start",
      "turn_start",
      "message_start user hi",
      "message_end user hi",
      "message_start assistant",
      "message_end assistant",
      "turn_end",
      "agent_end",
      "agent_settled aborted",
    ]);
  });

  test("after a run that failed, what is queued is delivered", async () => {
    const pause = hold();
    const bench = new Bench([
      async () => {
        await pause.wait();
        return failed();
      },
    ]);
    bench.start("hi");
    await pause.reached;
    bench.send("followUp", "f");
    bench.send("steering", "s");
    pause.release();
    await bench.runs.settled();
    expect(bench.outline.filter((line) => /^agent|user|assistant \w/.test(line))).toEqual([
      "agent_start",
      "message_start user hi",
      "message_end user hi",
      "agent_end",
      "agent_start",
      "message_start user s",
      "message_end user s",
      "message_end assistant ok",
      "message_start user f",
      "message_end user f",
      "message_end assistant ok",
      "agent_end",
      "agent_settled",
    ]);
  });

  test("recovery: agent_end says that another attempt follows, and it goes on without a prompt", async () => {
    const proceed = vi.fn(async () => true);
    const recover = vi.fn((message: AssistantMessage) =>
      message.errorMessage === "Overloaded" ? { willRetry: true, proceed } : undefined,
    );
    const afterRun = vi.fn(async () => {});
    const bench = new Bench([failed(), failed(), assistant("At last")], { recover, afterRun });
    bench.start("hi");
    await bench.runs.settled();
    expect(bench.outline.filter((line) => line.startsWith("agent_") || line.includes("user"))).toEqual([
      "agent_start",
      "message_start user hi",
      "message_end user hi",
      "agent_end willRetry",
      "agent_start",
      "agent_end willRetry",
      "agent_start",
      "agent_end",
      "agent_settled",
    ]);
    expect(proceed).toHaveBeenCalledTimes(2);
    expect(afterRun).toHaveBeenCalledTimes(1);
    expect(bench.runs.outcome?.last).toEqual(assistant("At last"));
  });

  test("a failure that is not recovered is the last word, and nothing runs after it", async () => {
    const afterRun = vi.fn(async () => {});
    const bench = new Bench([failed("Bad request")], { recover: () => undefined, afterRun });
    bench.start("hi");
    await bench.runs.settled();
    expect(bench.outline.slice(-2)).toEqual(["agent_end", "agent_settled"]);
    expect(bench.runs.outcome).toEqual({ aborted: false, last: failed("Bad request") });
    expect(afterRun).not.toHaveBeenCalled();
  });

  test("a recovery that is given up settles the run; its queue is delivered unless it was aborted", async () => {
    const bench = new Bench([failed()], { recover: () => ({ willRetry: true, proceed: async () => false }) });
    bench.onEvent = (event) => {
      if (event.type === "agent_end" && bench.requests.length === 1) bench.send("steering", "s");
      return undefined;
    };
    bench.start("hi");
    await bench.runs.settled();
    expect(bench.requests.at(-1)?.at(-1)).toBe("s");
    expect(bench.outline.at(-1)).toBe("agent_settled");
  });

  test("abort while a recovery waits: no attempt follows, and the run counts as aborted", async () => {
    const delay = hold();
    const bench = new Bench([failed()], {
      recover: (_, signal) => ({ willRetry: true, proceed: () => delay.wait(signal) }),
    });
    bench.start("hi");
    await delay.reached;
    expect(await bench.runs.abort()).toBe(true);
    expect(bench.requests).toHaveLength(1);
    expect(bench.outline.slice(-2)).toEqual(["agent_end willRetry", "agent_settled aborted"]);
  });

  test("an aborted answer is never recovered", async () => {
    const recover = vi.fn(() => ({ willRetry: true, proceed: async () => true }));
    const pause = hold();
    const bench = new Bench([waiting(pause, "Never")], { recover });
    bench.start("hi");
    await pause.reached;
    await bench.runs.abort();
    expect(recover).not.toHaveBeenCalled();
  });

  test.each<[string, Partial<RunsOptions>]>([
    ["in the work after a run", { afterRun: () => Promise.reject(new Error("Broke")) }],
    [
      "in the work before the end",
      {
        beforeSettled: () => {
          throw new Error("Broke");
        },
      },
    ],
  ])("a bug %s is told, the run settles, and the next one works", async (_, options) => {
    const bench = new Bench([], options);
    for (const text of ["one", "two"]) {
      bench.start(text);
      await bench.runs.settled();
      expect(bench.outline.at(-1)).toBe("agent_settled");
    }
    expect(bench.faults).toEqual([new Error("Broke"), new Error("Broke")]);
    expect(bench.requests).toHaveLength(2);
  });

  test("a listener that throws is a fault, not the end of the process", async () => {
    const bench = new Bench();
    bench.onEvent = (event) => {
      if (event.type === "agent_settled" || event.type === "turn_end") throw new Error("Listener broke");
      return undefined;
    };
    bench.start("hi");
    await bench.runs.settled();
    expect(bench.faults).toEqual([new Error("Listener broke"), new Error("Listener broke")]);
    expect(bench.runs.isRunning).toBe(false);
  });
});

/**
 * Texts and aborts come some microtasks after any event, so they fall into every moment of a run: while it starts, after
 * the last look at the queues, during agent_end, while it settles, and when it is over.
 */
describe("whatever comes when", () => {
  const moment = fc.record({ event: fc.nat(30), ticks: fc.nat(14) });
  const arrival = fc.oneof(
    { weight: 3, arbitrary: moment.map((at) => ({ ...at, what: "steering" as const })) },
    { weight: 3, arbitrary: moment.map((at) => ({ ...at, what: "followUp" as const })) },
    { weight: 1, arbitrary: moment.map((at) => ({ ...at, what: "abort" as const })) },
  );
  const plan = fc.record({
    arrivals: fc.array(arrival, { minLength: 1, maxLength: 6 }),
    failures: fc.array(fc.boolean(), { maxLength: 4 }),
    slow: fc.array(fc.nat(3), { maxLength: 20 }),
  });

  test("no text is lost or delivered twice, every start has its end, and agent_settled is last", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ arrivals, failures, slow }) => {
        const bench = new Bench(failures.map((fails) => (fails ? failed() : assistant("ok"))));
        const pending: Promise<void>[] = [];
        const arrive = ({ what }: (typeof arrivals)[number], text: string) => {
          if (what === "abort") pending.push(bench.runs.abort().then(() => {}));
          else bench.send(what, text);
        };
        bench.onEvent = (_, at) => {
          for (const [index, one] of arrivals.entries())
            if (one.event === at) pending.push(ticks(one.ticks).then(() => arrive(one, `text ${index}`)));
          return slow[at] ? ticks(slow[at]) : undefined;
        };
        bench.start("first");
        await quiet(bench, pending);
        const settledAt = bench.events.length;
        const came = arrivals.flatMap(({ event, what }, index) =>
          event < settledAt && what !== "abort" ? [`text ${index}`] : [],
        );
        const delivered = bench.conversation.filter(({ role }) => role === "user").map(textOf);
        const { steering, followUp } = bench.queues.texts();
        expect([...delivered, ...steering, ...followUp].sort()).toEqual(["first", ...came].sort());
        expectPaired(bench);
        if (bench.queues.length > 0) {
          // Kept by an abort, and shown before the run settled.
          expect(bench.events.at(-1)).toEqual({ type: "agent_settled", aborted: true });
          const shown = bench.events.findLast(({ type }) => type === "queue_update");
          expect(shown).toEqual({ type: "queue_update", steering, followUp });
        }
        bench.onEvent = () => undefined;
        bench.start("last");
        await quiet(bench, pending);
        expect(bench.queues.length).toBe(0);
        expect(bench.faults).toEqual([]);
      }),
      { seed: 5, numRuns: 1500 },
    );
  });

  function expectPaired(bench: Bench): void {
    const line = bench.outline.filter((event) => event.startsWith("agent_")).map((event) => event.split(" ")[0]);
    const runs = line
      .join(" ")
      .split(/(?<=agent_settled) /)
      .filter(Boolean);
    expect(runs).toHaveLength(bench.starts);
    for (const run of runs) expect(run).toMatch(/^(agent_start agent_end )+agent_settled$/);
    expect(bench.events.at(-1)?.type).toBe("agent_settled");
    expect(bench.settledCommands).toBe(bench.starts);
  }
});

/** Waits until no run is under way and nothing is on its way. */
async function quiet(bench: Bench, pending: Promise<void>[]): Promise<void> {
  do {
    await Promise.all(pending.splice(0));
    await bench.runs.settled();
    await new Promise((resolve) => setImmediate(resolve));
  } while (pending.length > 0 || bench.runs.isRunning);
}

async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await undefined;
}
