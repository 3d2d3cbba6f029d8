import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionEntry } from "../../src/sessions/entries.js";
import { SessionManager } from "../../src/sessions/session-manager.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-bodies-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const long = (text: string) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text: `${text} ${"é漢😀x".repeat(300)}` }],
  timestamp: 1,
});

/** A file with history, a compaction that keeps the last two messages, another branch, and custom entries. */
function sessionWithHistory(): { path: string; lines: unknown[] } {
  const store = SessionManager.create("/", directory);
  const first = store.appendMessage(long("one"));
  store.appendMessage(long("two"));
  store.appendCustomEntry("state", { big: "s".repeat(2000) });
  const kept = store.appendMessage(long("three"));
  store.appendMessage(long("four"));
  store.branch(first);
  store.appendMessage(long("other branch"));
  store.branch(kept);
  store.appendMessage(long("five"));
  store.appendCompaction("Summary", kept, 10);
  store.appendMessage(long("six"));
  const path = store.getSessionFile() as string;
  store.release();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return { path, lines: lines.slice(1).map((line) => JSON.parse(line)) };
}

const isOnDemand = (entry: SessionEntry, field: string) =>
  Object.getOwnPropertyDescriptor(entry, field)?.get !== undefined;

describe("entries out of the model's sight", () => {
  test("read on demand, and read the same in every way", () => {
    const { path, lines } = sessionWithHistory();
    const store = SessionManager.open(path);
    const entries = store.getEntries();
    const onDemand = entries.map((entry) => isOnDemand(entry, entry.type === "custom" ? "data" : "message"));
    // one, two, state, (three), four, other branch, (five), (compaction), (six)
    expect(onDemand).toEqual([true, true, true, false, true, true, false, false, false]);
    expect(JSON.parse(JSON.stringify(entries))).toEqual(lines);
    expect(entries.map((entry) => ({ ...entry }))).toEqual(lines);
    expect(JSON.parse(JSON.stringify(store.getTree()))).toHaveLength(1);
  });

  test("go out of memory when a compaction hides them", () => {
    const store = SessionManager.create("/", directory);
    store.appendMessage(long("first")); // makes the file
    const before = store.appendMessage(long("one"));
    const kept = store.appendMessage(long("two"));
    const expected = JSON.stringify(store.getEntry(before));
    store.appendCompaction("Summary", kept, 10);
    expect(isOnDemand(store.getEntry(before) as SessionEntry, "message")).toBe(true);
    expect(isOnDemand(store.getEntry(kept) as SessionEntry, "message")).toBe(false);
    expect(JSON.stringify(store.getEntry(before))).toBe(expected);
    store.release();
  });

  test("come back into the context when the leaf moves to them", () => {
    const { path } = sessionWithHistory();
    const store = SessionManager.open(path);
    const other = store.getEntries().find((entry) => JSON.stringify(entry).includes("other branch")) as SessionEntry;
    store.branch(other.id);
    expect(store.buildSessionContext().messages).toEqual([long("one"), long("other branch")]);
  });

  test("stay readable when the file is renamed or deleted", () => {
    const { path, lines } = sessionWithHistory();
    const store = SessionManager.open(path);
    renameSync(path, `${path}.moved`);
    rmSync(`${path}.moved`);
    expect(existsSync(path)).toBe(false);
    expect(JSON.parse(JSON.stringify(store.getEntries()))).toEqual(lines);
  });

  test("refuse to be read from another file that took the place of theirs", () => {
    const { path } = sessionWithHistory();
    const store = SessionManager.open(path);
    store.release(); // closes the file
    rmSync(path);
    writeFileSync(`${path}.other`, "x".repeat(100_000));
    renameSync(`${path}.other`, path);
    expect(() => JSON.stringify(store.getEntries())).toThrow(/Cannot open session/);
  });

  test("a copy of a branch has them whole", () => {
    const { path, lines } = sessionWithHistory();
    const source = SessionManager.open(path);
    const copy = SessionManager.forkFrom(source, source.getLeafId());
    source.release();
    rmSync(path);
    const onBranch = new Set(copy.getEntries().map(({ id }) => id));
    expect(JSON.parse(JSON.stringify(copy.getEntries()))).toEqual(
      lines.filter((line) => onBranch.has((line as SessionEntry).id)),
    );
  });
});
