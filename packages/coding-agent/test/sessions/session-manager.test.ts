import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { SessionLockedError } from "../../src/sessions/session-error.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import {
  assistant,
  header,
  lines,
  messageEntry,
  readEntries,
  sessionFile,
  temporaryDirectory,
  textsOf,
  user,
} from "./session-files.js";

const opened: SessionManager[] = [];
const track = (session: SessionManager) => {
  opened.push(session);
  return session;
};
const create = (directory = temporaryDirectory()) => track(SessionManager.create("/work", directory));
const open = (path: string) => track(SessionManager.open(path));
afterEach(() => {
  for (const session of opened.splice(0)) session.release();
});

describe("a new session", () => {
  test("writes nothing before its first message, then header and all that waited, for its owner only", () => {
    const directory = join(temporaryDirectory(), "deep", "er");
    const session = create(directory);
    session.appendModelChange("demo", "demo");
    session.appendThinkingLevelChange("high");
    session.appendSessionInfo("  a name ");
    expect(existsSync(directory)).toBe(false);
    session.appendMessage(user("hello"));
    const path = session.getSessionFile()!;
    expect(readEntries(path)).toEqual([session.getHeader(), ...session.getEntries()]);
    expect(session.getEntries().map((entry) => [entry.type, entry.parentId])).toEqual(
      session.getEntries().map((entry, index, all) => [entry.type, index === 0 ? null : all[index - 1]!.id]),
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(session.getSessionName()).toBe("a name");
  });

  test("is named by time and id, in a directory named after its working directory", () => {
    vi.stubEnv("PI_CODING_AGENT_DIR", "/agent");
    const path = track(SessionManager.create("/home/me/pro:ject")).getSessionFile()!;
    vi.unstubAllEnvs();
    expect(dirname(path)).toBe("/agent/sessions/--home-me-pro-ject--");
    expect(path).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f-]{36}\.jsonl$/);
  });

  test("takes an id of its own and a parent, and refuses an id that is none", () => {
    const session = track(
      SessionManager.create("/work", temporaryDirectory(), { id: "my-own.id", parentSession: "/p.jsonl" }),
    );
    expect(session.getHeader()).toMatchObject({ id: "my-own.id", parentSession: "/p.jsonl", version: 3 });
    for (const id of ["", "-a", "a-", "a b", "a/b", "ä"])
      expect(() => SessionManager.create("/work", undefined, { id })).toThrow(/Cannot create session/);
  });

  test("flush writes it without a message; so does a name that asks for it", () => {
    for (const write of [
      (s: SessionManager) => s.flush(),
      (s: SessionManager) => s.appendSessionInfo("n", { flush: true }),
    ]) {
      const session = create();
      session.appendModelChange("demo", "demo");
      write(session);
      expect(readEntries(session.getSessionFile()!).slice(1)).toEqual(session.getEntries());
    }
  });

  test("never overwrites a file that came to be meanwhile", () => {
    const file = join(temporaryDirectory(), "notes.jsonl");
    const session = track(SessionManager.create("/work", undefined, { file }));
    const errors: Error[] = [];
    session.onWriteError = (error) => errors.push(error);
    writeFileSync(file, "precious");
    session.appendMessage(user("hello"));
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(errors.map((error) => error.message)).toEqual([`Cannot create session "${file}": the file exists already`]);
    rmSync(file);
    session.appendMessage(user("again"));
    expect(readEntries(file).slice(1)).toEqual(session.getEntries());
  });

  test("in memory is never written", () => {
    const session = SessionManager.inMemory("/work");
    session.appendMessage(user("hello"));
    session.flush();
    expect(session.getSessionFile()).toBeUndefined();
    expect(session.isPersisted()).toBe(false);
    expect(session.readOnly).toBe(false);
    expect(textsOf(session.buildSessionContext().messages)).toEqual(["hello"]);
  });
});

