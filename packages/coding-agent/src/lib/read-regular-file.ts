// Reads a file somebody named, which may turn out to be anything.

import { readFileSync, statSync } from "node:fs";

/** Throws when it is no regular file: a pipe or a device may block, or never end. */
export function readRegularFile(path: string): Buffer {
  const entry = statSync(path);
  if (entry.isDirectory()) throw new Error("it is a directory");
  if (!entry.isFile()) throw new Error("it is not a regular file");
  return readFileSync(path);
}
