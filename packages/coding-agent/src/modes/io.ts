// stdin, stdout, stderr and signals as one object: one ordered outgoing queue, and back-pressure for who asks.

import { encodeRecord } from "../lib/jsonl.js";
import { guardStdout } from "./stdout-guard.js";

/** What a mode sees of the process. Everything it writes leaves in the order it was written. */
export interface ModeIo {
  /** Input as it arrives; always read, however far behind the reader of our output is. */
  onInput(listener: (chunk: Buffer) => void, onEnd: () => void): void;
  /** Reads input from now on, and keeps it until somebody listens. */
  holdInput(): void;
  /** Queues one record. A promise means that much is unsent; it resolves when the reader has caught up. */
  write(record: object): undefined | Promise<void>;
  /** Queues text as it is (print mode). */
  writeText(text: string): undefined | Promise<void>;
  /** Bytes queued and not yet taken by the system. */
  readonly unsent: number;
  /** Resolves when at most `bytes` are unsent; with 0, the default, when the reader has everything. */
  drained(bytes?: number): Promise<void>;
  /** From now on nobody is asked to wait: the process is about to end, and only `drained()` waits for the reader. */
  relax(): void;
  /** Something that was queued could not be written: the reader is gone, or the disk is full. */
  readonly failed: boolean;
  /** Total bytes the reader has taken; grows while it reads. */
  readonly sent: number;
  /** One line for people. */
  log(text: string): void;
  /** The other end of stdout is gone. */
  onClosed(listener: () => void): void;
  onSignal(listener: (signal: EndSignal) => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
  readonly isTerminal: { stdin: boolean; stdout: boolean };
}

export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Unsent bytes above which writers are asked to wait: a few pipe buffers (64 KB on Linux). */
const highWater = 256 * 1024;
/** Lines are gathered up to this size before they are handed to the stream, which saves a system call a record. */
const gatherBytes = 64 * 1024;

/** The process's own streams. Takes stdout over: from here on nothing else can write to it. */
export function processIo(): ModeIo {
  const { stdin, stdout, stderr } = process;
  const output = new OrderedOutput(stdout, guardStdout(stdout, stderr));
  stderr.on("error", () => {}); // nobody reads our log; that is no reason to end
  const held = new HeldInput();
  return {
    holdInput: () => held.attach(stdin),
    onInput(listener, onEnd) {
      held.attach(stdin);
      held.listen(listener, onEnd);
    },
    write: (record) => output.push(encodeRecord(record)),
    writeText: (text) => output.push(text),
    get unsent() {
      return output.unsent;
    },
    get sent() {
      return output.sent;
    },
    get failed() {
      return output.failed;
    },
    drained: (bytes = 0) => output.drained(bytes),
    relax: () => output.relax(),
    exit: (code) => process.exit(code),
    log: (text) => void stderr.write(`${text}\n`),
    onClosed: (listener) => output.onClosed(listener),
    onSignal(listener) {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => listener(signal));
    },
    isTerminal: { stdin: stdin.isTTY === true, stdout: stdout.isTTY === true },
  };
}

/** Input on its way to a listener that may come later. */
class HeldInput {
  #chunks: Buffer[] = [];
  #ended = false;
  #attached = false;
  #listener: { chunk: (chunk: Buffer) => void; end: () => void } | undefined;