describe("appending", () => {
  test("is in the file as one line when the call returns", () => {
    const session = create();
    session.appendMessage(user("one"));
    const path = session.getSessionFile()!;
    const before = readFileSync(path, "utf8");
    const id = session.appendMessage(assistant("two\nlines\u2028"));
    const added = readFileSync(path, "utf8").slice(before.length);
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    expect(added.endsWith("\n")).toBe(true);
    expect(JSON.parse(added)).toEqual(session.getEntry(id));
  });

  test("of every kind comes back the same from the file", () => {
    const session = create();
    const root = session.appendMessage(user("one"));
    session.appendModelChange("demo", "demo");
    session.appendThinkingLevelChange("low");
    session.appendCustomEntry("state", { a: [1, null] });
    session.appendCustomMessageEntry("note", "text", true, { x: 1 });
    session.appendContextEdit(root, "other");
    session.appendLabelChange(root, "mark");
    session.appendUsage("warm", assistantUsage, { provider: "demo", id: "demo" });
    session.appendCompaction("sum", root, 12, { readFiles: [] }, false, assistantUsage);
    session.branchWithSummary(root, "left", { modifiedFiles: [] }, true);
    session.release();
    const again = open(session.getSessionFile()!);
    expect(again.getEntries()).toEqual(JSON.parse(JSON.stringify(session.getEntries())));
    expect(again.getLeafId()).toBe(session.getLeafId());
    expect(again.getTree()).toEqual(JSON.parse(JSON.stringify(session.getTree())));
    expect(again.getLabel(root)).toBe("mark");
    expect(again.diagnostics).toEqual([]);
    expect(again.buildSessionContext()).toEqual(session.buildSessionContext());
  });

  test("keeps none before a compaction that names itself", () => {
    const session = create();
    session.appendMessage(user("one"));
    const id = session.appendCompaction("sum", null, 5);
    expect(session.getEntry(id)).toMatchObject({ firstKeptEntryId: id });
    expect(textsOf(session.buildSessionContext().messages)).toEqual(["summary: sum"]);
  });

  test("refuses what is no JSON, changing nothing", () => {
    const session = create();
    session.appendMessage(user("one"));
    const before = readFileSync(session.getSessionFile()!, "utf8");
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(() => session.appendCustomEntry("bad", circular)).toThrow(TypeError);
    expect(session.getEntries()).toHaveLength(1);
    expect(readFileSync(session.getSessionFile()!, "utf8")).toBe(before);
  });

  test("goes on in a new file when the file was removed, with everything in it", () => {
    const session = create();
    session.appendMessage(user("one"));
    rmSync(session.getSessionFile()!);
    session.appendMessage(assistant("two"));
    expect(readEntries(session.getSessionFile()!)).toEqual([session.getHeader(), ...session.getEntries()]);
  });

  test("that fails stays in memory, is told, and is written first next time", () => {
    const session = create();
    session.appendMessage(user("one"));
    session.release();
    const path = session.getSessionFile()!;
    const away = `${path}.away`;
    renameSync(path, away);
    mkdirSync(path); // nothing can be appended to a directory
    const errors: Error[] = [];
    session.onWriteError = (error) => errors.push(error);
    session.appendMessage(assistant("two"));
    session.appendMessage(user("three"));
    expect(errors).toHaveLength(2);
    expect(textsOf(session.buildSessionContext().messages)).toEqual(["one", "two", "three"]);
    rmSync(path, { recursive: true });
    renameSync(away, path);
    session.appendMessage(assistant("four"));
    expect(errors).toHaveLength(2);
    expect(readEntries(path).slice(1)).toEqual(session.getEntries());
  });
});

