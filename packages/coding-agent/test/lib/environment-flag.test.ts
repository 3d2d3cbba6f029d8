import { expect, test } from "vitest";
import { isFlagSet } from "../../src/lib/environment-flag.js";

test.each(["1", "true", "TRUE", "Yes"])("isFlagSet: %j is on", (value) => {
  expect(isFlagSet(value)).toBe(true);
});

test.each([undefined, "", "0", "no", "false", "11", " 1", "true\n1"])("isFlagSet: %j is off", (value) => {
  expect(isFlagSet(value)).toBe(false);
});
