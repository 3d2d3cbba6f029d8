// What a client sent comes back in part only.

import { expect, test } from "vitest";
import { shortenEchoes } from "../../../src/modes/rpc/echoes.js";

const long = "y".repeat(5000);
const cut = `${"y".repeat(200)}…`;

test.each<[string, string, Record<string, unknown>, string]>([
  ["a short value stays", 'Cannot open "a"', { path: "a" }, 'Cannot open "a"'],
  ["a long one is cut", `Cannot open "${long}": gone`, { path: long }, `Cannot open "${cut}": gone`],
  ["everywhere", `${long} and /home/ann/${long}/x`, { path: long }, `${cut} and /home/ann/${cut}/x`],
  ["in a list", `no ${long}`, { paths: ["a", long] }, `no ${cut}`],
  ["as JSON", `no ${"\\n".repeat(300)}!`, { text: "\n".repeat(300) }, `no ${"\\n".repeat(100)}…!`],
  ["what nobody sent stays", "z".repeat(300), { path: long }, "z".repeat(300)],
  ["but is not endless", "z".repeat(5000), {}, `${"z".repeat(4000)}…`],
])("%s", (_, text, params, shown) => {
  expect(shortenEchoes(text, params)).toBe(shown);
});

test("a value that holds another is cut first", () => {
  const inner = "y".repeat(300);
  expect(shortenEchoes(`${inner}-${inner} ${inner}`, { a: inner, b: `${inner}-${inner}` })).toBe(`${cut} ${cut}`);
});
