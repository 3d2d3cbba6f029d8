// The members of the session store that extensions call beside those the program uses itself.

import { join } from "node:path";
import { expect, test } from "vitest";
import { contextEntries } from "../../src/sessions/context-entries.js";
import type { SessionEntry } from "../../src/sessions/entries.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { assistant, readEntries, temporaryDirectory, user } from "./session-files.js";

function written(directory: string) {
  const session = SessionManager.create("/work", directory);
  const first = session.appendMessage(user("one"));
  const second = session.appendMessage(assistant("two"));
  session.release();
  return { session, first, second, path: session.getSessionFile() as string };
}

test("a file is forked by its path, for another working directory and into a directory", () => {
  const directory = temporaryDirectory();
  const { session, path } = written(directory);
  const target = join(directory, "forks");
  const fork = SessionManager.forkFrom(path, "/elsewhere", target);
  fork.release();
  expect(fork.getHeader()).toMatchObject({ cwd: "/elsewhere", parentSession: path });
  expect(fork.getSessionDir()).toBe(target);
  expect(readEntries(fork.getSessionFile() as string)).toEqual([fork.getHeader(), ...session.getEntries()]);
});

test("a branch becomes a file of its own, and the session stays what it is", () => {
  const { session, first, path } = written(temporaryDirectory());
  const branched = session.createBranchedSession(first);
  expect(
    SessionManager.open(branched as string)
      .getEntries()
      .map(({ id }) => id),
  ).toEqual([first]);
  expect([session.getSessionFile(), session.getEntryCount()]).toEqual([path, 2]);
  expect(() => session.createBranchedSession("none")).toThrow("Entry not found: none");
  const inMemory = SessionManager.inMemory("/work");
  expect(inMemory.createBranchedSession(inMemory.appendMessage(user("x")))).toBeUndefined();
});

test("a session is found by the beginning of its id, in a directory", async () => {
  const directory = temporaryDirectory();
  const { session, path } = written(directory);
  expect(SessionManager.findById("/work", session.getSessionId().slice(0, 20), directory)).toBe(path);
  expect(SessionManager.findById("/work", "none", directory)).toBeUndefined();
  expect(SessionManager.open(path, "/other").getSessionDir()).toBe("/other");
  expect((await SessionManager.listAll(directory)).map((info) => info.path)).toEqual([path]);
});

test("the context's entries are the latest compaction, what it keeps, and what came after", () => {
  const session = SessionManager.inMemory("/work");
  const ids = ["a", "b", "c"].map((text) => session.appendMessage(user(text)));
  expect(session.buildContextEntries().map(({ id }) => id)).toEqual(ids);
  const earlier = session.appendCompaction("s", ids[1] as string, 1);
  const state = session.appendCustomEntry("mine", 1);
  const later = session.appendCompaction("s2", ids[2] as string, 1);
  const last = session.appendMessage(user("d"));
  expect(session.buildContextEntries().map(({ id }) => id)).toEqual([later, ids[2], state, last]);
  expect(earlier).not.toBe(later);
  const none = { type: "compaction", id: "x", firstKeptEntryId: "x" } as SessionEntry;
  expect(contextEntries([...session.getBranch(ids[2]), none])).toEqual([none]);
});
