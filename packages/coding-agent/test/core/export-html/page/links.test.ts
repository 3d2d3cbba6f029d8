// Which addresses become links.

import fc from "fast-check";
import { expect, test } from "vitest";
import { safeLink } from "../../../../src/core/export-html/page/links.js";

test.each([
  ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
  ["HTTP://Example.com", "http://example.com/"],
  ["mailto:me@example.com", "mailto:me@example.com"],
])("safeLink follows %s", (address, href) => {
  expect(safeLink(address)).toBe(href);
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "\u0001javascript:alert(1)",
  "java\nscript:alert(1)",
  " \tjavascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "//example.com/a",
  "src/main.ts",
  "#entry",
  "",
])("safeLink does not follow %j", (address) => {
  expect(safeLink(address)).toBeUndefined();
});

test("safeLink gives nothing but absolute addresses of three schemes, whatever stands before or in between", () => {
  const piece = fc.constantFrom(
    "java",
    "script",
    ":",
    "http",
    "s",
    "//",
    "data",
    "\t",
    "\n",
    "\0",
    " ",
    "&#58;",
    "a",
    "mailto",
    "%0a",
    "@",
    "\\",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const href = safeLink(pieces.join(""));
      if (href !== undefined) expect(href).toMatch(/^(https?:\/\/|mailto:)/);
    }),
    { seed: 20261129, numRuns: 2_000 },
  );
});
