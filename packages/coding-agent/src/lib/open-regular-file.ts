// Opens files somebody named for reading, and nothing that could keep the reader for ever.

import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

/** Never waits: for the other end of a pipe, or for news in files of the kernel, such as /proc/kmsg. Windows has no such flag. */
export const withoutWaiting = constants.O_NONBLOCK ?? 0;

/** Throws when it is a folder, a pipe, a device or a socket; the text goes on from `Cannot read "x": `. */
export function checkRegular(status: Stats): void {
  if (status.isDirectory()) throw Object.assign(new Error("it is a directory"), { code: "EISDIR" });
  if (!status.isFile()) throw new Error("it is not a regular file");
}

/** Opens a regular file for reading. Throws when it is anything else, and the system's error. */
export async function openRegularFile(path: string): Promise<{ handle: FileHandle; size: number }> {
  // Asked before as well: opening alone has effects on some devices.
  checkRegular(await stat(path));
  const handle = await open(path, constants.O_RDONLY | withoutWaiting);
  try {
    const status = await handle.stat();
    checkRegular(status);
    return { handle, size: status.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Bytes asked for at once; between two pieces an abort is noticed. */
const pieceBytes = 1024 * 1024;

/**
 * The whole content of a regular file. Throws like `openRegularFile`, with the signal's reason after an abort, and what
 * `tooLarge` makes of the size (as far as known) above `maxBytes`: files that grow, or whose size the system does not tell, too.
 */
export async function readRegularFileWithin(
  path: string,
  limits: { maxBytes: number; tooLarge: (bytes: number) => Error; signal?: AbortSignal },
): Promise<Buffer> {
  const { handle, size } = await openRegularFile(path);
  try {
    if (size > limits.maxBytes) throw limits.tooLarge(size);
    const pieces: Buffer[] = [];
    for (let total = 0; ; ) {
      limits.signal?.throwIfAborted();
      // One byte more than is expected tells the end without another piece.
      const piece = Buffer.allocUnsafe(Math.max(4096, Math.min(pieceBytes, size + 1 - total)));
      const { bytesRead } = await handle.read(piece, 0, piece.length, null);
      if (bytesRead === 0) return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      pieces.push(piece.subarray(0, bytesRead));
      total += bytesRead;
      if (total > limits.maxBytes) throw limits.tooLarge(total);
    }
  } finally {
    await handle.close();
  }
}
