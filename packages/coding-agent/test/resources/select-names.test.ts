import { expect, test } from "vitest";
import { selectNames } from "../../src/resources/select-names.js";

test.each([
  [["+grep"], ["read", "bash", "grep"]],
  [
    ["-bash", "+read", "+ls"],
    ["read", "ls"],
  ],
  [["ls"], ["ls"]],
  [["ls", "+grep", "-ls"], ["grep"]],
  [[], []],
])("selectNames: %j applied to read and bash is %j", (list, expected) => {
  expect(selectNames(["read", "bash"], list)).toEqual(expected);
});
