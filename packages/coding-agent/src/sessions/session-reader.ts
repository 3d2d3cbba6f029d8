// Reads a session file: its header, its entries, and what is wrong with its lines. Can read on after others appended.

import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { excerpt } from "@earendil-works/pi-ai";
import { currentSessionVersion, type SessionEntry, type SessionHeader } from "./entries.js";
import { EntryBodies } from "./entry-bodies.js";
import { keptFrom } from "./kept-from.js";
import { mendEntry } from "./mend-entry.js";
import { type Migration, migrationFrom, type RawEntry } from "./migrate.js";
import { type Line, readLines, withoutMark } from "./read-lines.js";
import { SessionFileError } from "./session-error.js";

/** Something odd in a session file that was read around. `line` counts from 1. */
export interface SessionDiagnostic {
  kind: "torn_line" | "bad_line" | "blank_line" | "duplicate_id" | "orphan" | "cycle";
  line?: number;
  message: string;
}

/** Takes one entry; `end` is where its line ends in the file. */
type GiveEntry = (entry: SessionEntry, end: number) => void;

/** A header longer than this is no header; keeps a huge foreign file from being read. */
const maxHeaderBytes = 1 << 20;
/** A file full of garbage must not fill memory with reports about it. */
const maxDiagnostics = 100;

/** One session file as it is read. It only ever reads; what it reads is never changed. */
export class SessionReader {
  readonly path: string;
  readonly diagnostics: SessionDiagnostic[] = [];
  /** Set by the first `read`; already of the current version. */
  header!: SessionHeader;
  /** Whether the file is of an older version, so that the current form is only in memory. */
  get isMigrated(): boolean {
    return this.#migration !== undefined;
  }
  /** Where the entries' lines are. */
  readonly bodies: EntryBodies;
  /** Bytes read and understood so far. A torn last line is not among them: it may still be completed. */
  offset = 0;
  /** Whether the file ends in the middle of a line, which must be closed before anything is appended. */
  endsInLine = false;
  /** Identifies the file on disk that was read. */
  inode = 0;

  #line = 0;
  /** Whether the open last line was complete and is already counted and taken. */
  #openLineCounted = false;
  /** The report about an open last line that was not complete. */
  #torn: SessionDiagnostic | undefined;
  #migration: Migration | undefined;
  /** Every line of a file that is to be migrated: objects in their new form, others as they were. */
  #lines: (Buffer | RawEntry)[] = [];

  constructor(path: string) {
    this.path = path;
    this.bodies = new EntryBodies(path);
  }

  /** The entries since the last read (at first: all). Throws `SessionFileError`. */
  read(): SessionEntry[] {
    const entries: SessionEntry[] = [];
    this.readEach((entry) => void entries.push(entry));
    return entries;
  }

