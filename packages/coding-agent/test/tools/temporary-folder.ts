// A folder for each test of a file, removed after it.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";

export interface TemporaryFolder {
  path: string;
  write(name: string, content: string | Uint8Array): string;
  read(name: string): string;
}

/** Call at the top of a test file; the object is filled before each test. */
export function temporaryFolder(): TemporaryFolder {
  const folder: TemporaryFolder = {
    path: "",
    write(name, content) {
      const path = join(folder.path, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    read: (name) => readFileSync(join(folder.path, name), "utf8"),
  };
  beforeEach(() => {
    folder.path = realpathSync(mkdtempSync(join(tmpdir(), "tools-")));
  });
  afterEach(() => rmSync(folder.path, { recursive: true }));
  return folder;
}
