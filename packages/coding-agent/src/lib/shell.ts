// Finds the shell, starts it as a process group of its own, and keeps account of the groups that are ours to end.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { processStatus } from "./process-status.js";

/** Milliseconds in which output is still taken after a shell's end, when a background child holds the pipe. */
export const graceMs = 500;

/** Where a lingering group (its shell ended, a background child did not) is looked at, in milliseconds. */
const lingerCheckMs = 2000;

/**
 * The absolute path of the shell that runs commands: `shellPath` when set, else bash, else sh, from PATH or their usual
 * places. Throws when there is none, and on Windows when no `shellPath` is set.
 */
export function resolveShell(shellPath?: string, searchPath: string = process.env.PATH ?? ""): string {
  if (shellPath) {
    const found = isAbsolute(shellPath) ? shellPath : (findOnPath(shellPath, searchPath) ?? shellPath);
    const problem = whyNotExecutable(found);
    if (problem) throw new Error(`Cannot start shell "${shellPath}": ${problem}`);
    return found;
  }
  if (process.platform === "win32")
    throw new Error(
      'Cannot start a shell: on Windows set "shellPath" to a bash, such as that of Git for Windows or WSL',
    );
  for (const name of ["bash", "sh"]) {
    const found = findOnPath(name, `${searchPath}${delimiter}/bin${delimiter}/usr/bin${delimiter}/usr/local/bin`);
    if (found) return found;
  }
  throw new Error('Cannot start a shell: neither bash nor sh was found; set "shellPath"');
}

/**
 * Starts a program as the leader of a new process group, registered in `processGroups` until the group is empty. Throws the
 * system's error, also when this process has no file descriptor left; a program that is not there is an `error` event.
 */
export function spawnGroup(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true, windowsHide: true });
  if (child.stdio === undefined) {
    // Node gives up on EMFILE and ENFILE alone before it makes the pipes, and tells which of them too late.
    child.once("error", () => undefined);
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  }
  if (child.pid !== undefined) {
    const pid = child.pid;
    processGroups.add(pid);
    child.once("exit", () => processGroups.leaderEnded(pid));
  }
  return child;
}

/** Sends a signal to every process of a group; false when there is none left. */
export function killGroup(pid: number, signal: NodeJS.Signals | 0 = "SIGKILL"): boolean {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
    return true;
  } catch (error) {
    // EPERM: processes are there, but some run as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process was started, in clock ticks since boot; undefined when it is gone or the system does not tell (no /proc). */
export function processStartTime(pid: number): string | undefined {
  return processStatus(pid)?.startTime;
}

/**
 * The process groups this process started. A group is forgotten when it is empty, so that a number the system gave to
 * somebody else meanwhile is never killed; the leader's start time is compared as well before a late kill.
 */
export class ProcessGroups {
  readonly #groups = new Map<number, { startTime: string | undefined; leaderEnded: boolean }>();
  readonly #startTime: (pid: number) => string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(startTime: (pid: number) => string | undefined = processStartTime) {
    this.#startTime = startTime;
  }

  add(pid: number): void {
    this.#groups.set(pid, { startTime: this.#startTime(pid), leaderEnded: false });
  }

  /** The leader has ended and was reaped: forgets the group, or watches it while background children live on. */
  leaderEnded(pid: number): void {
    const group = this.#groups.get(pid);
    if (!group) return;
    group.leaderEnded = true;
    this.#forgetEmpty();
  }

  /** Whether the group is still ours; a group that has become empty is forgotten by asking. */
  has(pid: number): boolean {
    return this.#groups.has(pid) && this.#isOurs(pid);
  }

  /** The ids of the groups that still have a process. */
  list(): number[] {
    this.#forgetEmpty();
    return [...this.#groups.keys()];
  }

  /** Signals one group if it is still ours; false when it is not. */
  end(pid: number, signal: NodeJS.Signals = "SIGKILL"): boolean {
    if (!this.has(pid)) return false;
    return killGroup(pid, signal);
  }

  /** Ends every group that is still ours, background commands included, and gives their number. Synchronous, for shutdown. */
  endAll(signal: NodeJS.Signals = "SIGKILL"): number {
    let ended = 0;
    for (const pid of [...this.#groups.keys()]) if (this.end(pid, signal)) ended++;
    return ended;
  }

  #isOurs(pid: number): boolean {
    const group = this.#groups.get(pid)!;
    if (!group.leaderEnded) return true;
    // A number is not given away while a group has it, so a living leader is a stranger's.
    const stranger = group.startTime !== undefined && (this.#startTime(pid) ?? group.startTime) !== group.startTime;
    if (!stranger && killGroup(pid, 0)) return true;
    this.#groups.delete(pid);
    return false;
  }

  #forgetEmpty(): void {
    let lingering = false;
    for (const [pid, group] of this.#groups) if (group.leaderEnded && this.#isOurs(pid)) lingering = true;
    clearTimeout(this.#timer);
    this.#timer = lingering ? setTimeout(() => this.#forgetEmpty(), lingerCheckMs).unref() : undefined;
  }
}

/** The groups of this process. */
export const processGroups = new ProcessGroups();

function findOnPath(name: string, searchPath: string): string | undefined {
  for (const folder of searchPath.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, name);
    if (!whyNotExecutable(candidate)) return candidate;
  }
  return undefined;
}

function whyNotExecutable(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return "not a file";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // The last one: a path with a NUL character.
    return code === "ENOENT" || code === "ENOTDIR" || code === "ERR_INVALID_ARG_VALUE"
      ? "no such file"
      : code === "EACCES"
        ? "not executable"
        : String(code);
  }
}
