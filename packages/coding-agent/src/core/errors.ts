// A refused or failed command, with the code its answer carries.

import type { RpcErrorCode } from "../modes/rpc/rpc-types.js";
import { sessionName } from "../sessions/session-name.js";

/** Thrown to refuse a call before it has effects, or to report why it failed. `field` is the path of a bad parameter. */
export class CommandError extends Error {
  readonly code: RpcErrorCode;
  readonly field: string | undefined;

  constructor(code: RpcErrorCode, message: string, field?: string) {
    super(message);
    this.name = "CommandError";
    this.code = code;
    this.field = field;
  }
}

/** Throws CommandError `io_error` when a session has entries that are not in its file. They are written with the next one. */
export function mustBeWritten(store: { readonly writeFailure: Error | undefined }): void {
  if (!store.writeFailure) return;
  throw new CommandError("io_error", `The session cannot be written: ${store.writeFailure.message}`);
}

/** A session's name as it is stored. Throws CommandError `invalid_params` when nothing is left of it. */
export function requireName(text: string): string {
  const name = sessionName(text);
  if (!name) throw new CommandError("invalid_params", "Session name cannot be empty", "name");
  return name;
}
