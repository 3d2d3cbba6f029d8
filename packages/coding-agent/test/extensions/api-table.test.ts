import { describe, test } from "vitest";
import { modes } from "./play.js";
import type { Rows } from "./table/row.js";
import { sessionEvents } from "./table/session-events.js";

prove("events of sessions", sessionEvents);

function prove(what: string, rows: Rows<string>): void {
  describe(what, () => {
    describe.each(Object.entries(rows))("%s", (_, proof) => {
      test.each(modes)("in %s mode", (mode) => proof(mode));
    });
  });
}
