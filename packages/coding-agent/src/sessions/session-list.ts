// Finds and lists session files, reading no more of each than is asked for. Files that are no sessions are passed over.

import { closeSync, openSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { removeLeftDrafts } from "./drafts.js";
import { readLines, withoutMark } from "./read-lines.js";
import type { SessionFacts } from "./session-index.js";

/** A session as a list shows it. `messageCount` counts the messages of all branches. */
export interface SessionInfo {
  path: string;
  id: string;
  /** Empty when the file does not say. */
  cwd: string;
  name?: string;
  parentSessionPath?: string;
  created: Date;
  /** When the file was written last. */
  modified: Date;
  messageCount: number;
  /** The text of the first user message; `(no messages)` when there is none. */
  firstMessage: string;
}

interface Candidate {
  path: string;
  stats: Stats;
  header: Record<string, unknown> & { id: string };
}

/** More than any real header; a file without a LF among its first bytes is no session. */
const maxHeaderBytes = 64 * 1024;
/** Enough to see what a line is without parsing it. */
const glanceBytes = 512;

/** The sessions in a directory, latest first; with `cwd` only those of that working directory. */
export async function listSessions(directory: string, cwd?: string): Promise<SessionInfo[]> {
  const { SessionIndex } = await import("./session-index.js");
  const index = new SessionIndex(directory);
  const infos: SessionInfo[] = [];
  removeLeftDrafts(directory, names(directory));
  for (const { name, path, stats } of files(directory)) {
    let facts = index.find(name, stats);
    if (facts === undefined) {
      try {
        facts = factsOf(path, stats);
        index.keep(name, stats, facts);
      } catch {
        continue; // cannot be read now
      }
      // A long list must not hold up everything else.
      await breathe();
    }
    if (facts && (cwd === undefined || facts.cwd === cwd)) infos.push(infoOf(path, stats, facts));
  }
  await index.save();
  return infos;
}

/** The sessions in all directories below `root`, latest first. */
export async function listAllSessions(root: string): Promise<SessionInfo[]> {
  const infos: SessionInfo[] = [];
  for (const name of names(root)) infos.push(...(await listSessions(join(root, name))));
  return infos.sort((a, b) => b.modified.getTime() - a.modified.getTime());
}

/** The path of the session of `cwd` that was written last. */
export function findLatestSession(cwd: string, directory: string): string | undefined {
  return latestFirst(directory).find((candidate) => isOf(candidate, cwd))?.path;
}

/**
 * The path of the session whose id is `id` or, failing that, starts with it: first among those of `cwd`, then, when no
 * directory was chosen, among all. Of several the latest. `root` holds the directories of all working directories.
 */
export function findSessionById(
  id: string,
  place: { cwd: string; directory: string; root?: string },
): { path: string; cwd: string } | undefined {
  if (id === "") return undefined;
  const here = latestFirst(place.directory);
  const others = place.root ? names(place.root).map((name) => join(place.root!, name)) : [];
  const groups = [
    here.filter((candidate) => isOf(candidate, place.cwd)),
    here,
    others.filter((directory) => resolve(directory) !== resolve(place.directory)).flatMap(latestFirst),
  ];
  for (const group of groups) {
    const found = group.find(({ header }) => header.id === id) ?? group.find(({ header }) => header.id.startsWith(id));
    if (found) return { path: found.path, cwd: cwdOf(found.header) };
  }
  return undefined;
}

function latestFirst(directory: string): Candidate[] {
  return files(directory).flatMap(({ path, stats }) => candidate(path, stats) ?? []);
}

/** Those that may be sessions, the one that was written last first. */
function files(directory: string): { name: string; path: string; stats: Stats }[] {
  return names(directory)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const path = join(directory, name);
      const stats = statsOf(path);
      return stats?.isFile() && stats.size > 0 ? [{ name, path, stats }] : [];
    })
    .sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs || (a.path < b.path ? 1 : -1));
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined; // a link that leads nowhere, or gone meanwhile
  }
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Undefined for what is no session or cannot be read. */
function candidate(path: string, stats: Stats): Candidate | undefined {
  try {
    const header = headerOf(path, stats.size);
    return header && { path, stats, header };
  } catch {
    return undefined;
  }
}

/** Undefined for what is no session. Throws the system's error. */
function headerOf(path: string, size: number): Candidate["header"] | undefined {
  return withFile(path, (fd) => {
    const head = Buffer.allocUnsafe(Math.min(maxHeaderBytes, size));
    const length = readSync(fd, head, 0, head.length, 0);
    const LF = head.subarray(0, length).indexOf(10);
    if (LF < 0 && size > length) return undefined;
    const header = parse(withoutMark(head.subarray(0, LF < 0 ? length : LF)));
    return header?.type === "session" && typeof header.id === "string" ? (header as Candidate["header"]) : undefined;
  });
}

function isOf(candidate: Candidate, cwd: string | undefined): boolean {
  return cwd === undefined || cwdOf(candidate.header) === cwd;
}

function cwdOf(header: Candidate["header"]): string {
  return typeof header.cwd === "string" ? header.cwd : "";
}

/** Null for what is no session. Throws the system's error. */
function factsOf(path: string, stats: Stats): SessionFacts | null {
  const header = headerOf(path, stats.size);
  if (!header) return null;
  const { id, timestamp, parentSession } = header;
  const created = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  const facts: SessionFacts = {
    id,
    cwd: cwdOf(header),
    created: Number.isNaN(created) ? stats.birthtimeMs : created,
    messageCount: 0,
    firstMessage: "",
  };
  if (typeof parentSession === "string") facts.parentSessionPath = parentSession;
  withFile(path, (fd) => {
    for (const { bytes } of readLines(fd)) readInto(facts, bytes);
  });
  return facts;
}

function infoOf(path: string, stats: Stats, facts: SessionFacts): SessionInfo {
  const { created, firstMessage, ...rest } = facts;
  return {
    path,
    ...rest,
    created: new Date(created),
    modified: stats.mtime,
    firstMessage: firstMessage || "(no messages)",
  };
}

/** Lines are parsed only when they must be: for the first user message, for names, and when a glance does not tell. */
function readInto(info: SessionFacts, bytes: Buffer): void {
  const glance = bytes.toString("latin1", 0, glanceBytes);
  const type = /^\{"type":"(\w+)"/.exec(glance)?.[1];
  if (type && type !== "message" && type !== "session_info") return;
  const role = type === "message" ? /"message":\{"role":"(\w+)"/.exec(glance)?.[1] : undefined;
  if (role && (role !== "user" || info.firstMessage !== "")) {
    if (role !== "system") info.messageCount += 1;
    return;
  }
  const entry = parse(bytes);
  if (entry?.type === "session_info") {
    const name = typeof entry.name === "string" ? entry.name.trim() : "";
    if (name) info.name = name;
    else delete info.name;
  }
  const message = entry?.type === "message" ? (entry.message as Record<string, unknown> | null) : undefined;
  if (!message || message.role === "system") return;
  info.messageCount += 1;
  if (message.role === "user" && info.firstMessage === "") info.firstMessage = textOf(message.content);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: { type?: unknown; text?: unknown } | null) =>
      block?.type === "text" && typeof block.text === "string" ? [block.text] : [],
    )
    .join("\n");
}

function parse(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function withFile<T>(path: string, use: (fd: number) => T): T {
  const fd = openSync(path, "r");
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
