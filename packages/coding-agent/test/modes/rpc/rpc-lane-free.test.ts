import { expect, test } from "vitest";
import { CommandLane } from "../../../src/modes/rpc/rpc-lane.js";

test("a text that calls a command waits until it can be checked", async () => {
  const log: string[] = [];
  const lane = new CommandLane({ hold: () => undefined });
  let prepared = () => {};
  const ready = new Promise<void>((resolve) => {
    prepared = resolve;
  });
  const item = { name: "prompt" as const, isFree: () => true, cancel: () => {} };
  lane.submit({ ...item, ready: () => ready, run: async () => void log.push("first") });
  expect(log).toEqual([]);
  prepared();
  await lane.idle();
  expect(log).toEqual(["first"]);
  lane.submit({ ...item, run: async () => void log.push("second") });
  expect(log).toEqual(["first", "second"]);
});
