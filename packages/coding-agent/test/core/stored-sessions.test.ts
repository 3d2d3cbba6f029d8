import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openStore, StoredSessions } from "../../src/core/stored-sessions.js";
import { SessionFile } from "../../src/sessions/session-file.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { longSession } from "./long-session.js";
import { assistant, user } from "./messages.js";

/** A folder of sessions; those of `make` are older the earlier they were made. */
function bench() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-stored-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const sessionDir = join(root, "sessions");
  const agentDir = join(root, "agent");
  const cwd = join(root, "project");
  mkdirSync(cwd);
  let open: string | undefined;
  let made = 0;
  const make = (text: string, options: { cwd?: string; parentSession?: string } = {}) => {
    const { cwd: place = cwd, ...facts } = options;
    const store = SessionManager.create(place, sessionDir, facts);
    store.appendMessage(user(text));
    store.appendMessage(assistant("Yes"));
    store.release();
    const path = store.getSessionFile() as string;
    made += 1;
    utimesSync(path, 1000 + made, 1000 + made);
    return { path, id: store.getSessionId() };
  };
  const stored = new StoredSessions({ agentDir, sessionDir, openFile: () => open });
  const setOpen = (path: string) => {
    open = path;
  };
  return { root, sessionDir, agentDir, cwd, make, stored, setOpen };
}

