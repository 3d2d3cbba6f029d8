// Reads a file somebody named, which may turn out to be anything.

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { checkRegular, withoutWaiting } from "./open-regular-file.js";

/** Throws when it is no regular file: a pipe or a device may block, or never end. */
export function readRegularFile(path: string): Buffer {
  checkRegular(statSync(path)); // before as well: opening alone has effects on some devices
  const fd = openSync(path, constants.O_RDONLY | withoutWaiting);
  try {
    checkRegular(fstatSync(fd));
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
