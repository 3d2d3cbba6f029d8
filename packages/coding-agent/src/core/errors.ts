// A refused or failed command, with the code its answer carries.

import type { RpcErrorCode } from "../modes/rpc/rpc-types.js";

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
