import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type LockOwner, SessionLockedError } from "../../src/sessions/session-error.js";
import { SessionLock } from "../../src/sessions/session-lock.js";
import { bundledProgram } from "../lib/bundled-program.js";
import { header, lines, readEntries, sessionFile, temporaryDirectory } from "./session-files.js";

function lockOf(file: string): SessionLock {
  const lock = new SessionLock(file);
  onTestFinished(() => lock.release());
  return lock;
}

/** Leaves a lock as somebody else would have written it. */
function leaveLock(file: string, change: (own: LockOwner) => Partial<LockOwner>): string {
  const own = lockOf(file);
  own.take();
  const path = own.path;
  const owner = JSON.parse(readFileSync(path, "utf8")) as LockOwner;
  own.release();
  writeFileSync(path, JSON.stringify({ ...owner, token: "theirs", ...change(owner) }));
  return path;
}

/** A pid that no process has: of a child that has ended and was waited for. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid!;
}

describe("a session lock", () => {
  test("names its owner, is there once, and is gone after release", () => {
    const file = sessionFile("");
    const [mine, other] = [lockOf(file), lockOf(file)];
    expect(mine.take()).toBeUndefined();
    expect(mine.take()).toBeUndefined();
    expect(mine.isHeld).toBe(true);
    expect(other.take()).toMatchObject({ pid: process.pid, host: hostname() });
    expect(other.otherOwner()).toMatchObject({ pid: process.pid });
    expect(mine.otherOwner()).toBeUndefined();
    other.release();
    expect(existsSync(mine.path)).toBe(true);
    mine.release();
    expect(readdirSync(dirname(file))).toEqual(["session.jsonl"]);
    expect(other.take()).toBeUndefined();
  });

  test.each<[string, (own: LockOwner) => Partial<LockOwner> | Promise<Partial<LockOwner>>]>([
    ["whose process has ended", async () => ({ pid: await endedPid() })],
    ["whose pid went to another process", () => ({ startTime: "1" })],
    ["from before the last boot", () => ({ bootId: "another" })],
  ])("%s is stale at once", async (_, change) => {
    const file = sessionFile("");
    const changes = await change({} as LockOwner);
    leaveLock(file, () => changes);
    const lock = lockOf(file);
    expect(lock.otherOwner()).toBeUndefined();
    expect(lock.take()).toBeUndefined();
    expect(lock.isHeld).toBe(true);
    expect(readdirSync(dirname(file)).sort()).toEqual(["session.jsonl", "session.jsonl.lock"]);
  });

  test.each([
    ["another host", () => ({ host: "elsewhere", pid: 1 })],
    ["another container", () => ({ pidNamespace: "pid:[1]", pid: 4_000_000 })],
  ])("of %s is stale when it was not touched for a minute", (_, change) => {
    const file = sessionFile("");
    const path = leaveLock(file, change);
    const lock = lockOf(file);
    const seconds = Date.now() / 1000;
    utimesSync(path, seconds - 55, seconds - 55);
    expect(lock.take()).toMatchObject(change());
    utimesSync(path, seconds - 61, seconds - 61);
    expect(lock.take()).toBeUndefined();
  });

  test("that cannot be read is held until it is a minute old", () => {
    const file = sessionFile("");
    const lock = lockOf(file);
    writeFileSync(lock.path, "");
    expect(lock.take()).toMatchObject({ host: "unknown" });
    utimesSync(lock.path, 1, 1);
    expect(lock.take()).toBeUndefined();
  });

  test.each<[string, string, (path: string, outside: string) => void]>([
    ["an empty directory", "is a directory", (path) => mkdirSync(path)],
    ["a link to nothing", "is a symbolic link", (path) => symlinkSync("/nowhere/at/all", path)],
    ["a link to a file", "is a symbolic link", (path, outside) => symlinkSync(outside, path)],
    ["half a lock", "cannot be read", (path) => writeFileSync(path, '{"host":')],
  ])("that is %s says so, and is taken over when it is a minute old", (_, what, make) => {
    const file = sessionFile("");
    const outside = sessionFile("precious");
    const lock = lockOf(file);
    make(lock.path, outside);
    const owner = lock.take()!;
    expect(new SessionLockedError(file, owner).message).toBe(
      `Cannot write session "${file}": its lock "${file}.lock" ${what}, which counts as held until it has not changed for a minute`,
    );
    expect(lock.otherOwner()).toEqual(owner);
    lutimesSync(lock.path, 1, 1);
    expect(lock.otherOwner()).toBeUndefined();
    expect(lock.take()).toBeUndefined();
    expect(lock.isHeld).toBe(true);
    expect(readdirSync(dirname(file)).sort()).toEqual(["session.jsonl", "session.jsonl.lock"]);
    expect(readFileSync(outside, "utf8")).toBe("precious");
  });

  test("that is a directory with something in it is left alone, and says so", () => {
    const file = sessionFile("");
    const lock = lockOf(file);
    mkdirSync(lock.path);
    writeFileSync(join(lock.path, "x"), "");
    utimesSync(lock.path, 1, 1);
    expect(new SessionLockedError(file, lock.take()!).message).toBe(
      `Cannot write session "${file}": its lock "${file}.lock" is a directory with something in it, which has to be removed by hand`,
    );
    expect(readdirSync(lock.path)).toEqual(["x"]);
  });

  test("leaves nothing behind on a full disk", async () => {
    const file = sessionFile("");
    const script = await bundledProgram(
      temporaryDirectory(),
      import.meta.url,
      `import { SessionLock } from "../../src/sessions/session-lock.ts";
      try {
        new SessionLock(process.argv[2]).take();
      } catch (error) {
        process.exitCode = error.code === "EFBIG" ? 7 : 1;
      }`,
    );
    // A limit of the size of files stands for the full disk: a file is made and takes no byte.
    const child = spawn("sh", ["-c", 'ulimit -f 0; exec "$0" "$@"', process.execPath, script, file]);
    expect((await once(child, "exit"))[0]).toBe(7);
    expect(readdirSync(dirname(file))).toEqual(["session.jsonl"]);
  });

  test("goes to one of many processes that find it stale, and every append of each stays whole", async () => {
    const file = sessionFile(lines(header));
    const dead = await endedPid();
    leaveLock(file, () => ({ pid: dead }));
    const script = await bundledProgram(temporaryDirectory(), import.meta.url, writer);
    const children = [1, 2, 3].map((number) =>
      spawn(process.execPath, [script, file, String(number)], { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual([0, 0, 0]);
    const entries = readEntries(file).slice(1) as { customType?: string; id: string; parentId: string | null }[];
    expect(entries.map((entry) => entry.customType).sort()).toEqual(
      [1, 2, 3].flatMap((number) => Array.from({ length: 8 }, () => `writer ${number}`)),
    );
    // Each read what the others wrote before it went on: one chain.
    expect(entries.map((entry) => entry.parentId)).toEqual([null, ...entries.slice(0, -1).map((entry) => entry.id)]);
    expect(readdirSync(dirname(file))).toEqual(["session.jsonl"]);
  });
});

const writer = `
import { SessionManager } from "../../src/sessions/session-manager.ts";
const [file, number] = process.argv.slice(2);
const session = SessionManager.open(file);
for (let count = 0; count < 8; count += 1) {
  await session.acquire(30_000);
  session.appendCustomEntry("writer " + number, { count });
  if (count % 3 === 0) session.release();
}
session.release();
`;
