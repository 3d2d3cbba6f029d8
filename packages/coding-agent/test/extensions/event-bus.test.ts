import { expect, test } from "vitest";
import { createEventBus } from "../../src/extensions/event-bus.js";

test("listeners hear in the order they came; a fault of one keeps no other from hearing", async () => {
  const faults: unknown[] = [];
  const bus = createEventBus((error, name) => faults.push([name, (error as Error).message]));
  const heard: unknown[] = [];
  const end = bus.on("a", (data) => void heard.push(["first", data]));
  bus.on("a", () => {
    throw new Error("at once");
  });
  bus.on("a", () => Promise.reject(new Error("later")) as never);
  bus.on("a", (data) => {
    heard.push(["last", data]);
    end();
    bus.on("a", () => void heard.push("new"));
  });
  bus.emit("a", 1);
  bus.emit("b", 2);
  expect(heard).toEqual([
    ["first", 1],
    ["last", 1],
  ]);
  await Promise.resolve();
  await Promise.resolve();
  expect(faults).toEqual([
    ["a", "at once"],
    ["a", "later"],
  ]);
  bus.emit("a");
  expect(heard.slice(2)).toEqual([["last", undefined], "new"]);
  bus.clear();
  bus.emit("a");
  expect(heard).toHaveLength(4);
});
