import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findSessionById } from "../../src/sessions/session-list.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { assistant, header, lines, messageEntry, temporaryDirectory, user } from "./session-files.js";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => vi.unstubAllEnvs());

/** `age` in minutes. */
function write(name: string, content: string, age = 0, into = directory): string {
  const path = join(into, name);
  writeFileSync(path, content);
  utimesSync(path, 1_800_000_000 - age * 60, 1_800_000_000 - age * 60);
  return path;
}

describe("list", () => {
  test("tells name, first message and count, latest first", async () => {
    const old = write(
      "old.jsonl",
      lines(
        { ...header, id: "old", parentSession: "/p" },
        messageEntry("a", null),
        messageEntry("b", "a", assistant("x")),
      ),
      5,
    );
    const named = write(
      "new.jsonl",
      lines(
        { ...header, id: "new" },
        messageEntry("s", null, { role: "system", content: "", timestamp: 1 }),
        { type: "session_info", id: "n1", parentId: "s", timestamp: "t", name: "first" },
        "garbage",
        { id: "a", parentId: "n1", timestamp: "t", message: user("odd order of keys"), type: "message" },
        { type: "session_info", id: "n2", parentId: "a", timestamp: "t", name: " second " },
        messageEntry("c", "n2", { role: "user", content: "plain", timestamp: 1 }),
        messageEntry("d", "c", {
          role: "toolResult",
          toolCallId: "x",
          toolName: "x",
          content: [],
          isError: false,
          timestamp: 1,
        }),
      ),
    );
    const empty = write("empty-session.jsonl", lines({ ...header, id: "none" }), 9);
    const created = new Date(header.timestamp);
    const modified = (age: number) => new Date((1_800_000_000 - age * 60) * 1000);
    expect(await SessionManager.list("/work", directory)).toEqual([
      {
        path: named,
        id: "new",
        cwd: "/work",
        created,
        modified: modified(0),
        name: "second",
        messageCount: 3,
        firstMessage: "odd order of keys",
      },
      {
        path: old,
        id: "old",
        cwd: "/work",
        created,
        modified: modified(5),
        parentSessionPath: "/p",
        messageCount: 2,
        firstMessage: "a",
      },
      {
        path: empty,
        id: "none",
        cwd: "/work",
        created,
        modified: modified(9),
        messageCount: 0,
        firstMessage: "(no messages)",
      },
    ]);
  });

  test("passes over what is no session, however large, and what cannot be read", async () => {
    write("good.jsonl", lines(header));
    write("empty.jsonl", "");
    write("text.jsonl", "hello\n");
    write("other.json", lines(header));
    mkdirSync(join(directory, "directory.jsonl"));
    symlinkSync("loop.jsonl", join(directory, "loop.jsonl"));
    symlinkSync("nowhere", join(directory, "dangling.jsonl"));
    const huge = join(directory, "huge.jsonl");
    closeSync(openSync(huge, "w"));
    truncateSync(huge, 1 << 30); // sparse: takes no room, but reading it all would take a second
    const secret = write("secret.jsonl", lines(header));
    chmodSync(secret, 0);
    const readable = process.getuid?.() === 0 ? 2 : 1; // root reads everything
    expect((await SessionManager.list("/work", directory)).map(({ id }) => id)).toEqual(
      Array(readable).fill(header.id),
    );
    expect(await SessionManager.list("/work", join(directory, "missing"))).toEqual([]);
  });

  test("of a shared directory has only the sessions of the working directory; listAll has all", async () => {
    write("here.jsonl", lines({ ...header, id: "here" }), 1);
    write("there.jsonl", lines({ ...header, id: "there", cwd: "/elsewhere" }));
    expect((await SessionManager.list("/work", directory)).map(({ id }) => id)).toEqual(["here"]);
    expect((await SessionManager.listAll(directory)).map(({ id }) => id)).toEqual(["there", "here"]);
  });
});

describe("continueRecent", () => {
  test("opens the session of this working directory that was written last", () => {
    write("a.jsonl", lines({ ...header, id: "a" }), 3);
    write("b.jsonl", lines({ ...header, id: "b" }), 2);
    write("c.jsonl", lines({ ...header, id: "c", cwd: "/elsewhere" }), 1);
    expect(SessionManager.continueRecent("/work", directory).getSessionId()).toBe("b");
  });

  test("makes a new session when there is none", () => {
    const session = SessionManager.continueRecent("/work", directory);
    expect(session.getEntries()).toEqual([]);
    expect(session.isWritten).toBe(false);
  });
});

describe("findSessionById", () => {
  test("takes a whole id before a beginning, the own directory before others, the latest of several", () => {
    vi.stubEnv("PI_CODING_AGENT_DIR", directory);
    const root = join(directory, "sessions");
    const [own, other] = [join(root, "--work--"), join(root, "--elsewhere--")];
    for (const path of [own, other]) mkdirSync(path, { recursive: true });
    write("1.jsonl", lines({ ...header, id: "abc" }), 5, own);
    write("2.jsonl", lines({ ...header, id: "abcd" }), 1, own);
    write("3.jsonl", lines({ ...header, id: "abx", cwd: "/elsewhere" }), 0, other);
    const place = { cwd: "/work", directory: own, root };
    const found = (id: string) => findSessionById(id, place)?.path;
    expect(found("abc")).toBe(join(own, "1.jsonl"));
    expect(found("ab")).toBe(join(own, "2.jsonl"));
    expect(found("abx")).toBe(join(other, "3.jsonl"));
    expect(findSessionById("abx", place)?.cwd).toBe("/elsewhere");
    expect(found("zzz")).toBeUndefined();
    expect(found("")).toBeUndefined();
    expect(findSessionById("abx", { cwd: "/work", directory: own })).toBeUndefined();
  });
});
