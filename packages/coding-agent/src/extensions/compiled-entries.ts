// Compiled texts of extensions' entry files, found by path, time and size, so that a start neither reads nor hashes sources.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class CompiledEntries {
  readonly #folder: string;

  /** `folder` need not be there. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The compiled text of a file; `compile` is asked when there is none, and what it throws is thrown. */
  get(path: string, compile: (source: string) => string): string {
    const { mtimeMs, size } = statSync(path);
    // The last part is the form of what is kept.
    const name = createHash("sha1").update(`${path}\0${mtimeMs}\0${size}\0jiti-2.7.0`).digest("hex");
    const file = join(this.#folder, `${name}.cjs`);
    try {
      return readFileSync(file, "utf8");
    } catch {
      // Not compiled yet.
    }
    const compiled = compile(readFileSync(path, "utf8"));
    this.#keep(file, compiled);
    return compiled;
  }

  /** Nobody needs it: a folder that cannot be written to costs time and nothing else. */
  #keep(file: string, compiled: string): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const temporary = `${file}.${process.pid}`;
      writeFileSync(temporary, compiled, { mode: 0o600 });
      renameSync(temporary, file);
    } catch {
      // Compiled again at the next start.
    }
  }
}
