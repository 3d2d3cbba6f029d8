// Keeps stdout clean: whatever is not ours, printed in this process or by a child that inherits stdout, goes to stderr.

import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

type Write = NodeJS.WriteStream["write"];

interface SpawnOptions {
  stdio?: unknown;
}

/** Diverts stray prints. Returns stdout's own write function, for the one that may use it. */
export function guardStdout(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Write {
  const write = stdout.write.bind(stdout) as Write;
  stdout.write = stderr.write.bind(stderr) as Write;
  guardChildren(stdout);
  return write;
}

/** `spawn`, `exec`, `execFile` and `fork` all end in ChildProcess.prototype.spawn; the synchronous ones do not. */
function guardChildren(stdout: NodeJS.WriteStream): void {
  const prototype = childProcess.ChildProcess.prototype as unknown as { spawn: (options: SpawnOptions) => unknown };
  const { spawn } = prototype;
  prototype.spawn = function (options) {
    return spawn.call(this, { ...options, stdio: divertStdio(options.stdio, stdout) });
  };
  const { spawnSync, execSync, execFileSync } = childProcess;
  type Loose = (...args: unknown[]) => unknown;
  const diverted =
    (original: Loose): Loose =>
    (...args) =>
      original(...args.map((arg) => (isOptions(arg) ? { ...arg, stdio: divertStdio(arg.stdio, stdout) } : arg)));
  childProcess.spawnSync = diverted(spawnSync as Loose) as typeof spawnSync;
  childProcess.execSync = diverted(execSync as Loose) as typeof execSync;
  childProcess.execFileSync = diverted(execFileSync as Loose) as typeof execFileSync;
  syncBuiltinESMExports(); // so that named imports see them too
}

function isOptions(value: unknown): value is SpawnOptions {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "stdio" in value;
}

/** The same stdio with a child's stdout on our stderr where it would have been our stdout. */
function divertStdio(stdio: unknown, stdout: NodeJS.WriteStream): unknown {
  if (stdio === "inherit") return [0, 2, 2];
  if (!Array.isArray(stdio)) return stdio;
  return stdio.map((target, fd) => {
    const isOurs = target === 1 || target === stdout || (target === "inherit" && fd === 1);
    return isOurs ? 2 : target;
  });
}
