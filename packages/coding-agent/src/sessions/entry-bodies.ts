// Bodies of entries that nobody looks at now: they stay in the file and are read again when somebody does.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { SessionEntry } from "./entries.js";
import { SessionFileError } from "./session-error.js";

/** Bytes of a line below which its entry stays in memory: reading it back would cost more than it saves. */
const smallLine = 512;
/** The field of each entry type that can be large. */
const bodyFields: Partial<Record<string, string>> = { message: "message", custom: "data", custom_message: "content" };

interface Location {
  bodies: EntryBodies;
  offset: number;
  length: number;
}

/** Where the line of an entry is. Kept beside the entries, which are handed out as they are. */
const locations = new WeakMap<object, Location>();

/** One getter a field for all entries, so that they keep one shape. */
const getters = new Map(
  Object.values(bodyFields).map((field) => [
    field as string,
    {
      enumerable: true,
      configurable: true,
      get(this: object): unknown {
        const location = locations.get(this);
        return location && (location.bodies.read(this, location) as Record<string, unknown>)[field as string];
      },
    },
  ]),
);

/** The lines of one session file that entries can be read from again. */
export class EntryBodies {
  readonly #path: string;
  #fd: number | undefined;
  #inode = 0;
  /** The entry read last: its fields are asked for one after the other. */
  #last: { entry: object; body: object } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes where an entry's line is: `offset` bytes from the start of the file, `length` bytes without the LF. */
  locate(entry: SessionEntry, offset: number, length: number): void {
    if (length >= smallLine && bodyFields[entry.type]) locations.set(entry, { bodies: this, offset, length });
  }

  /** Lets go of an entry's body. It reads as before, from the file. Does nothing when its line is not known. */
  drop(entry: SessionEntry): void {
    const field = bodyFields[entry.type];
    if (!field || locations.get(entry)?.bodies !== this) return;
    if (Object.getOwnPropertyDescriptor(entry, field)?.get) return;
    this.#open(); // the file may be renamed or deleted later; what is open stays readable
    Object.defineProperty(entry, field, getters.get(field) as PropertyDescriptor);
  }

  /** Takes a dropped body back into memory. */
  restore(entry: SessionEntry): void {
    const field = bodyFields[entry.type];
    if (!field || !Object.getOwnPropertyDescriptor(entry, field)?.get) return;
    const value = (entry as unknown as Record<string, unknown>)[field];
    Object.defineProperty(entry, field, { value, enumerable: true, configurable: true, writable: true });
  }

  /** Throws `SessionFileError` when the file is no longer the one the entry was read from. */
  read(entry: object, { offset, length }: Location): object {
    if (this.#last?.entry === entry) return this.#last.body;
    const fd = this.#open();
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    for (let more = 1; got < length && more > 0; got += more)
      more = readSync(fd, bytes, got, length - got, offset + got);
    let body: object;
    try {
      body = JSON.parse(bytes.toString("utf8", 0, got)) as object;
    } catch (cause) {
      throw new SessionFileError("unreadable", this.#path, "it was changed by another program", { cause });
    }
    this.#last = { entry, body };
    return body;
  }

  /** Closes the file until somebody reads again. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#last = undefined;
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    let fd: number;
    try {
      fd = openSync(this.#path, "r");
    } catch (cause) {
      throw new SessionFileError("unreadable", this.#path, (cause as Error).message, { cause });
    }
    const { ino } = fstatSync(fd);
    if (this.#inode !== 0 && ino !== this.#inode) {
      closeSync(fd);
      throw new SessionFileError("unreadable", this.#path, "it was replaced by another file");
    }
    this.#inode = ino;
    this.#fd = fd;
    return fd;
  }
}

/** The entry with its body in memory: itself, or a copy. */
export function wholeEntry(entry: SessionEntry): SessionEntry {
  const field = bodyFields[entry.type];
  const isDropped = field && Object.getOwnPropertyDescriptor(entry, field)?.get;
  return isDropped ? { ...entry } : entry;
}
