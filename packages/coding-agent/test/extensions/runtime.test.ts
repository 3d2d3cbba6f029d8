// What the extensions of a session share: faults are kept until somebody hears of them, but not without end.

import { expect, it } from "vitest";
import { type ExtensionFault, ExtensionRuntime } from "../../src/extensions/runtime.js";

it("ExtensionRuntime keeps the first 100 faults until they are told, and says how many more there were", () => {
  const runtime = new ExtensionRuntime();
  for (let count = 0; count < 103; count += 1) runtime.fault("/e.ts", "event", `fault ${count}`);
  const told: ExtensionFault[] = [];
  runtime.onFault((fault) => told.push(fault));
  expect(told.length).toBe(101);
  expect(told[99]).toEqual({ extensionPath: "/e.ts", event: "event", error: "fault 99" });
  expect(told[100]).toEqual({ extensionPath: "<runtime>", event: "faults", error: "3 more were not kept" });
  runtime.onFault((fault) => told.push(fault));
  expect(told.length).toBe(101);
});
