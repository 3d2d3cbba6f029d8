// The record of something that went wrong while resources were loaded; loading always goes on.

export type { Diagnostic } from "../modes/rpc/rpc-types.js";
