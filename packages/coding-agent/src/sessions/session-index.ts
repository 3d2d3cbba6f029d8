// What is known of a directory's sessions, kept in a file beside them, so that a list reads only what changed.

import type { Stats } from "node:fs";
import { join } from "node:path";
import type { Static, TSchema } from "typebox";
import * as Type from "typebox";
import { writeFileAtomic } from "../lib/atomic-write.js";
import { checkValue } from "../lib/check-value.js";
import { readRegularFile } from "../lib/read-regular-file.js";

/** What a session file says of itself, as far as a list shows it. */
export const SessionFacts = Type.Object({
  id: Type.String({ minLength: 1 }),
  cwd: Type.String({ description: "Empty when the file does not say." }),
  name: Type.Optional(Type.String()),
  parentSessionPath: Type.Optional(Type.String()),
  created: Type.Number({ description: "Milliseconds since 1970." }),
  messageCount: Type.Integer({ minimum: 0, description: "The messages of all branches." }),
  firstMessage: Type.String({ description: "The text of the first user message; empty when there is none." }),
});
export type SessionFacts = Static<typeof SessionFacts>;

/** One file as it was when it was read. `facts` is null for a file that is no session. */
const IndexRow = Type.Object({
  size: Type.Integer({ minimum: 0 }),
  mtimeMs: Type.Number(),
  facts: Type.Union([SessionFacts, Type.Null()]),
});
type IndexRow = Static<typeof IndexRow>;

const IndexFile = Type.Object({
  version: Type.Literal(1),
  files: Type.Record(Type.String(), Type.Unknown()),
});

const indexName = ".session-index.json";
/** Facts with a first message above this are read anew each time, so that the index stays small. */
const maxFirstMessage = 16 * 1024;

/** Never throws: an index that cannot be read or written costs time and nothing else. */
export class SessionIndex {
  readonly #path: string;
  /** As the file has it; a row is believed when it has the right shape. */
  readonly #stored: Record<string, unknown>;
  readonly #rows = new Map<string, IndexRow>();
  #isChanged = false;

  constructor(directory: string) {
    this.#path = join(directory, indexName);
    this.#stored = readRows(this.#path);
  }

  /** The facts of a file whose size and time have not changed since they were kept; undefined when it must be read. */
  find(name: string, { size, mtimeMs }: Pick<Stats, "size" | "mtimeMs">): SessionFacts | null | undefined {
    const row = Object.hasOwn(this.#stored, name) ? this.#stored[name] : undefined;
    if (!hasShape<IndexRow>(IndexRow, row) || row.size !== size || row.mtimeMs !== mtimeMs) return undefined;
    this.#rows.set(name, row);
    return row.facts;
  }

  /** `stats` from before the file was read: what is appended meanwhile makes them differ. */
  keep(name: string, { size, mtimeMs }: Pick<Stats, "size" | "mtimeMs">, facts: SessionFacts | null): void {
    if (facts && facts.firstMessage.length > maxFirstMessage) return;
    this.#rows.set(name, { size, mtimeMs, facts });
    this.#isChanged = true;
  }

  /** Writes what was found or kept since the index was opened, when that differs from the file. */
  async save(): Promise<void> {
    if (!this.#isChanged && this.#rows.size === Object.keys(this.#stored).length) return;
    try {
      const files = Object.fromEntries(this.#rows);
      await writeFileAtomic(this.#path, JSON.stringify({ version: 1, files }), { mode: 0o600 });
    } catch {
      // A folder that takes no files is listed without an index.
    }
  }
}

function readRows(path: string): Record<string, unknown> {
  try {
    const index: unknown = JSON.parse(readRegularFile(path).toString("utf8"));
    return hasShape<Static<typeof IndexFile>>(IndexFile, index) ? index.files : {};
  } catch {
    return {};
  }
}

function hasShape<T>(schema: TSchema, value: unknown): value is T {
  return checkValue(schema, value).length === 0;
}
