import { expect, test } from "vitest";
import type { SessionEntry } from "../../src/sessions/entries.js";
import { SessionTree } from "../../src/sessions/session-tree.js";
import { messageEntry } from "./session-files.js";

const entry = (id: string, parentId: string | null) => messageEntry(id, parentId) as SessionEntry;

function chain(length: number): SessionTree {
  const tree = new SessionTree();
  for (let index = 0; index < length; index += 1) tree.add(entry(`e${index}`, index === 0 ? null : `e${index - 1}`));
  tree.leafId = `e${length - 1}`;
  return tree;
}

test("a chain of 100,000 entries is walked, listed and nested without recursion", () => {
  const tree = chain(100_000);
  expect(tree.branch()).toHaveLength(100_000);
  let [node] = tree.nodes();
  let depth = 0;
  for (; node; node = node.children[0]) depth += 1;
  expect(depth).toBe(100_000);
  expect(tree.children("e99998").map(({ id }) => id)).toEqual(["e99999"]);
});

test("100,000 entries in reverse order, and a loop of as many, are settled without walking each again and again", () => {
  const reversed = new SessionTree();
  for (let index = 99_999; index >= 0; index -= 1)
    reversed.add(entry(`e${index}`, index === 0 ? null : `e${index - 1}`));
  expect(reversed.settle()).toEqual([]);
  expect(reversed.branch("e99999")).toHaveLength(100_000);
  const loop = new SessionTree();
  for (let index = 99_999; index >= 0; index -= 1) loop.add(entry(`e${index}`, `e${(index + 99_999) % 100_000}`));
  expect(loop.settle().map(({ kind }) => kind)).toEqual(["cycle"]);
  expect(loop.nodes()).toHaveLength(1);
});

test("children are kept up to date after they were asked for", () => {
  const tree = chain(2);
  expect(tree.children("e1")).toEqual([]);
  tree.add(entry("x", "e1"));
  tree.add(entry("y", null));
  expect(tree.children("e1").map(({ id }) => id)).toEqual(["x"]);
  expect(tree.children(null).map(({ id }) => id)).toEqual(["e0", "y"]);
});

test("the latest label and name count; empty ones clear", () => {
  const tree = chain(1);
  const at = { parentId: "e0", timestamp: "2026-01-01T00:00:00.000Z" };
  tree.add({ type: "label", id: "l1", targetId: "e0", label: "one", ...at });
  tree.add({ type: "label", id: "l2", targetId: "e0", label: "two", ...at, timestamp: "later" });
  tree.add({ type: "session_info", id: "n1", name: " name ", ...at });
  expect([tree.label("e0"), tree.name]).toEqual(["two", "name"]);
  expect(tree.nodes()[0]).toMatchObject({ label: "two", labelTimestamp: "later" });
  tree.add({ type: "label", id: "l3", targetId: "e0", ...at });
  tree.add({ type: "session_info", id: "n2", ...at });
  expect([tree.label("e0"), tree.name]).toEqual([undefined, undefined]);
  expect(Object.keys(tree.nodes()[0]!)).toEqual(["entry", "children"]);
});
