import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseCommandLine } from "../src/args.js";
import { openChosenSession, type Terminal } from "../src/chosen-session.js";
import { SessionManager } from "../src/sessions/session-manager.js";
import { assistant, user } from "./core/messages.js";

/** A place with a directory of work and one of sessions. */
function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-chosen-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [cwd, sessionDir] = [join(root, "work"), join(root, "sessions")];
  mkdirSync(cwd);
  /** A stored session of a directory. */
  const stored = (of = cwd, id?: string) => {
    const session = SessionManager.create(of, sessionDir, id === undefined ? {} : { id });
    session.appendMessage(user("hi"));
    session.appendMessage(assistant("Hello"));
    session.release();
    return session;
  };
  const choose = (...argv: string[]) => openChosenSession(parseCommandLine(argv), cwd, sessionDir);
  /** `--resume` before a person who types `answer`; gives what was shown too. */
  const resume = async (answer: string) => {
    const shown: string[] = [];
    const terminal: Terminal = {
      say: (text) => void shown.push(text),
      ask: async () => answer,
    };
    const session = await openChosenSession(parseCommandLine(["-r"]), cwd, sessionDir, terminal);
    return { session, shown };
  };
  return { root, cwd, sessionDir, stored, choose, resume };
}

const texts = (session: SessionManager) => session.buildSessionContext().messages.length;

describe("openChosenSession", () => {
  test("a new one by default, in the directory for sessions, nothing written", async () => {
    const { choose, sessionDir, cwd } = place();
    const session = await choose();
    expect(session.getSessionFile()?.startsWith(`${sessionDir}/`)).toBe(true);
    expect([session.getCwd(), session.isWritten, texts(session)]).toEqual([cwd, false, 0]);
  });

  test("--no-session: in memory, with an id when one is given", async () => {
    const { choose } = place();
    const session = await choose("--no-session", "--session-id", "mine");
    expect([session.getSessionFile(), session.getSessionId()]).toEqual([undefined, "mine"]);
    expect((await choose("--no-session")).isPersisted()).toBe(false);
  });

  test("--continue: the latest of this directory, or a new one", async () => {
    const { choose, stored, root } = place();
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    stored(elsewhere);
    expect(texts(await choose("-c"))).toBe(0);
    const mine = stored();
    expect((await choose("--continue")).getSessionId()).toBe(mine.getSessionId());
  });

  test("--session with a path: that file, in its own directory of work, or a new one there", async () => {
    const { choose, stored, root, cwd } = place();
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    const other = stored(elsewhere);
    const opened = await choose("--session", other.getSessionFile() as string);
    expect([opened.getCwd(), texts(opened)]).toEqual([elsewhere, 2]);
    const fresh = await choose("--session", "new.jsonl");
    expect([fresh.getSessionFile(), fresh.getCwd(), texts(fresh)]).toEqual([join(cwd, "new.jsonl"), cwd, 0]);
  });

  test("--session with the beginning of an id", async () => {
    const { choose, stored } = place();
    const mine = stored(undefined, "abcdef-1");
    expect((await choose("--session", "abc")).getSessionFile()).toBe(mine.getSessionFile());
    await expect(choose("--session", "zzz")).rejects.toThrow(new Error('No session found whose id begins with "zzz"'));
  });

  test("--session-id: the one with exactly that id, or a new one with it", async () => {
    const { choose, stored } = place();
    const mine = stored(undefined, "work-1");
    expect((await choose("--session-id", "work-1")).getSessionFile()).toBe(mine.getSessionFile());
    const fresh = await choose("--session-id", "work");
    expect([fresh.getSessionId(), texts(fresh)]).toEqual(["work", 0]);
    await expect(choose("--session-id", "no/id")).rejects.toThrow(/no\/id/);
  });

  test("--fork: a copy that goes on in this directory, under a new id or the one given; the source stays", async () => {
    const { choose, stored, root, cwd } = place();
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    const source = stored(elsewhere, "source-1");
    const path = source.getSessionFile() as string;
    const before = readFileSync(path);
    const fork = await choose("--fork", "source");
    expect([fork.getCwd(), texts(fork), fork.getHeader().parentSession]).toEqual([cwd, 2, path]);
    expect(fork.getSessionId()).not.toBe("source-1");
    const named = await choose("--fork", path, "--session-id", "mine");
    expect([named.getSessionId(), texts(named)]).toEqual(["mine", 2]);
    fork.appendMessage(user("more"));
    expect(readFileSync(path)).toEqual(before);
    await expect(choose("--fork", "zzz")).rejects.toThrow('No session found whose id begins with "zzz"');
    await expect(choose("--fork", "missing.jsonl")).rejects.toThrow(/^Cannot open session ".*missing\.jsonl": /);
  });

  test("--resume: the session with the number a person types", async () => {
    const { resume, stored } = place();
    const [one, two] = [stored(undefined, "one"), stored(undefined, "two")];
    const first = await resume(" 1\n");
    const second = await resume("2");
    expect([first.session, second.session].map((session) => session.getSessionId()).sort()).toEqual(["one", "two"]);
    expect(first.shown).toHaveLength(2);
    for (const line of first.shown) expect(line).toMatch(/^ {2}[12] {2}\d{4}-\d\d-\d\dT\d\d:\d\d {2}2 messages {2}hi$/);
    expect([one, two].map(texts)).toEqual([2, 2]);
  });

  test.each(["", "0", "3", "1.5", "x"])("--resume: %j is no session", async (answer) => {
    const { resume, stored } = place();
    stored(undefined, "one");
    stored(undefined, "two");
    await expect(resume(answer)).rejects.toThrow(new Error(`"${answer}" is not a number from 1 to 2`));
  });

  test("--resume needs sessions and a terminal", async () => {
    const { resume, choose } = place();
    await expect(resume("1")).rejects.toThrow(new Error("There is no session of this directory"));
    await expect(choose("--resume")).rejects.toThrow(
      new Error("--resume needs a terminal; use --session with a file or the beginning of an id"),
    );
  });

  test("a session whose directory of work is gone is refused by name, its file untouched", async () => {
    const { choose, stored, root } = place();
    const gone = join(root, "gone");
    mkdirSync(gone);
    const session = stored(gone, "lost");
    const path = session.getSessionFile() as string;
    rmSync(gone, { recursive: true });
    const before = readFileSync(path);
    const text = `Cannot open session "${path}": its working directory "${gone}" is gone`;
    for (const argv of [
      ["--session", path],
      ["--session", "lost"],
    ])
      await expect(choose(...argv)).rejects.toThrow(new Error(text));
    expect(readFileSync(path)).toEqual(before);
  });

  test("a file that is no session is refused, and stays as it is", async () => {
    const { choose, root } = place();
    const notes = join(root, "notes.txt");
    writeFileSync(notes, "hello");
    await expect(choose("--session", notes)).rejects.toThrow(/^Cannot open session ".*notes\.txt": /);
    expect(readFileSync(notes, "utf8")).toBe("hello");
  });
});
