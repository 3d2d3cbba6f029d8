// The registry of APIs.

import { expect, test } from "vitest";
import { loadApi } from "../../src/apis/index.js";
import { type ApiImplementation, apiNames, registerApi } from "../../src/index.js";

const implementation = (): ApiImplementation => ({ stream: async function* () {} });

test("registerApi adds a name, loads once, and its undo puts back what was there", async () => {
  const [first, second] = [implementation(), implementation()];
  let loads = 0;
  const removeFirst = registerApi("one", async () => {
    loads++;
    return first;
  });
  expect(apiNames()).toContain("one");
  expect(await loadApi("one")).toBe(first);
  expect(await loadApi("one")).toBe(first);
  expect(loads).toBe(1);
  const removeSecond = registerApi("one", async () => second);
  expect(await loadApi("one")).toBe(second);
  removeFirst();
  expect(await loadApi("one")).toBe(second);
  removeSecond();
  expect(await loadApi("one")).toBe(first);
  removeFirst();
  expect(await loadApi("one")).toBeUndefined();
});

test.each(apiNames())("%s is there and loads", async (name) => {
  expect(apiNames()).toContain(name);
  expect(typeof (await loadApi(name))?.stream).toBe("function");
});
