// What a new session begins as: its header, and the file it goes into.

import { dirname, join, resolve } from "node:path";
import { excerpt } from "@earendil-works/pi-ai";
import { sessionId } from "../lib/ids.js";
import { currentSessionVersion, type SessionHeader } from "./entries.js";
import { defaultSessionDirectory, sessionFileName, sessionIdFault, sessionPathFault } from "./session-paths.js";

/** How a new session is made. `file` names its file instead of the usual directory and name. */
export interface NewSessionOptions {
  id?: string;
  parentSession?: string;
  file?: string;
}

/** Throws when the id is none. */
export function newHeader(cwd: string, { id, parentSession }: NewSessionOptions): SessionHeader {
  const fault = id === undefined ? undefined : sessionIdFault(id);
  if (fault) throw new Error(`Cannot create session "${excerpt(id as string)}": ${fault}`);
  return {
    type: "session",
    version: currentSessionVersion,
    id: id ?? sessionId(),
    timestamp: new Date().toISOString(),
    cwd,
    ...(parentSession === undefined ? {} : { parentSession }),
  };
}

/** Where a new session's file goes. Throws when no file can have the name. */
export function newSessionPath(
  header: SessionHeader,
  sessionDir: string | undefined,
  file: string | undefined,
): { directory: string; path: string } {
  const directory = resolve(file ? dirname(file) : (sessionDir ?? defaultSessionDirectory(header.cwd)));
  const path = file ? resolve(file) : join(directory, sessionFileName(header.timestamp, header.id));
  const fault = sessionPathFault(path);
  if (fault) throw new Error(`Cannot create session "${excerpt(path)}": ${fault}`);
  return { directory, path };
}
