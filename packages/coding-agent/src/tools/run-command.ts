// Runs one shell command: the engine of the bash tool and of the RPC `bash` command.

import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { OutputCleaner } from "../lib/clean-output.js";
import { graceMs, processGroups, resolveShell } from "../lib/shell.js";
import { OutputCapture } from "./output-capture.js";
import { checkStart, startShell } from "./start-shell.js";
import { formatSize, type TruncationResult } from "./truncate.js";

/** Seconds a command may be given at most: one day. */
export const maxTimeoutSeconds = 86_400;

/** Milliseconds between the polite and the final signal to a command that is stopped. */
const killDelayMs = 250;
/** Milliseconds after which a stopped command is answered even if the system has not ended it. */
const giveUpMs = 2000;
/** More than a pipe can hold: what was written before the shell's end has been taken by then. */
const pipeBytes = 1024 * 1024;

export interface CommandOptions {
  cwd: string;
  shellPath?: string;
  /** The whole environment of the command; `AI_AGENT` and `PI_CODING_AGENT` are added. */
  env: Record<string, string | undefined>;
  signal?: AbortSignal;
  /** Above 0, at most `maxTimeoutSeconds`; absent = no limit. */
  timeoutSeconds?: number;
  /**
   * Gets the clean output in pieces; `soFar` gives what a result would show now. While a returned promise is pending
   * nothing is read from the command, which then waits itself.
   */
  onOutput?: (text: string, soFar: () => OutputSoFar) => void | Promise<void>;
  /** Where the log of a truncated output goes; the system's folder for temporary files unless given. */
  tempDirectory?: string;
  graceMs?: number;
}

/** The output at one moment, cut to its end, and the log that has all of it once it is cut. */
export interface OutputSoFar {
  truncation: TruncationResult;
  fullOutputPath?: string;
}

/**
 * How a command ended. `output` is clean text, its last 2,000 lines or 51,200 bytes. `exitCode` is absent when the command
 * was cancelled or timed out; a command ended by a signal has 128 + its number, as shells count. `fullOutputPath` is the
 * log with the whole output, when truncated; `fullOutputCut` says that the log ends at 200 MB.
 */
export interface CommandResult {
  output: string;
  exitCode: number | undefined;
  cancelled: boolean;
  timedOut: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  fullOutputCut?: boolean;
  totalLines: number;
  totalBytes: number;
  truncation: TruncationResult;
}

/**
 * Runs `command` in a process group of its own, with nothing on stdin and stderr merged into stdout. A background child
 * that keeps the pipe is not waited for beyond `graceMs`; its pipe is closed then. Throws when the command cannot be
 * started (one of 128 KB is too long for Linux), for a timeout out of range, and with the error of `onOutput`.
 */
export async function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
  checkTimeout(options.timeoutSeconds);
  checkStart(command, options.cwd);
  const shell = resolveShell(options.shellPath, options.env.PATH);
  const capture = new OutputCapture(options.tempDirectory);
  if (options.signal?.aborted) return toResult(capture, { cancelled: true, timedOut: false, exitCode: undefined });
  const end = await new RunningCommand(startShell(shell, command, options), shell, capture, options).ended;
  await capture.end();
  if ("error" in end) throw end.error;
  return toResult(capture, end);
}

/** The line that tells a model what was cut and where the rest is; undefined when nothing was. */
export function describeTruncation(result: CommandResult): string | undefined {
  if (!result.truncated) return undefined;
  const { totalLines, outputLines, outputBytes, lastLinePartial } = result.truncation;
  const shown = lastLinePartial
    ? `Showing the last ${formatSize(outputBytes)} of line ${totalLines}`
    : `Showing lines ${totalLines - outputLines + 1}-${totalLines} of ${totalLines}`;
  const log = result.fullOutputPath
    ? `${result.fullOutputCut ? "First 200MB of the output" : "Full output"}: ${result.fullOutputPath}`
    : "The full output could not be kept";
  return `[${shown}. ${log}]`;
}

/** Throws for a timeout that is not above 0 or above the maximum. */
export function checkTimeout(seconds: number | undefined): void {
  if (seconds === undefined || (seconds > 0 && seconds <= maxTimeoutSeconds)) return;
  throw new Error(
    `Cannot run command: timeout must be above 0 and at most ${maxTimeoutSeconds} seconds, not ${seconds}`,
  );
}

export type CommandEnd = Pick<CommandResult, "exitCode" | "cancelled" | "timedOut"> | { error: unknown };

/** From the start to the answer: reads with back-pressure, stops on abort and timeout, and decides when output is over. */
class RunningCommand {
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess;
  readonly #capture: OutputCapture;
  readonly #options: CommandOptions;
  readonly #cleaner = new OutputCleaner();
  readonly #timers = new Set<NodeJS.Timeout>();
  #settle!: (end: CommandEnd) => void;
  #exitCode: number | undefined;
  #exited = false;
  #stopped: "cancelled" | "timedOut" | undefined;
  #isOver = false;
  #graceLeft: number;
  #graceStart = 0;
  #graceTimer: NodeJS.Timeout | undefined;
  #paused = false;
  #takenAfterExit = 0;

