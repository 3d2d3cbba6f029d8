import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { RpcExtensionUI } from "../../../src/modes/rpc/rpc-extension-ui.js";
import { FakeIo } from "../../helpers/fake-io.js";

afterEach(() => void vi.useRealTimers());

function bench() {
  const io = new FakeIo();
  const ui = new RpcExtensionUI(io);
  const ids = () => io.list.matching({ type: "extension_ui_request" }).map(({ id }) => id as string);
  const answer = (id: string | undefined, fields: object) =>
    ui.answer({ type: "extension_ui_response", id, ...fields });
  return { io, ui, ids, answer, closed: () => io.list.matching({ type: "extension_ui_closed" }) };
}

describe("dialogs", () => {
  test("any number are open, and each gets its own answer, whatever the order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), async (order) => {
        const { ui, ids, answer, io } = bench();
        const asked = order.map((_, index) => ui.input(`t${index}`, undefined, {}));
        const shuffled = order.map((key, index) => ({ key, index })).sort((a, b) => a.key - b.key || b.index - a.index);
        for (const { index } of shuffled) {
          answer(ids()[index], { value: `v${index}` });
          answer(ids()[index], { value: "again" });
        }
        expect(await Promise.all(asked)).toEqual(order.map((_, index) => `v${index}`));
        expect(io.records).toHaveLength(order.length);
      }),
      { seed: 5, numRuns: 50 },
    );
  });

  test.each<[string, object, unknown, number]>([
    ["an offered option", { value: "a" }, "a", 0],
    ["another text", { value: "A" }, undefined, 1],
    ["a number", { value: 1 }, undefined, 1],
    ["nothing", {}, undefined, 1],
    ["cancelled, with a value", { cancelled: true, value: "a" }, undefined, 0],
    ["the field of another method", { confirmed: true }, undefined, 1],
  ])("select answered with %s", async (_, fields, value, notes) => {
    const { ui, ids, answer, io } = bench();
    const asked = ui.select("t", ["a", "b"], {});
    answer(ids()[0], fields);
    expect([await asked, io.logged.length]).toEqual([value, notes]);
  });

  test.each<[string, object, unknown]>([
    ["true", { confirmed: true }, true],
    ["false", { confirmed: false }, false],
    ["a text", { confirmed: "true" }, undefined],
    ["a value", { value: true }, undefined],
  ])("confirm answered with %s", async (_, fields, value) => {
    const { ui, ids, answer } = bench();
    const asked = ui.confirm("t", "m", {});
    answer(ids()[0], fields);
    expect(await asked).toBe(value);
  });

  test("answers to nobody are ignored", () => {
    const { io, answer } = bench();
    for (const id of ["unknown", undefined, 5 as never, null as never]) answer(id, { value: "x" });
    expect([io.records, io.logged]).toEqual([[], []]);
  });

  test("options that change after the question do not change what may be answered", async () => {
    const { ui, ids, answer } = bench();
    const options = ["a"];
    const asked = ui.select("t", options, {});
    options.push("b");
    answer(ids()[0], { value: "b" });
    expect(await asked).toBeUndefined();
  });
});

describe("ends on our side", () => {
  test("a timeout closes the dialog and says so; a late answer is ignored", async () => {
    vi.useFakeTimers();
    const { ui, ids, answer, closed, io } = bench();
    const asked = ui.editor("t", undefined, { timeout: 1000 });
    expect(io.records[0]).not.toHaveProperty("timeout");
    await vi.advanceTimersByTimeAsync(999);
    expect(closed()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(closed()).toEqual([{ type: "extension_ui_closed", id: ids()[0], reason: "timeout" }]);
    answer(ids()[0], { value: "late" });
    expect(await asked).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([0, -1, Number.NaN, "5" as never])("a timeout of %s is none", async (timeout) => {
    vi.useFakeTimers();
    const { ui, ids, answer, io } = bench();
    const asked = ui.input("t", undefined, { timeout });
    expect([vi.getTimerCount(), io.records[0]]).toEqual([0, expect.not.objectContaining({ timeout })]);
    answer(ids()[0], { value: "v" });
    expect(await asked).toBe("v");
  });

  test("an answer takes the timer and the signal with it", async () => {
    vi.useFakeTimers();
    const { ui, ids, answer, closed } = bench();
    const abort = new AbortController();
    const asked = ui.confirm("t", "m", { timeout: 1000, signal: abort.signal });
    answer(ids()[0], { confirmed: true });
    abort.abort();
    expect([await asked, vi.getTimerCount(), closed()]).toEqual([true, 0, []]);
  });

  test("a signal closes its dialog and no other; one that has aborted already asks nobody", async () => {
    const { ui, closed, io, ids, answer } = bench();
    const abort = new AbortController();
    const first = ui.confirm("t", "m", { signal: abort.signal });
    const second = ui.input("t", undefined, {});
    abort.abort();
    expect([await first, closed().map(({ reason }) => reason)]).toEqual([undefined, ["aborted"]]);
    expect(await ui.input("t", undefined, { signal: abort.signal })).toBeUndefined();
    answer(ids()[1], { value: "v" });
    expect([await second, io.records.length]).toEqual(["v", 3]);
  });

  test("the end of input closes what is open and answers what comes later", async () => {
    const { ui, closed, io } = bench();
    const open = [ui.select("t", ["a"], {}), ui.confirm("t", "m", {})];
    ui.end();
    expect(await Promise.all(open)).toEqual([undefined, undefined]);
    expect(closed().map(({ reason }) => reason)).toEqual(["shutdown", "shutdown"]);
    expect(await ui.editor("t", undefined, {})).toBeUndefined();
    expect(io.records).toHaveLength(4);
  });
});