describe("StoredSessions: list", () => {
  test("the latest first, whole summaries", async () => {
    const { make, stored, cwd } = bench();
    const first = make("first question");
    const second = make("second question", { parentSession: first.path });
    const { sessions, nextCursor } = await stored.list({});
    const times = { created: expect.stringMatching(/^\d{4}-.*Z$/), modified: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(nextCursor).toBeUndefined();
    expect(sessions).toEqual([
      { ...second, cwd, firstMessage: "second question", messageCount: 2, parentSession: first.path, ...times },
      { ...first, cwd, firstMessage: "first question", messageCount: 2, ...times },
    ]);
  });

  test("by pages: each cursor continues where the page before ended, and the last page has none", async () => {
    const { make, stored } = bench();
    const paths = Array.from({ length: 5 }, (_, index) => make(`q${index}`).path).reverse();
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await stored.list({ limit: 2, cursor });
      seen.push(...page.sessions.map(({ path }) => path));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect([seen, pages]).toEqual([paths, 3]);
  });

  test("a page that is exactly full is the last one", async () => {
    const { make, stored } = bench();
    make("one");
    make("two");
    expect(await stored.list({ limit: 2 })).not.toHaveProperty("nextCursor");
  });

  test("a newer session between two pages moves nothing; a cursor that is gone is refused", async () => {
    const { make, stored } = bench();
    const [first, second] = [make("one"), make("two")];
    const page = await stored.list({ limit: 1 });
    expect(page.nextCursor).toBe(second.path);
    make("three");
    expect((await stored.list({ limit: 1, cursor: page.nextCursor })).sessions).toMatchObject([{ path: first.path }]);
    await stored.delete(second.path);
    await expect(stored.list({ cursor: page.nextCursor })).rejects.toMatchObject({
      code: "not_found",
      message: `Session not found: ${second.path}`,
      field: "cursor",
    });
  });

  test("of one directory alone", async () => {
    const { root, make, stored, cwd } = bench();
    const here = make("here");
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    const there = make("there", { cwd: elsewhere });
    expect((await stored.list({ cwd })).sessions.map(({ path }) => path)).toEqual([here.path]);
    expect((await stored.list({ cwd: elsewhere })).sessions.map(({ path }) => path)).toEqual([there.path]);
    expect((await stored.list({})).sessions).toHaveLength(2);
    expect((await stored.list({ cwd: join(root, "nowhere") })).sessions).toEqual([]);
  });

  test("a name and a session without messages", async () => {
    const { stored, cwd, sessionDir } = bench();
    const store = SessionManager.create(cwd, sessionDir);
    store.appendSessionInfo("mine", { flush: true });
    store.release();
    expect((await stored.list({})).sessions).toMatchObject([{ name: "mine", firstMessage: "", messageCount: 0 }]);
  });

  test("without the folder there are none", async () => {
    const { stored } = bench();
    expect(await stored.list({})).toEqual({ sessions: [] });
  });
});

describe("StoredSessions: rename", () => {
  test("makes the name one line, and refuses one with nothing in it", async () => {
    const { make, stored } = bench();
    const { path } = make("one");
    await stored.rename(path, " my\nown\u001b ");
    expect((await stored.list({})).sessions).toMatchObject([{ name: "my own" }]);
    await expect(stored.rename(path, "\n\t")).rejects.toMatchObject({ code: "invalid_params", field: "name" });
  });

  test("writes the name and lets go of the file", async () => {
    const { make, stored } = bench();
    const { path } = make("one");
    await stored.rename(path, "mine");
    expect((await stored.list({})).sessions).toMatchObject([{ path, name: "mine" }]);
    expect(existsSync(`${path}.lock`)).toBe(false);
    await stored.rename(path, "yours");
    expect(SessionManager.open(path).getSessionName()).toBe("yours");
  });

  test("a session that another process writes is refused, and not changed", async () => {
    const { make, stored } = bench();
    const { path } = make("one");
    const owner = { host: "elsewhere", bootId: "x", pid: 1, startTime: "1", ownerId: "y" };
    writeFileSync(`${path}.lock`, JSON.stringify(owner));
    const before = readFileSync(path);
    await expect(stored.rename(path, "mine")).rejects.toMatchObject({ code: "session_locked" });
    expect(readFileSync(path)).toEqual(before);
  });
});

describe("StoredSessions: a name that cannot be written", () => {
  test("is io_error, and the name stays", async () => {
    const { make, stored } = bench();
    const { path } = make("question");
    const append = vi.spyOn(SessionFile.prototype, "write").mockImplementation(() => {
      throw new Error("ENOSPC: no space left on device");
    });
    onTestFinished(() => append.mockRestore());
    await expect(stored.rename(path, "mine")).rejects.toMatchObject({
      code: "io_error",
      message: expect.stringContaining("ENOSPC"),
    });
    append.mockRestore();
    expect((await stored.list({})).sessions[0]).not.toHaveProperty("name");
  });
});

describe("StoredSessions: delete", () => {
  test("a link to the open session is the open session", async () => {
    const { make, stored, root, setOpen } = bench();
    const { path } = make("question");
    setOpen(path);
    const link = join(root, "link.jsonl");
    symlinkSync(path, link);
    await expect(stored.delete(link)).rejects.toMatchObject({ code: "busy" });
    expect(existsSync(path)).toBe(true);
  });

  test("moves the file to the trash, unchanged, and out of the list", async () => {
    const { make, stored, agentDir } = bench();
    const { path } = make("one");
    const before = readFileSync(path);
    const target = await stored.delete(path);
    expect(target.startsWith(join(agentDir, "trash"))).toBe(true);
    expect(basename(target).endsWith(`_${basename(path)}`)).toBe(true);
    expect([existsSync(path), readFileSync(target)]).toEqual([false, before]);
    expect((await stored.list({})).sessions).toEqual([]);
  });

  test("never the open one, however its path is written", async () => {
    const { make, stored, setOpen, sessionDir } = bench();
    const { path } = make("one");
    setOpen(path);
    for (const name of [path, join(sessionDir, "..", "sessions", basename(path)), `${sessionDir}/./${basename(path)}`])
      await expect(stored.delete(name)).rejects.toMatchObject({
        code: "busy",
        message: "The open session cannot be deleted",
      });
    expect(existsSync(path)).toBe(true);
  });

  test("nothing that is no session", async () => {
    const { root, stored } = bench();
    const notes = join(root, "notes.jsonl");
    writeFileSync(notes, "hello\n");
    await expect(stored.delete(notes)).rejects.toMatchObject({ code: "invalid_params" });
    await expect(stored.delete(join(root, "gone.jsonl"))).rejects.toMatchObject({ code: "not_found" });
    await expect(stored.delete(root)).rejects.toMatchObject({
      code: expect.stringMatching(/^(io_error|invalid_params)$/),
    });
    expect(readFileSync(notes, "utf8")).toBe("hello\n");
  });
});

describe("openStore", () => {
  test.each([
    ["a file that is not there", undefined, "not_found"],
    ["a text", "hello", "invalid_params"],
    ["an empty file", "", "invalid_params"],
    ["a newer version", '{"type":"session","version":99,"id":"a","timestamp":"","cwd":"/"}\n', "not_supported"],
  ])("%s", (_, content, code) => {
    const { root } = bench();
    const path = join(root, "x.jsonl");
    if (content !== undefined) writeFileSync(path, content);
    expect(() => openStore(path)).toThrowError(
      expect.objectContaining({ code, message: expect.stringContaining(`"${path}"`) }) as Error,
    );
    if (content !== undefined) expect(readFileSync(path, "utf8")).toBe(content);
  });
});

describe("a session file that another process went on with", () => {
  test("what it said is part of the conversation of the next prompt", async () => {
    const { make } = bench();
    const { path } = make("one");
    const reader = longSession({ store: SessionManager.open(path) });
    // Another owner goes on from the same place and lets go of the file.
    const other = SessionManager.open(path);
    await other.acquire();
    other.appendMessage(user("from elsewhere"));
    other.appendMessage(assistant("There"));
    other.release();
    expect(reader.session.messages).toHaveLength(2);
    reader.scripted.reply("Here");
    await reader.say("two");
    expect(reader.requests()).toEqual([["one", "Yes", "from elsewhere", "There", "two"]]);
    await reader.session.dispose();
    const stored = SessionManager.open(path).buildSessionContext().messages;
    expect(stored).toHaveLength(6);
  });
});
