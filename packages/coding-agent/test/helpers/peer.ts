// The two ends a test of RPC mode talks to look the same: the built program, and the mode in this process.

import type { JsonRecord, RecordList } from "./records.js";

export interface RpcPeer {
  /** Everything it wrote. */
  readonly records: RecordList;
  /** Writes one record. */
  send(record: object): void;
  /** Writes text or bytes as they are. */
  sendRaw(text: string | Uint8Array): void;
  /** Sends a command under an id of its own and gives the answer, wherever it comes. */
  ask(command: object): Promise<JsonRecord>;
  closeStdin(): void;
  signal(name: "SIGINT" | "SIGTERM" | "SIGHUP"): void;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

let serial = 0;

/** `ask` for any peer. */
export function ask({ records, send }: Pick<RpcPeer, "records" | "send">, command: object): Promise<JsonRecord> {
  const id = `ask-${++serial}`;
  send({ id, ...command });
  return records.anywhere({ type: "response", id });
}
