// Where the kept part of a long session begins, and that a guess which is wrong changes nothing but what is in memory.

import { closeSync, openSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { keptFrom } from "../../src/sessions/kept-from.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { header, lines, messageEntry, readEntries, sessionFile, user } from "./session-files.js";

const long = (id: string, parentId: string | null) => messageEntry(id, parentId, user(`${id} ${"y".repeat(4000)}`));
const idOf = (at: number) => `e${at}`;
/** A chain of entries above 1 MB. */
const chain = Array.from({ length: 400 }, (_, at) => long(idOf(at), at === 0 ? null : idOf(at - 1)));
const compaction = (id: string, parentId: string, firstKeptEntryId: unknown) => ({
  ...{ type: "compaction", id, parentId, timestamp: "t", summary: "sum", firstKeptEntryId, tokensBefore: 1 },
});

function found(path: string): number {
  const fd = openSync(path, "r");
  try {
    return keptFrom(fd);
  } finally {
    closeSync(fd);
  }
}

/** The record in whose line a place of the file is. */
function lineAt(path: string, offset: number): { id?: string } {
  const text = readFileSync(path, "latin1");
  const start = text.lastIndexOf("\n", offset) + 1;
  return JSON.parse(text.slice(start, text.indexOf("\n", start)));
}

describe("keptFrom", () => {
  test("is a place in the first entry that the latest compaction kept", () => {
    const path = sessionFile(
      lines(header, ...chain, compaction("c1", "e399", "e10"), compaction("c2", "c1", "e390"), long("z", "c2")),
    );
    expect(lineAt(path, found(path)).id).toBe("e390");
  });

  test("is the compaction itself when it kept nothing", () => {
    const path = sessionFile(lines(header, ...chain, compaction("c", "e399", "nowhere"), long("z", "c")));
    expect(lineAt(path, found(path) + 1).id).toBe("c");
  });

  test.each<[string, string]>([
    ["a small file", lines(header, long("e0", null), compaction("c", "e0", "e0"))],
    ["no compaction", lines(header, ...chain)],
    ["a text that looks like one", lines(header, ...chain, messageEntry("q", "e399", user('\n{"type":"compaction"')))],
    ["a compaction that is torn", `${lines(header, ...chain)}{"type":"compaction","id":"c","firstKept`],
    ["one without a boundary", lines(header, ...chain, compaction("c", "e399", 7))],
  ])("is the start with %s", (_, content) => {
    expect(found(sessionFile(content))).toBe(0);
  });
});

describe("a long session that is opened", () => {
  const isInMemory = (entry: object) => Object.getOwnPropertyDescriptor(entry, "message")?.get === undefined;
  const open = (content: string) => {
    const path = sessionFile(content);
    const session = SessionManager.open(path);
    onTestFinished(() => session.release());
    return { path, session };
  };

  test("has in memory what the model sees, and reads the rest as it is", () => {
    const { path, session } = open(lines(header, ...chain, compaction("c", "e399", "e390"), long("z", "c")));
    expect(session.buildSessionContext().entryIds).toEqual(["c", ...chain.slice(390).map(({ id }) => id), "z"]);
    expect(session.getEntries().filter((entry) => entry.type === "message" && isInMemory(entry)).length).toBe(11);
    expect(session.getUserEntries()).toHaveLength(401);
    expect(JSON.parse(JSON.stringify(session.getEntries()))).toEqual(readEntries(path).slice(1));
  });

  test("whose active branch is not the compacted one has all of that branch in memory", () => {
    const { path, session } = open(
      lines(header, ...chain.slice(0, 380), compaction("c", "e379", "e370"), long("z", "c"), long("w", "e5")),
    );
    expect(session.buildSessionContext().entryIds).toEqual(["e0", "e1", "e2", "e3", "e4", "e5", "w"]);
    const inMemory = session.getEntries().filter((entry) => entry.type === "message" && isInMemory(entry));
    expect(inMemory.map(({ id }) => id)).toEqual(["e0", "e1", "e2", "e3", "e4", "e5", "w"]);
    expect(JSON.parse(JSON.stringify(session.getEntries()))).toEqual(readEntries(path).slice(1));
  });
});
