// Starts the shell of one command, and says what is wrong with a command the system would not take.

import type { ChildProcess } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { textOf } from "../lib/error-text.js";
import { refuseNul } from "../lib/nul-character.js";
import { spawnGroup } from "../lib/shell.js";
import { formatSize } from "./truncate.js";

/** Bytes of one argument that Linux takes, its end included (MAX_ARG_STRLEN, execve(2)). */
const maxArgumentBytes = 128 * 1024;

/** Throws for a command with a NUL character, and for a working directory that is not there. */
export function checkStart(command: string, cwd: string): void {
  refuseNul(command, "Cannot run command", "a command");
  refuseNul(cwd, "Cannot run command in", "a path");
  // The system would report a missing folder as a missing shell.
  const isDirectory = statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isDirectory) throw new Error(`Cannot run command: working directory "${cwd}" does not exist`);
}

/**
 * Starts the command in a process group of its own, with nothing on stdin, and stderr merged into stdout. Throws when the system
 * does not take it; a shell that turns out not to run is an `error` event.
 */
export function startShell(
  shell: string,
  command: string,
  options: { cwd: string; env: Record<string, string | undefined> },
): ChildProcess {
  // One pipe for both outputs keeps their order; the outer shell only joins them and is replaced by the real one.
  const outer = existsSync("/bin/sh") ? "/bin/sh" : shell;
  try {
    return spawnGroup(outer, ["-c", 'exec "$0" -c "$1" 2>&1', shell, command], {
      cwd: options.cwd,
      env: { ...options.env, AI_AGENT: "pi", PI_CODING_AGENT: "true" },
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "E2BIG") throw tooLong(command);
    throw new Error(`Cannot start shell "${shell}": ${textOf(error)}`);
  }
}

function tooLong(command: string): Error {
  const isLong = Buffer.byteLength(command) >= maxArgumentBytes;
  const fault = isLong
    ? `the command is too long for the system (${formatSize(maxArgumentBytes)}); write it to a file and run that`
    : "the command and its environment are too long for the system";
  return new Error(`Cannot run command: ${fault}`);
}
