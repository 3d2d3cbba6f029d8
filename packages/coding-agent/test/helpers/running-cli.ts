// The built program as a child process, read strictly: LF only, valid UTF-8, nothing but JSON objects.

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { ask, type RpcPeer } from "./peer.js";
import { type JsonRecord, RecordList } from "./records.js";
import type { Workspace } from "./workspace.js";

/** The executable; `node scripts/build.mjs` makes what it imports. */
export const cliPath = fileURLToPath(new URL("../../bin/pi.mjs", import.meta.url));

export interface CliOptions {
  place: Workspace;
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Text for stdin, which is closed behind it; absent: it stays open. */
  input?: string | Uint8Array;
  /** Does not read stdout until `resume`. */
  paused?: boolean;
  /** A command that is started instead, with the program and its arguments behind it. */
  wrapper?: readonly [string, ...string[]];
  /** stdout is text for people. */
  isText?: boolean;
}

/** Killed when the test ends, should it still run. */
export function startCli(options: CliOptions): RunningCli {
  const cli = new RunningCli(options);
  onTestFinished(() => cli.destroy());
  return cli;
}

/** Runs it to its end. */
export async function runCli(options: CliOptions): Promise<RunningCli & { code: number | null }> {
  const cli = startCli({ input: "", ...options });
  const code = await cli.ended;
  return Object.assign(cli, { code });
}

export class RunningCli implements RpcPeer {
  readonly child: ChildProcess;
  readonly records: RecordList;
  readonly ended: Promise<number | null>;
  /** What is wrong with stdout as a stream of records. */
  readonly faults: string[] = [];
  /** The signal that ended it, if one did. */
  endSignal: NodeJS.Signals | null = null;
  stderr = "";
  #stdout: Buffer[] = [];
  /** Pieces of a line whose end has not come. */
  #rest: Buffer[] = [];

  constructor({ place, args = [], env, cwd, input, paused, isText, wrapper = [process.execPath] }: CliOptions) {
    const [command, ...before] = wrapper;
    const program = wrapper[0] === process.execPath ? [cliPath] : [process.execPath, cliPath];
    this.child = spawn(command, [...before, ...program, ...args], {
      cwd: cwd ?? place.cwd,
      env: place.environment(env),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { stdin, stdout, stderr } = this.child;
    this.records = new RecordList(() => (this.stderr ? `\nstderr: ${this.stderr}` : ""));
    stdin?.on("error", () => {}); // told by the exit
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    const read = (chunk: Buffer) => {
      this.#stdout.push(chunk);
      if (!isText) this.#split(chunk);
    };
    if (!paused) stdout?.on("data", read);
    this.resume = () => void stdout?.on("data", read);
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code, signal) => {
        this.endSignal = signal;
        if (this.#rest.length > 0)
          this.faults.push(`stdout ends without LF: ${Buffer.concat(this.#rest).toString("latin1").slice(0, 200)}`);
        this.records.end(signal ? `signal ${signal}` : `exit code ${code}`);
        resolve(code);
      });
    });
    if (input !== undefined) stdin?.end(input);
  }

  /** Begins to read stdout. */
  readonly resume: () => void;

  /** All bytes of stdout so far. */
  get stdout(): Buffer {
    this.#stdout = [Buffer.concat(this.#stdout)];
    return this.#stdout[0] as Buffer;
  }

  get pid(): number {
    return this.child.pid as number;
  }

  send = (record: object): void => this.sendRaw(`${JSON.stringify(record)}\n`);

  sendRaw(text: string | Uint8Array): void {
    this.child.stdin?.write(text);
  }

  ask = (command: object): Promise<JsonRecord> => ask(this, command);

  closeStdin(): void {
    this.child.stdin?.end();
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  destroy(): void {
    this.child.kill("SIGKILL");
  }

  #split(chunk: Buffer): void {
    let bytes = chunk;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a)) {
      this.#take(Buffer.concat([...this.#rest, bytes.subarray(0, end)]));
      this.#rest = [];
      bytes = bytes.subarray(end + 1);
    }
    if (bytes.length > 0) this.#rest.push(bytes);
  }

  #take(line: Buffer): void {
    try {
      const text = strictUtf8.decode(line);
      if (/[\u2028\u2029\r]/.test(text)) this.faults.push(`a line has a separator in it: ${text.slice(0, 200)}`);
      const record = JSON.parse(text) as unknown;
      if (typeof record !== "object" || record === null || Array.isArray(record)) throw new Error("no object");
      this.records.push(record as JsonRecord);
    } catch (error) {
      this.faults.push(`${(error as Error).message}: ${line.toString("latin1").slice(0, 200)}`);
    }
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });
