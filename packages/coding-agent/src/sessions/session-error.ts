// The refusals of the session store: files it cannot use, and files another process is writing.

/**
 * Why a session file cannot be used: `missing`, `unreadable` (the system refused), `not_a_session` (its first line is
 * no session header), `newer_version`, `exists` (a new session would overwrite it).
 */
export type SessionFileErrorKind = "missing" | "unreadable" | "not_a_session" | "newer_version" | "exists";

/** A session file that cannot be used. The file was not touched. */
export class SessionFileError extends Error {
  override readonly name = "SessionFileError";
  readonly kind: SessionFileErrorKind;
  readonly path: string;

  constructor(kind: SessionFileErrorKind, path: string, reason: string, options?: ErrorOptions) {
    super(`Cannot ${kind === "exists" ? "create" : "open"} session "${path}": ${reason}`, options);
    this.kind = kind;
    this.path = path;
  }
}

/** Who may append to a session file, as its lock file says. `startTime` tells a process from a later one with its pid. */
export interface LockOwner {
  host: string;
  pid: number;
  bootId?: string;
  pidNamespace?: string;
  startTime?: string;
  /** Different for every lock ever taken. */
  token: string;
  /** Of a lock that tells no owner, what it is and until when it holds: `is a directory, which …`. Never in a file. */
  unreadable?: string;
}

/** Another live process writes this session. Nothing was changed; a later attempt may succeed. */
export class SessionLockedError extends Error {
  override readonly name = "SessionLockedError";
  readonly path: string;
  readonly owner: LockOwner;

  constructor(path: string, owner: LockOwner) {
    const reason = owner.unreadable
      ? `its lock "${path}.lock" ${owner.unreadable}`
      : `process ${owner.pid} on host "${owner.host}" is writing it`;
    super(`Cannot write session "${path}": ${reason}`);
    this.path = path;
    this.owner = owner;
  }
}
