// Changes one JSON file of the user: under a lock, on what is in it now, written atomically.

import { dirname } from "node:path";
import lockfile from "proper-lockfile";
import { writeFileAtomic } from "../lib/atomic-write.js";
import { makeFolders } from "../lib/make-folders.js";
import { type JsonObject, readJsonFile } from "./json-file.js";

/**
 * Applies `change` to the file's object (empty when there is no file) and writes it back, readable for its owner only
 * when it is new. Throws, leaving the file as it is, when it is broken, locked for longer than 2 s or cannot be written.
 */
export async function updateJsonFile(
  path: string,
  source: string,
  change: (value: JsonObject) => void,
  options: { mode?: number } = {},
): Promise<void> {
  makeFolders(dirname(path), 0o700);
  const release = await lockfile.lock(path, {
    realpath: false,
    retries: { retries: 40, factor: 1, minTimeout: 50, maxTimeout: 50 },
  });
  try {
    const file = readJsonFile(path, source);
    const [fault] = file.diagnostics;
    if (fault)
      throw new Error(
        `Cannot change "${[path, fault.line, fault.column].filter(Boolean).join(":")}": ${fault.message}`,
      );
    const value = file.value ?? {};
    change(value);
    const mode = options.mode ?? (file.text === "" ? 0o600 : undefined);
    await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, { mode });
  } finally {
    await release();
  }
}
