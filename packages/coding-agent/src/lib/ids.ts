// Makes the identifiers of sessions and entries.

import { randomBytes } from "node:crypto";

/** A UUID version 7 (RFC 9562): sorts by its time of making, `now` in milliseconds since the epoch. */
export function sessionId(now: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Eight random hex digits that `has` does not know yet. */
export function entryId(has: (id: string) => boolean): string {
  for (;;) {
    const id = randomBytes(4).toString("hex");
    if (!has(id)) return id;
  }
}
