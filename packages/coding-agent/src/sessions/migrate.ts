// Older versions of the session format → the current one, in memory.

import { currentSessionVersion, type SessionHeader } from "./entries.js";

/** A line of a session file that parsed to an object. */
export type RawEntry = Record<string, unknown>;

/** Brings the entries of one file up to date, in the order of the file. */
export interface Migration {
  header: SessionHeader;
  migrate(entry: RawEntry): RawEntry;
}

/** The migration a file with this header needs; undefined when it is current. `version` is 1 or 2. */
export function migrationFrom(header: SessionHeader, version: number): Migration | undefined {
  if (version >= currentSessionVersion) return undefined;
  const link = version < 2 ? linkEntries() : undefined;
  return {
    header: { ...header, version: currentSessionVersion },
    migrate: (entry) => renameHookMessage(link ? link(entry) : entry),
  };
}

/**
 * Version 1 was a plain sequence. Ids are made from the place in the file, so that they are the same each time an
 * old file is opened; a compaction named what it kept by that place, the header being 0.
 */
function linkEntries(): (entry: RawEntry) => RawEntry {
  let index = 0;
  const idOf = (place: number) => place.toString(16).padStart(8, "0");
  return (entry) => {
    index += 1;
    const linked: RawEntry = { ...entry, id: idOf(index), parentId: index === 1 ? null : idOf(index - 1) };
    if (entry.type === "compaction" && typeof entry.firstKeptEntryIndex === "number") {
      const kept = entry.firstKeptEntryIndex;
      delete linked.firstKeptEntryIndex;
      linked.firstKeptEntryId = idOf(kept >= 1 && kept < index ? kept : index);
    }
    return linked;
  };
}

/** Version 2 called messages of extensions `hookMessage`. */
function renameHookMessage(entry: RawEntry): RawEntry {
  const message = entry.message;
  if (entry.type !== "message" || typeof message !== "object" || message === null) return entry;
  if ((message as RawEntry).role !== "hookMessage") return entry;
  return { ...entry, message: { ...message, role: "custom" } };
}