describe("branching", () => {
  test("branch, resetLeaf and branchWithSummary say where the next entry goes", () => {
    const session = create();
    const one = session.appendMessage(user("one"));
    const two = session.appendMessage(assistant("two"));
    session.branch(one);
    const other = session.appendMessage(assistant("other"));
    expect(session.getChildren(one).map((entry) => entry.id)).toEqual([two, other]);
    expect(session.getBranch().map((entry) => entry.id)).toEqual([one, other]);
    expect(session.getBranch(two).map((entry) => entry.id)).toEqual([one, two]);
    const summary = session.branchWithSummary(one, "what was left");
    expect(session.getEntry(summary)).toMatchObject({ parentId: one, fromId: other });
    session.resetLeaf();
    expect(session.getLeafEntry()).toBeUndefined();
    const root = session.appendMessage(user("root"));
    expect(session.getChildren(null).map((entry) => entry.id)).toEqual([one, root]);
    expect(() => session.branch("nope")).toThrow("Entry not found: nope");
    expect(() => session.appendLabelChange("nope", "x")).toThrow("Entry not found: nope");
  });
});

describe("a second writer", () => {
  const twoOnOneFile = () => {
    const path = sessionFile(lines(header, messageEntry("aaaaaaa1", null), messageEntry("aaaaaaa2", "aaaaaaa1")));
    return [open(path), open(path), path] as const;
  };

  test("is refused while the first writes, changing nothing, and reads on when it may", async () => {
    const [first, second, path] = twoOnOneFile();
    expect([first.readOnly, second.readOnly]).toEqual([false, false]);
    first.appendMessage(user("first"));
    expect([first.readOnly, second.readOnly]).toEqual([false, true]);
    const before = readFileSync(path, "utf8");
    await expect(second.acquire(0)).rejects.toBeInstanceOf(SessionLockedError);
    expect(() => second.appendMessage(user("second"))).toThrow(new RegExp(`process ${process.pid} on host`));
    expect(readFileSync(path, "utf8")).toBe(before);
    first.release();
    await second.acquire(0);
    expect(second.getEntries()).toEqual(first.getEntries());
    expect(second.getLeafId()).toBe(first.getLeafId());
    expect(first.readOnly).toBe(true);
  });

  test("waits for the first to finish", async () => {
    const [first, second] = twoOnOneFile();
    first.appendMessage(user("first"));
    const waiting = second.acquire();
    first.release();
    await waiting;
    expect(second.getLeafId()).toBe(first.getLeafId());
  });

  test("stays on its own branch when that is another one", async () => {
    const [first, second] = twoOnOneFile();
    second.branch("aaaaaaa1");
    first.appendMessage(user("first"));
    first.release();
    second.appendMessage(user("second"));
    expect(second.getBranch().map((entry) => entry.id)).toEqual(["aaaaaaa1", second.getLeafId()]);
    expect(second.getEntries()).toHaveLength(4);
  });

  test("that knows no locks is read too, and its half line closed", () => {
    const path = sessionFile(lines(header, messageEntry("aaaaaaa1", null)));
    const session = open(path);
    session.appendMessage(user("ours"));
    const stranger = messageEntry("bbbbbbb1", session.getLeafId());
    writeFileSync(path, `${lines(stranger)}{"type":"mess`, { flag: "a" });
    const id = session.appendMessage(user("ours again"));
    expect(session.getEntry(id)?.parentId).toBe("bbbbbbb1");
    expect(readFileSync(path, "utf8").split("\n").at(-3)).toBe('{"type":"mess');
    expect(session.diagnostics.map(({ kind, line }) => [kind, line])).toEqual([["torn_line", 5]]);
    session.release();
    expect(open(path).getEntries()).toEqual(session.getEntries());
  });

  test("shares the lock when it comes through a link", () => {
    const [first, , path] = twoOnOneFile();
    const link = join(temporaryDirectory(), "link.jsonl");
    symlinkSync(path, link);
    const second = open(link);
    first.appendMessage(user("first"));
    expect(second.readOnly).toBe(true);
    first.release();
    second.appendMessage(user("second"));
    expect(readEntries(path).at(-1)).toEqual(second.getLeafEntry());
    second.release();
    expect(readdirSync(dirname(path))).toEqual(["session.jsonl"]);
  });
});

const assistantUsage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
