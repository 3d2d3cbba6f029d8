// One session file on disk: created whole, then one appended line an entry, under the lock, after what others wrote.

import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { makeFolders } from "../lib/make-folders.js";
import { draftOf, removeLeftDrafts } from "./drafts.js";
import type { SessionEntry } from "./entries.js";
import { type LockOwner, SessionFileError, SessionLockedError } from "./session-error.js";
import { SessionLock } from "./session-lock.js";
import type { SessionReader } from "./session-reader.js";

const pollLockMs = 50;

/** Writes one session file. Everything but `acquire` is done when it returns. */
export class SessionFile {
  /** Behind symbolic links, so that all who write the file use one lock. */
  readonly #path: string;
  readonly #reader: SessionReader;
  readonly #lock: SessionLock;
  readonly #allLines: () => Iterable<string>;
  #unwritten: { id: string; entry: SessionEntry; line: string }[] = [];
  #fd: number | undefined;
  #exists: boolean;
  /** Whether `prepare` found that somebody removed the file. */
  #isGone = false;
  /** Bytes of the file when it was last read or written; -1 when that is not known. */
  #size = -1;

  /**
   * `reader` has read the file, or will be told of it once it is created. `allLines` gives the whole session, each
   * line with its LF, for a file that is not there.
   */
  constructor(reader: SessionReader, options: { exists: boolean; allLines: () => Iterable<string> }) {
    this.#reader = reader;
    this.#exists = options.exists;
    this.#allLines = options.allLines;
    this.#path = options.exists ? realpathSync(reader.path) : reader.path;
    this.#lock = new SessionLock(this.#path);
  }

  /** Whether the session was ever written. */
  get exists(): boolean {
    return this.#exists;
  }

  /** Whether something could not be written yet. */
  get hasUnwritten(): boolean {
    return this.#exists && this.#unwritten.length > 0;
  }

  /** The live process that may append, if it is not us. */
  get otherOwner(): LockOwner | undefined {
    return this.#exists ? this.#lock.otherOwner() : undefined;
  }

  /** Takes the lock, waiting up to `waitMs` for another owner; throws `SessionLockedError` and the system's errors. */
  async acquire(waitMs: number): Promise<void> {
    for (let waited = 0; ; waited += pollLockMs) {
      const owner = this.#lock.take();
      if (!owner) return;
      if (waited >= waitMs) throw new SessionLockedError(this.#path, owner);
      await wait(pollLockMs);
    }
  }

  /** Drops the lock and closes the file. Never throws. */
  release(): void {
    this.#close();
    this.#reader.bodies.close();
    this.#lock.release();
  }

  /**
   * Gets ready to append: has the lock, and gives what others appended since the last look. Throws
   * `SessionLockedError`, `SessionFileError` and the system's errors.
   */
  prepare(): SessionEntry[] {
    if (!this.#exists) return [];
    this.#takeLock();
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    const isSame = stat?.ino === this.#reader.inode;
    this.#isGone = !stat;
    if (isSame && stat?.size === this.#size) return [];
    if (!isSame) this.#close();
    if (!stat) return [];
    // Replaced or cut by somebody else: what is there now counts from the start.
    if (!isSame || stat.size < this.#reader.offset) this.#reader.restart();
    const entries = this.#reader.read();
    this.#size = stat.size;
    const ids = new Set(entries.map((entry) => entry.id));
    this.#unwritten = this.#unwritten.filter(({ id }) => !ids.has(id));
    return entries;
  }

  /** Makes a line (with its LF) wait for the next `write`. */
  queue(entry: SessionEntry, line: string): void {
    this.#unwritten.push({ id: entry.id, entry, line });
  }

  /** Writes what waits, after `prepare`. Throws the system's error; what could not be written goes on waiting. */
  write(): void {
    if (!this.#exists) return;
    if (this.#isGone) this.create();
    if (this.#unwritten.length === 0) return;
    if (this.#reader.isMigrated) this.#replaceOldVersion();
    while (this.#unwritten.length > 0) {
      const { entry, line } = this.#unwritten[0]!;
      const end = this.#append(line);
      const length = Buffer.byteLength(line);
      this.#reader.bodies.locate(entry, end - length, length - 1);
      this.#unwritten.shift();
    }
  }

  /** Creates the file with the whole session in it. Throws `SessionFileError` when it is there already. */
  create(): void {
    const folder = dirname(this.#path);
    makeFolders(folder, 0o700);
    removeLeftDrafts(folder, readdirSync(folder), basename(this.#path));
    this.#takeLock();
    const lines = [...this.#allLines()];
    const content = lines.join("");
    // Written beside and linked: a process that dies here leaves no half session.
    const inode = this.#writeBeside(content, 0o600, (draft) => {
      try {
        linkSync(draft, this.#path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EEXIST") throw new SessionFileError("exists", this.#path, "the file exists already");
        // A file system without hard links.
        if (statSync(this.#path, { throwIfNoEntry: false }))
          throw new SessionFileError("exists", this.#path, "the file exists already");
        renameSync(draft, this.#path);
      }
    });
    this.#exists = true;
    this.#isGone = false;
    this.#unwritten = [];
    this.#wrote(content, lines.length, inode);
  }

  #takeLock(): void {
    const owner = this.#lock.take();
    if (owner) throw new SessionLockedError(this.#path, owner);
  }

  /** Gives the size of the file afterwards. */
  #append(line: string): number {
    this.#fd ??= openSync(this.#path, "a");
    const bytes = Buffer.from(this.#reader.endsInLine ? `\n${line}` : line);
    // Until all is written, only another look at the file tells what it holds.
    const end = (this.#size < 0 ? fstatSync(this.#fd).size : this.#size) + bytes.length;
    this.#size = -1;
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
    this.#reader.appended(end);
    this.#size = end;
    return end;
  }

  #replaceOldVersion(): void {
    const content = this.#reader.currentForm();
    const { mode } = statSync(this.#path);
    const inode = this.#writeBeside(content, mode, (draft) => renameSync(draft, this.#path));
    this.#close();
    this.#wrote(content, undefined, inode);
  }

  #wrote(content: string | Buffer, lines: number | undefined, inode: number): void {
    this.#size = Buffer.byteLength(content);
    this.#reader.replaced(this.#size, lines, inode);
  }

  /** Gives the inode of the file that `place` puts into its place. */
  #writeBeside(content: string | Buffer, mode: number, place: (draft: string) => void): number {
    const draft = draftOf(this.#path);
    try {
      writeFileSync(draft, content, { mode });
      const { ino } = statSync(draft);
      place(draft);
      return ino;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
