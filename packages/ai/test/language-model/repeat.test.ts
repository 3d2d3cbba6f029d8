import { describe, expect, test, vi } from "vitest";
import type { WireResponse } from "../../src/language-model/http.js";
import { sendRepeatedly } from "../../src/language-model/repeat.js";

const waits: number[] = [];
vi.mock("node:timers/promises", () => ({
  setTimeout: async (ms: number, _value: unknown, { signal }: { signal: AbortSignal }) => {
    waits.push(ms);
    signal.throwIfAborted();
  },
}));

function answer(status: number, headers: Record<string, string> = {}): WireResponse {
  const reader = {
    read: async () => ({ done: true as const, value: undefined }),
    cancel: async () => {},
    releaseLock() {},
  };
  return { ok: status < 300, status, headers: new Map(Object.entries(headers)), body: { getReader: () => reader } };
}

const cut = () =>
  Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("x"), { code: "ECONNRESET" }) });

/** Sends to a server that answers so, and tells what came of it. */
async function play(
  script: (WireResponse | Error)[],
  count: number,
  longestWaitMs = 60_000,
  signal = new AbortController().signal,
) {
  waits.length = 0;
  let sent = 0;
  const send = async () => {
    const step = script[sent++];
    if (step instanceof Error || step === undefined) throw step ?? new Error("one request too many");
    return step;
  };
  const outcome = await sendRepeatedly(send, { count, longestWaitMs }, signal).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  return { outcome, sent, waits: [...waits] };
}

describe("sendRepeatedly", () => {
  test("sends again after what may pass, waiting twice as long each time, and gives the first good answer", async () => {
    const script = [answer(503), cut(), answer(429), answer(200)];
    expect(await play(script, 3)).toEqual({ outcome: 200, sent: 4, waits: [500, 1000, 2000] });
  });

  test("gives up after so many repetitions, with the last answer or fault", async () => {
    expect(await play([answer(500), answer(502), answer(529)], 1)).toEqual({ outcome: 502, sent: 2, waits: [500] });
    expect(await play([cut(), cut()], 1)).toEqual({ outcome: "fetch failed", sent: 2, waits: [500] });
  });

  test.each([400, 401, 403, 404, 413])("lets a refusal with status %i stand", async (status) => {
    expect(await play([answer(status), answer(200)], 3)).toEqual({ outcome: status, sent: 1, waits: [] });
  });

  test("waits as long as the server asks, but no longer than allowed; 0 allows any time", async () => {
    const patient = answer(429, { "retry-after": "30" });
    expect(await play([patient, answer(200)], 1, 30_000)).toEqual({ outcome: 200, sent: 2, waits: [30_000] });
    expect(await play([patient, answer(200)], 1, 29_999)).toEqual({ outcome: 429, sent: 1, waits: [] });
    expect(await play([patient, answer(200)], 1, 0)).toEqual({ outcome: 200, sent: 2, waits: [30_000] });
  });

  test("an abort ends the wait", async () => {
    const controller = new AbortController();
    controller.abort(new Error("enough"));
    const { outcome, sent } = await play([answer(503), answer(200)], 1, 0, controller.signal);
    expect([outcome, sent]).toEqual(["enough", 1]);
  });
});
