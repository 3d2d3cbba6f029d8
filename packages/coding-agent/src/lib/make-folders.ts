// Makes a folder and those above it that are missing, one level at a time.

import { mkdirSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Does nothing when the folder is there. `mode` is for each folder that is made. Throws the system's error, and one with the
 * code `ENOTDIR` that names what is in the way. Not Node's own recursive `mkdir`: it never ends where a folder takes no
 * new ones and says so with ENOENT, as those below /proc do.
 */
export function makeFolders(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let folder = resolve(path); !isFolder(folder); folder = dirname(folder)) {
    missing.push(folder);
    if (dirname(folder) === folder) break;
  }
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Somebody else may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(folder)) throw error;
    }
  }
}

/** False when nothing is there. */
function isFolder(path: string): boolean {
  const status = statusOf(path);
  if (status && !status.isDirectory())
    throw Object.assign(new Error(`ENOTDIR: "${path}" is not a folder`), { code: "ENOTDIR" });
  return status !== undefined;
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Nothing can be below a file; the file itself is found on the way up.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}
