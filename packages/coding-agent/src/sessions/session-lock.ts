// The lock beside a session file: who may append. Taken and dropped atomically, taken over from owners that are gone.

import { randomUUID } from "node:crypto";
import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { processStatus } from "../lib/process-status.js";
import { readRegularFile } from "../lib/read-regular-file.js";
import type { LockOwner } from "./session-error.js";

/** A lock of another host counts as left behind when it was not touched for this long. */
const foreignStaleMs = 60_000;
const touchEveryMs = 20_000;
/** A takeover takes microseconds; one this old was left behind by a process that died in it. */
const takeoverStaleMs = 10_000;

/** The right to append to one session file. Its lock file is `<session file>.lock`. */
export class SessionLock {
  readonly path: string;
  readonly #token = randomUUID();
  #touching: NodeJS.Timeout | undefined;
  #confirmedAt = 0;

  constructor(sessionFile: string) {
    this.path = `${sessionFile}.lock`;
  }

  /** Whether the lock is ours. A lock that was taken from us while this process was stopped is noticed here. */
  get isHeld(): boolean {
    if (!this.#touching) return false;
    const now = Date.now();
    if (now - this.#confirmedAt < touchEveryMs) return true;
    if (readOwner(this.path)?.token !== this.#token) this.#forget();
    else this.#confirmedAt = now;
    return this.#touching !== undefined;
  }

  /** The live owner of the lock, if that is somebody else. */
  otherOwner(): LockOwner | undefined {
    if (this.isHeld) return undefined;
    const found = look(this.path);
    return found && !isGone(found) ? found.owner : undefined;
  }

  /** Takes the lock at once or tells who holds it. Throws the system's error when no lock can be made here. */
  take(): LockOwner | undefined {
    // Every round ends in ours, in theirs, or with one stale lock less.
    for (let round = 0; round < 20; round += 1) {
      if (this.isHeld || this.#create()) return undefined;
      const found = look(this.path);
      if (!found) continue;
      if (!isGone(found)) return found.owner;
      if (!this.#remove(found)) return found.isDirectory ? { ...found.owner, unreadable: fullDirectory } : found.owner;
    }
    return look(this.path)?.owner ?? { ...unknownOwner, unreadable: "changes all the time" };
  }

  /** Drops the lock, if it is ours. Never throws. */
  release(): void {
    if (!this.#touching) return;
    this.#forget();
    try {
      if (readOwner(this.path)?.token === this.#token) unlinkSync(this.path);
    } catch {
      // What cannot be removed is stale as soon as this process ends.
    }
  }

  #forget(): void {
    clearInterval(this.#touching);
    this.#touching = undefined;
  }

  /** False when a lock exists. The content is there from the first moment on, so nobody ever reads half a lock. */
  #create(): boolean {
    const content = `${JSON.stringify({ ...thisProcess(), token: this.#token } satisfies LockOwner)}\n`;
    const draft = `${this.path}.${this.#token}`;
    try {
      writeFileSync(draft, content, { mode: 0o600 });
      if (!place(draft, this.path, content)) return false;
    } finally {
      // A full disk makes the draft and not its content.
      rmSync(draft, { force: true });
    }
    this.#confirmedAt = Date.now();
    this.#touching = setInterval(() => this.#touch(), touchEveryMs);
    this.#touching.unref();
    return true;
  }

  #touch(): void {
    const now = new Date();
    try {
      if (readOwner(this.path)?.token === this.#token) utimesSync(this.path, now, now);
      else this.#forget();
    } catch {
      // The next append finds out whether the lock is still ours.
    }
  }

  /**
   * Removes a lock whose owner is gone. Two processes may have found the same one stale, and the slower must not remove
   * the lock of the faster: only the holder of a takeover file named after exactly that lock may remove it, and only
   * after seeing it still there.
   */
  #remove(stale: FoundLock): boolean {
    const takeover = `${this.path}.${stale.owner.token}.takeover`;
    if (!createExclusively(takeover, "")) {
      const since = statSync(takeover, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (since > 0 && Date.now() - since > takeoverStaleMs) rmSync(takeover, { force: true });
      return false;
    }
    try {
      const found = look(this.path);
      return found?.owner.token !== stale.owner.token || removeEntry(this.path, found.isDirectory);
    } finally {
      rmSync(takeover, { force: true });
    }
  }
}

interface FoundLock {
  owner: LockOwner;
  touchedAt: number;
  isDirectory: boolean;
}

/** Whether a lock or its draft is there and nobody alive has it. Throws the system's error. */
export function isAbandoned(path: string): boolean {
  const found = look(path);
  return found !== undefined && isGone(found);
}

const unknownOwner: LockOwner = { host: "unknown", pid: 0, token: "unreadable" };

function look(path: string): FoundLock | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const owner = readOwner(path) ?? unreadableOwner(stat);
  return { owner, touchedAt: stat.mtimeMs, isDirectory: stat.isDirectory() };
}

/** Somebody made it, or wrote half of it and died: held until it is old. */
function unreadableOwner(stat: Stats): LockOwner {
  const what = stat.isDirectory() ? "is a directory" : stat.isSymbolicLink() ? "is a symbolic link" : "cannot be read";
  const unreadable = `${what}, which counts as held until it has not changed for a minute`;
  return { ...unknownOwner, token: `${stat.ino}-${stat.mtimeMs}`, unreadable };
}

const fullDirectory = "is a directory with something in it, which has to be removed by hand";

/** False for a directory with something in it, which is nobody's lock. */
function removeEntry(path: string, isDirectory: boolean): boolean {
  if (!isDirectory) unlinkSync(path);
  else
    try {
      rmdirSync(path);
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
      throw error;
    }
  return true;
}

/** Undefined for what is no file of ours; a link is not followed, wherever it leads. */
function readOwner(path: string): LockOwner | undefined {
  try {
    if (!lstatSync(path).isFile()) return undefined;
    const owner = JSON.parse(readRegularFile(path).toString("utf8")) as Partial<LockOwner> | null;
    const isOwner = typeof owner?.host === "string" && typeof owner.pid === "number" && typeof owner.token === "string";
    if (!isOwner) return undefined;
    const { unreadable: _, ...told } = owner as LockOwner;
    return told;
  } catch {
    return undefined;
  }
}

/** False when a lock exists. */
function place(draft: string, path: string, content: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    // A file system without hard links: exclusive creation, with a moment in which the lock is empty.
    return createExclusively(path, content);
  }
}

function createExclusively(path: string, content: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeFileSync(descriptor, content);
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** A process whose pids we cannot see (another host, another container) is judged by when it last touched its lock. */
function isGone({ owner, touchedAt }: FoundLock): boolean {
  if (owner.unreadable !== undefined) return Date.now() - touchedAt > foreignStaleMs;
  const self = thisProcess();
  if (owner.host === self.host && owner.bootId !== self.bootId) return true;
  if (owner.host !== self.host || owner.pidNamespace !== self.pidNamespace)
    return Date.now() - touchedAt > foreignStaleMs;
  if (!isAlive(owner.pid)) return true;
  const startTime = startTimeOf(owner.pid);
  return startTime !== undefined && owner.startTime !== undefined && startTime !== owner.startTime;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, under another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // A process that ended but was not waited for still has its pid.
  return !/^[ZX]/.test(processStatus(pid)?.state ?? "");
}

let known: Omit<LockOwner, "token"> | undefined;

function thisProcess(): Omit<LockOwner, "token"> {
  known ??= {
    host: hostname(),
    pid: process.pid,
    bootId: attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    pidNamespace: attempt(() => readlinkSync("/proc/self/ns/pid")),
    startTime: startTimeOf(process.pid),
  };
  return known;
}

/** In clock ticks since boot; undefined where there is no /proc. */
function startTimeOf(pid: number): string | undefined {
  return processStatus(pid)?.startTime;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
