// Lets changes to one file happen one after the other, whatever name the file is called by.

import { canonicalPath } from "./paths.js";

const queues = new Map<string, Promise<unknown>>();

/** Runs `change` when all changes to the same file that were asked for before are done, whether or not they failed. */
export function withFileMutationQueue<T>(path: string, change: () => Promise<T>): Promise<T> {
  // Looked up at once, not after an await: the order of asking is the order of doing.
  const key = canonicalPath(path);
  const before = queues.get(key) ?? Promise.resolve();
  const result = before.then(change, change);
  const settled = result.then(
    () => undefined,
    () => undefined,
  );
  queues.set(key, settled);
  void settled.then(() => {
    if (queues.get(key) === settled) queues.delete(key);
  });
  return result;
}
