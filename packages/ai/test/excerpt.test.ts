// The beginning of what somebody sent.

import { expect, test } from "vitest";
import { excerpt } from "../src/excerpt.js";

test.each([
  ["short", "short"],
  ["x".repeat(200), "x".repeat(200)],
  ["x".repeat(201), `${"x".repeat(200)}…`],
  [`${"x".repeat(199)}😀`, `${"x".repeat(199)}…`],
])("excerpt", (text, shown) => {
  expect(excerpt(text)).toBe(shown);
});