  attach(stdin: NodeJS.ReadableStream): void {
    if (this.#attached) return;
    this.#attached = true;
    const end = () => {
      if (this.#ended) return;
      this.#ended = true;
      this.#listener?.end();
    };
    stdin.on("data", (chunk: Buffer) => {
      if (this.#listener) this.#listener.chunk(chunk);
      else this.#chunks.push(chunk);
    });
    stdin.once("end", end);
    stdin.once("error", end);
  }

  listen(chunk: (chunk: Buffer) => void, end: () => void): void {
    this.#listener = { chunk, end };
    for (const held of this.#chunks.splice(0)) chunk(held);
    if (this.#ended) end();
  }
}

/** Who goes on when at most so many bytes are unsent: one promise for all of them. */
interface Waiters {
  promise: Promise<void>;
  resolve: () => void;
}

/** What is handed to the stream in one write. */
interface Piece {
  data: string | Buffer;
  bytes: number;
}

/** One queue in front of a stream. Text is handed over once a tick, in order, and only while the stream takes it. */
export class OrderedOutput {
  readonly #stream: NodeJS.WritableStream & { writableLength: number };
  readonly #write: (data: string | Buffer, done: (error?: Error | null) => void) => boolean;
  /** By the number of bytes. */
  readonly #waiting = new Map<number, Waiters>();
  readonly #closedListeners: (() => void)[] = [];
  #gathered = "";
  /** Bytes in `#gathered`. */
  #gatheredBytes = 0;
  /** Bytes in `#gathered` and `#pieces`. */
  #queuedBytes = 0;
  /** Bytes the stream has and has not confirmed. */
  #inFlight = 0;
  #sent = 0;
  #scheduled = false;
  #blocked = false;
  #closed = false;
  #failed = false;
  #relaxed = false;
  /** Bytes when they have to wait: small texts that were added to one another take several times their size. */
  #pieces: Piece[] = [];

  constructor(
    stream: NodeJS.WritableStream & { writableLength: number },
    write: (data: string | Buffer, done: (error?: Error | null) => void) => boolean,
  ) {
    this.#stream = stream;
    this.#write = write;
    stream.on("error", () => this.#close());
    stream.on("close", () => this.#close());
  }

  get unsent(): number {
    return this.#queuedBytes + this.#inFlight;
  }

  get failed(): boolean {
    return this.#failed;
  }

  get sent(): number {
    return this.#sent;
  }

  push(text: string): undefined | Promise<void> {
    if (this.#closed) return undefined;
    const bytes = Buffer.byteLength(text);
    this.#gathered += text;
    this.#gatheredBytes += bytes;
    this.#queuedBytes += bytes;
    if (this.#gathered.length >= gatherBytes) {
      this.#cut();
      if (!this.#blocked) this.#flush();
    } else if (!this.#scheduled && !this.#blocked) {
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        if (!this.#blocked) this.#flush();
      });
    }
    if (this.#relaxed || this.unsent <= highWater) return undefined;
    return this.drained(highWater / 2);
  }

  relax(): void {
    this.#relaxed = true;
    this.#wake();
  }

  drained(bytes: number): Promise<void> {
    if (this.unsent <= bytes || this.#closed || (bytes > 0 && this.#relaxed)) return Promise.resolve();
    const known = this.#waiting.get(bytes);
    if (known) return known.promise;
    let resolve = () => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#waiting.set(bytes, { promise, resolve });
    return promise;
  }

  onClosed(listener: () => void): void {
    if (this.#closed) listener();
    else this.#closedListeners.push(listener);
  }

  #cut(): void {
    if (!this.#gathered) return;
    const waits = this.#blocked || this.#pieces.length > 0;
    const data = waits ? Buffer.from(this.#gathered) : this.#gathered;
    const bytes = Buffer.byteLength(data);
    this.#gathered = "";
    // Two halves of a character that came one after the other are fewer bytes together.
    this.#queuedBytes += bytes - this.#gatheredBytes;
    this.#gatheredBytes = 0;
    this.#pieces.push({ data, bytes });
  }

  #flush(): void {
    this.#cut();
    while (this.#pieces.length > 0 && !this.#blocked && !this.#closed) {
      const { data, bytes } = this.#pieces.shift() as Piece;
      this.#queuedBytes -= bytes;
      this.#inFlight += bytes;
      const taken = this.#write(data, (error) => this.#confirm(bytes, error));
      if (taken) continue;
      this.#blocked = true;
      this.#stream.once("drain", () => {
        this.#blocked = false;
        this.#flush();
      });
    }
  }

  #confirm(bytes: number, error: Error | null | undefined): void {
    if (error) this.#close();
    if (this.#closed) return;
    this.#inFlight -= bytes;
    this.#sent += bytes;
    this.#wake();
  }

  #wake(): void {
    for (const [bytes, { resolve }] of this.#waiting) {
      // With 0 it is the end that is waited for, which is nobody who writes.
      if (!this.#closed && this.unsent > bytes && !(this.#relaxed && bytes > 0)) continue;
      this.#waiting.delete(bytes);
      resolve();
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failed = this.unsent > 0;
    this.#pieces = [];
    this.#gathered = "";
    this.#gatheredBytes = 0;
    this.#queuedBytes = 0;
    this.#inFlight = 0;
    this.#wake();
    for (const listener of this.#closedListeners.splice(0)) listener();
  }
}
