// The page's index: places, branches, labels, results beside their calls, totals.

import { afterEach, beforeEach, expect, test } from "vitest";
import { pageIndex } from "../../../src/core/export-html/page-index.js";
import { call, type Place, SessionLines, temporaryPlace } from "../../export/sessions.js";

let place: Place;

beforeEach(() => {
  place = temporaryPlace();
});
afterEach(() => place.dispose());

function indexOf(session: SessionLines) {
  const store = session.open(place.directory);
  const facts = { sessionId: "s-1", cwd: "/work", exportedAt: 5 };
  return pageIndex({ entries: store.getEntries(), leafId: store.getLeafId(), ...facts });
}

test("pageIndex names entries by their place and holds what lists need", () => {
  const session = new SessionLines();
  const question = session.user("# Why\n\nis **it** so?");
  session.answer([{ type: "thinking", thinking: "hm" }, call("c1", "bash", { command: "ls\nx" })]);
  session.result("c1", "bash", "a\nb", { isError: true });
  const answer = session.answer("Because.");
  session.add({ type: "label", targetId: answer, label: "first" });
  session.add({ type: "label", targetId: answer, label: "the reason" });
  session.user("And `else`?", question);
  const { index, blocks } = indexOf(session);
  const at = (second: number) => Date.parse("2026-03-04T09:00:00.000Z") + second * 1_000;
  expect(index).toEqual({
    title: "Why is it so?",
    sessionId: "s-1",
    cwd: "/work",
    exportedAt: 5,
    models: ["acme/smart-1"],
    usage: { input: 2_000, output: 400, cacheRead: 0, cacheWrite: 0, cost: 0.5 },
    leaf: 6,
    entries: [
      { id: "e00001", parent: -1, at: at(1), kind: "user", text: "Why is it so?", lines: 6, block: 0, slot: 0 },
      { id: "e00002", parent: 0, at: at(2), kind: "assistant", text: "bash ls x", lines: 5, block: 0, slot: 1 },
      {
        id: "e00003",
        parent: 1,
        at: at(3),
        kind: "toolResult",
        text: "bash: a b",
        lines: 2,
        failed: true,
        block: 0,
        slot: 2,
        answers: 1,
        call: 0,
      },
      {
        id: "e00004",
        parent: 2,
        at: at(4),
        kind: "assistant",
        text: "Because.",
        lines: 3,
        says: true,
        block: 0,
        slot: 3,
        label: "the reason",
      },
      { id: "e00005", parent: 3, at: at(5), kind: "note", text: "Label “first”", lines: 1, quiet: true },
      { id: "e00006", parent: 4, at: at(6), kind: "note", text: "Label “the reason”", lines: 1, quiet: true },
      { id: "e00007", parent: 0, at: at(7), kind: "user", text: "And else ?", lines: 4, block: 0, slot: 4 },
    ],
  });
  expect(blocks.map((block) => block.map(({ id }) => id))).toEqual([
    ["e00001", "e00002", "e00003", "e00004", "e00007"],
  ]);
});

test("pageIndex takes the session's name as the title, the last one given", () => {
  const session = new SessionLines();
  session.user("Hello");
  session.add({ type: "session_info", name: "One" });
  session.add({ type: "session_info", name: " Two " });
  expect(indexOf(session).index.title).toBe("Two");
});

test("pageIndex counts entries without a parent, and those above themselves, as roots", () => {
  const session = new SessionLines();
  session.user("orphan", "gone");
  session.add({ type: "message", id: "a", message: { role: "user", content: "a" } }, "c");
  session.add({ type: "message", id: "b", message: { role: "user", content: "b" } }, "a");
  session.add({ type: "message", id: "c", message: { role: "user", content: "c" } }, "b");
  session.add({ type: "message", id: "self", message: { role: "user", content: "self" } }, "self");
  expect(indexOf(session).index.entries.map(({ parent }) => parent)).toEqual([-1, 3, -1, 2, -1]);
});

test("pageIndex gives a result to the call above it on its own branch", () => {
  const session = new SessionLines();
  session.user("go");
  const asks = session.answer([call("x", "one", {}), call("y", "two", {})]);
  session.result("y", "two", "first branch");
  session.result("y", "two", "second branch");
  const [, , , second] = session.lines;
  (second as { parentId?: string }).parentId = asks;
  session.result("z", "three", "nobody asked");
  const { entries } = indexOf(session).index;
  expect(entries.slice(2).map(({ answers, call: number }) => [answers, number])).toEqual([
    [1, 1],
    [1, 1],
    [undefined, undefined],
  ]);
});

test("pageIndex begins a new block when one is full", () => {
  const session = new SessionLines();
  for (let at = 0; at < 5; at += 1) session.user("x".repeat(70_000));
  const { index, blocks } = indexOf(session);
  expect(blocks.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(index.entries.map(({ block, slot }) => [block, slot])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
    [2, 0],
  ]);
});