  constructor(child: ChildProcess, shell: string, capture: OutputCapture, options: CommandOptions) {
    this.#child = child;
    this.#capture = capture;
    this.#options = options;
    this.#graceLeft = options.graceMs ?? graceMs;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    child.once("error", (error) => this.#fail(new Error(`Cannot start shell "${shell}": ${error.message}`)));
    child.once("exit", (code, signal) => this.#onExit(code, signal));
    child.stdout!.on("data", (bytes: Buffer) => this.#onData(bytes));
    child.stdout!.on("error", () => this.#finishIfDone());
    child.stdout!.once("close", () => this.#finishIfDone());
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (options.timeoutSeconds !== undefined) this.#after(options.timeoutSeconds * 1000, () => this.#stop("timedOut"));
  }

  #onData(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#exited) this.#takenAfterExit += bytes.length;
    const text = this.#cleaner.write(bytes);
    const busy = this.#deliver(text, this.#cleaner.isUnchanged ? bytes : undefined);
    if (!busy) return;
    this.#pause();
    busy.then(
      () => this.#resume(),
      (error: unknown) => this.#fail(error),
    );
  }

  #deliver(text: string, encoded?: Uint8Array): Promise<unknown> | undefined {
    if (text === "") return undefined;
    const written = this.#capture.add(text, encoded);
    let read: undefined | void | Promise<void>;
    try {
      read = this.#options.onOutput?.(text, this.#soFar);
    } catch (error) {
      return Promise.reject(error);
    }
    return written && read ? Promise.all([written, read]) : (written ?? read ?? undefined);
  }

  readonly #soFar = (): OutputSoFar => {
    const truncation = this.#capture.snapshot();
    return { truncation, fullOutputPath: this.#capture.logPath };
  };

  #pause(): void {
    this.#paused = true;
    this.#child.stdout!.pause();
    if (!this.#graceTimer) return;
    // The grace is time in which we read; a slow reader must not cost output that is already in the pipe.
    clearTimeout(this.#graceTimer);
    this.#graceTimer = undefined;
    this.#graceLeft -= performance.now() - this.#graceStart;
  }

  #resume(): void {
    if (this.#isOver) return;
    this.#paused = false;
    if (this.#child.stdout!.closed) {
      this.#finishIfDone();
    } else {
      if (this.#exited) this.#startGrace();
      this.#child.stdout!.resume();
    }
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exited = true;
    this.#exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
    if (!this.#paused) this.#startGrace();
    this.#finishIfDone();
  }

  #startGrace(): void {
    const isEnough = this.#graceLeft <= 0 && this.#takenAfterExit > pipeBytes;
    this.#graceStart = performance.now();
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => this.#finish(), isEnough ? 0 : Math.max(50, this.#graceLeft));
  }

  readonly #onAbort = () => this.#stop("cancelled");

  #stop(why: "cancelled" | "timedOut"): void {
    if (this.#stopped || this.#isOver) return;
    this.#stopped = why;
    const pid = this.#child.pid!;
    processGroups.end(pid, "SIGTERM");
    // Outlives the answer: a child without the pipe may need it too.
    setTimeout(() => processGroups.end(pid, "SIGKILL"), killDelayMs);
    this.#after(giveUpMs, () => this.#finish());
    // Nobody waits for a reader that is slow any more.
    if (this.#paused) this.#resume();
  }

  #finishIfDone(): void {
    if (this.#exited && this.#child.stdout!.closed && !this.#paused) this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#close();
    const end: CommandEnd = {
      exitCode: this.#stopped ? undefined : this.#exitCode,
      cancelled: this.#stopped === "cancelled",
      timedOut: this.#stopped === "timedOut",
    };
    Promise.resolve(this.#deliver(this.#cleaner.end())).then(
      () => this.#settle(end),
      (error: unknown) => this.#settle({ error }),
    );
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#close();
    if (this.#child.pid !== undefined) processGroups.end(this.#child.pid, "SIGKILL");
    this.#settle({ error });
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#graceTimer);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#child.stdout!.destroy();
  }

  #after(milliseconds: number, action: () => void): void {
    this.#timers.add(setTimeout(action, milliseconds));
  }
}

/** What a command gave, from its captured output and how it ended. */
export function toResult(capture: OutputCapture, end: Exclude<CommandEnd, { error: unknown }>): CommandResult {
  const truncation = capture.snapshot();
  const log = truncation.truncated && capture.logPath;
  return {
    output: truncation.content,
    ...end,
    truncated: truncation.truncated,
    ...(log ? { fullOutputPath: log, ...(capture.logIsComplete ? {} : { fullOutputCut: true }) } : {}),
    totalLines: truncation.totalLines,
    totalBytes: truncation.totalBytes,
    truncation,
  };
}
