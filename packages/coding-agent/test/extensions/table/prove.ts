// Every row of a table is a test in every mode.

import { describe, test } from "vitest";
import { modes } from "../play.js";
import type { Rows } from "./row.js";

export function prove(what: string, rows: Rows<string>): void {
  describe(what, () => {
    describe.each(Object.entries(rows))("%s", (_, proof) => {
      test.each(modes)("in %s mode", (mode) => proof(mode));
    });
  });
}
