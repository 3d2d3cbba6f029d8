// The record of something that went wrong while resources were loaded; loading always goes on.

import { type Static, Type } from "typebox";

/** `line` and `column` count from 1 and are where in the file at `path` the fault is. */
export const Diagnostic = Type.Object(
  {
    severity: Type.Union([Type.Literal("error"), Type.Literal("warning")]),
    source: Type.String({ description: "What was being loaded: settings, models, auth, session, context_files, …" }),
    message: Type.String(),
    path: Type.Optional(Type.String()),
    line: Type.Optional(Type.Number()),
    column: Type.Optional(Type.Number()),
  },
  { title: "Diagnostic" },
);
export type Diagnostic = Static<typeof Diagnostic>;
