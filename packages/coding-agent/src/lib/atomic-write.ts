// Replaces a file's content as a whole: a reader or a crash sees the old content or the new one, never a part.

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, readlink, rename, stat, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { refuseNul } from "./nul-character.js";
import { checkRegular, withoutWaiting } from "./open-regular-file.js";

/**
 * Writes `data` to a temporary file in the same folder, syncs it and renames it over `path`. Pieces are written one after
 * another, and may be asked for a second time. Symbolic links are followed, so the link stays. `mode` applies in any case;
 * without it an existing file keeps its mode and owner. Where the folder takes no new file (read-only folder, a file that is
 * a mount point) the file is written in place. Throws when something else than a regular file is there, and the system's
 * error.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array | Iterable<string>,
  options: { mode?: number } = {},
): Promise<void> {
  refuseNul(path, "Cannot write", "a path");
  const before = await statusOf(path);
  // A device, a pipe or a socket would become a file.
  if (before) checkRegular(before);
  const target = await followLinks(resolve(path));
  const mode = options.mode ?? (before ? before.mode & 0o7777 : undefined);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", options.mode ?? 0o666);
    try {
      await writeFile(file, data);
      if (before && options.mode === undefined) await file.chown(before.uid, before.gid).catch(() => undefined);
      // After the change of owner, which clears special bits; also undoes the umask where a mode was asked for.
      if (mode !== undefined) await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    if (!before || !inPlaceCodes.has((error as NodeJS.ErrnoException).code ?? ""))
      throw named(error, temporary, target);
    const flag = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | withoutWaiting;
    await writeFile(target, data, { flag });
  }
}

const inPlaceCodes = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"]);

/** Undefined when nothing is there. Everything else that is wrong with the path, such as a loop of links, is thrown. */
async function statusOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** The same error about the file that was asked for: nobody knows the temporary one. */
function named(error: unknown, temporary: string, target: string): unknown {
  if (error instanceof Error) error.message = error.message.replaceAll(temporary, target);
  return error;
}

/** The file a chain of links ends at, which need not exist. */
async function followLinks(path: string): Promise<string> {
  let current = path;
  for (let depth = 0; depth < 40; depth++) {
    const entry = await lstat(current).catch(() => undefined);
    if (!entry?.isSymbolicLink()) return current;
    current = resolve(dirname(current), await readlink(current));
  }
  return current;
}