  /**
   * Gives the same entries one after another. With `dropsHidden` the body of one that the latest compaction seems to hide
   * is let go of when `take` returns, so that a long history is never in memory as a whole.
   */
  readEach(take: (entry: SessionEntry) => void, options: { dropsHidden?: boolean } = {}): void {
    const fd = open(this.path);
    try {
      this.inode = fstatSync(fd).ino;
      const from = options.dropsHidden ? keptFrom(fd) : 0;
      this.#readFrom(fd, (entry, end) => {
        take(entry);
        if (end <= from) this.bodies.drop(entry);
      });
    } catch (error) {
      throw error instanceof SessionFileError ? error : unreadable(this.path, error);
    } finally {
      closeSync(fd);
    }
  }

  /** Notes that we appended one line, closing an open line first, so that the file now has `end` bytes. */
  appended(end: number): void {
    this.#line += this.endsInLine && !this.#openLineCounted ? 2 : 1;
    this.offset = end;
    this.endsInLine = false;
    this.#openLineCounted = false;
    this.#torn = undefined;
  }

  /** Notes that we wrote the whole file: `bytes` in `lines` lines (absent: as many as there were). */
  replaced(bytes: number, lines: number | undefined, inode: number): void {
    if (lines !== undefined) this.#line = lines;
    else if (this.endsInLine && !this.#openLineCounted) this.#line += 1;
    this.#migration = undefined;
    this.#lines = [];
    this.#torn = undefined;
    this.#openLineCounted = false;
    this.offset = bytes;
    this.endsInLine = false;
    this.inode = inode;
  }

  /** Makes the next read begin at the start of the file, because it is another one now. */
  restart(): void {
    this.#line = 0;
    this.#migration = undefined;
    this.#lines = [];
    this.#torn = undefined;
    this.#openLineCounted = false;
    this.diagnostics.length = 0;
    this.offset = 0;
    this.endsInLine = false;
  }

  /** The whole file in its current form, for a file of an older version; lines that are no entries stay as they are. */
  currentForm(): Buffer {
    const lines = this.#lines.map((line) => (Buffer.isBuffer(line) ? line : Buffer.from(JSON.stringify(line))));
    if (this.endsInLine && !this.#openLineCounted) lines.push(readFileSync(this.path).subarray(this.offset));
    return Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
  }

  #readFrom(fd: number, give: GiveEntry): void {
    if (this.offset === 0) this.#readHeader(fd);
    this.#forgetTornLine();
    let closing = this.#openLineCounted;
    for (const line of readLines(fd, this.offset)) {
      if (closing && line.bytes.length === 0 && line.terminated) {
        // The LF that closes a complete last line we had already taken.
        closing = false;
        this.#openLineCounted = false;
        this.offset = line.end;
        this.endsInLine = false;
        continue;
      }
      closing = false;
      this.#line += 1;
      const taken = this.#take(line, give);
      this.endsInLine = !line.terminated;
      if (!line.terminated && !taken) {
        this.#line -= 1;
        break;
      }
      this.#openLineCounted = !line.terminated;
      this.offset = line.end;
    }
  }

  #readHeader(fd: number): void {
    const head = Buffer.allocUnsafe(Math.min(maxHeaderBytes, Math.max(1, fstatSync(fd).size)));
    const length = readSync(fd, head, 0, head.length, 0);
    const LF = head.subarray(0, length).indexOf(10);
    // Without a LF among the first bytes the file is all header, or it is no session at all.
    const raw = parse(withoutMark(head.subarray(0, LF < 0 ? length : LF)));
    if (raw?.type !== "session" || typeof raw.id !== "string")
      throw new SessionFileError("not_a_session", this.path, "its first line is no session header");
    const version = versionOf(raw, this.path);
    const { id, cwd, timestamp } = raw;
    this.header = {
      ...raw,
      type: "session",
      version,
      id,
      timestamp: typeof timestamp === "string" ? timestamp : new Date(0).toISOString(),
      cwd: typeof cwd === "string" ? cwd : process.cwd(),
    };
    this.#migration = migrationFrom(this.header, version);
    if (this.#migration) {
      this.header = this.#migration.header;
      this.#lines.push({ ...this.header });
    }
    this.#line = 1;
    this.offset = LF < 0 ? length : LF + 1;
    this.endsInLine = LF < 0;
    this.#openLineCounted = LF < 0;
  }

  /** Gives away what the line holds; false when it holds no entry. */
  #take({ bytes, terminated, offset, end }: Line, give: GiveEntry): boolean {
    const raw = parse(bytes);
    if (!raw || raw.type === "session") {
      if (!terminated && bytes.length > 0 && !raw)
        this.#report("torn_line", "is cut off; what follows starts a new line");
      else if (isBlank(bytes)) this.#report("blank_line", "is empty");
      else this.#report("bad_line", raw ? "is a second header" : "is no JSON object");
      if (this.#migration && terminated) this.#lines.push(Buffer.from(bytes));
      return raw !== undefined;
    }
    const entry = this.#migration ? this.#migration.migrate(raw) : raw;
    if (this.#migration) this.#lines.push(structuredClone(entry));
    const wrong = mendEntry(entry);
    if (wrong) this.#report("bad_line", wrong);
    if (isEntry(entry)) {
      // What was mended stays in memory: the file has it as it was.
      if (!this.#migration && terminated && !wrong) this.bodies.locate(entry, offset, bytes.length);
      give(entry, end);
    } else this.#report("bad_line", "is no entry: it has no type, or an id or parent that is no string");
    return true;
  }

  #report(kind: SessionDiagnostic["kind"], what: string): void {
    if (this.diagnostics.length >= maxDiagnostics) return;
    const message = `Line ${this.#line} of session "${this.path}" ${what}`;
    const diagnostic: SessionDiagnostic = { kind, line: this.#line, message };
    this.diagnostics.push(diagnostic);
    if (kind === "torn_line") this.#torn = diagnostic;
  }

  /** A torn last line is read again: it may have been completed or closed meanwhile. */
  #forgetTornLine(): void {
    if (this.#torn) this.diagnostics.splice(this.diagnostics.indexOf(this.#torn), 1);
    this.#torn = undefined;
  }
}

/** The first version did not say so. Throws `SessionFileError` for one that never was, or is not yet. */
function versionOf({ version = 1 }: RawEntry, path: string): number {
  if (typeof version === "number" && version > currentSessionVersion)
    throw new SessionFileError(
      "newer_version",
      path,
      `it has version ${version}, this program reads up to ${currentSessionVersion}`,
    );
  if (Number.isInteger(version) && (version as number) >= 1) return version as number;
  const reason = `its version is ${excerpt(JSON.stringify(version))}, which is none of 1 to ${currentSessionVersion}`;
  throw new SessionFileError("not_a_session", path, reason);
}

function open(path: string): number {
  let isFile: boolean;
  try {
    // Asked before opening: opening a pipe would wait for its writer.
    isFile = statSync(path).isFile();
    if (isFile) return openSync(path, "r");
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new SessionFileError("unreadable", path, "it is no file");
}

function unreadable(path: string, error: unknown): SessionFileError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return new SessionFileError("missing", path, "there is no such file");
  return new SessionFileError("unreadable", path, message, { cause: error });
}

/** The object a line holds; undefined when it holds none. A line too long for a string holds none either. */
function parse(bytes: Buffer): RawEntry | undefined {
  if (bytes[0] !== 0x7b /* { */ && !/^\s*\{/.test(bytes.toString("latin1", 0, 64))) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8")) as RawEntry;
  } catch {
    return undefined;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length < 1024 && bytes.toString("latin1").trim() === "";
}

/**
 * Only what the tree needs is checked here: others may write types and fields we do not know, which are kept as they
 * are. Whoever reads further fields of a message checks them (session-context.ts).
 */
function isEntry(raw: RawEntry): raw is RawEntry & SessionEntry {
  const { type, id, parentId } = raw;
  return typeof type === "string" && typeof id === "string" && (parentId == null || typeof parentId === "string");
}
