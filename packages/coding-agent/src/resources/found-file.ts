// A file that brings a resource, with where it comes from.

import type { SourceInfo } from "../modes/rpc/rpc-types.js";

export type { SourceInfo } from "../modes/rpc/rpc-types.js";

export interface FoundFile {
  /** Absolute. */
  path: string;
  sourceInfo: SourceInfo;
}
