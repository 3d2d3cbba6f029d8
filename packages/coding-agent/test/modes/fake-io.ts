// The outside of a process as a test plays it: input, signals, and a reader that may be slow or go away.

import { encodeRecord } from "../../src/lib/jsonl.js";
import type { EndSignal, ModeIo } from "../../src/modes/io.js";

type WireRecord = Record<string, unknown> & { type: string };

export class FakeIo implements ModeIo {
  readonly records: WireRecord[] = [];
  /** Text of print mode. */
  text = "";
  readonly logged: string[] = [];
  readonly exits: number[] = [];
  readonly isTerminal = { stdin: false, stdout: false };
  unsent = 0;
  sent = 0;
  failed = false;
  relaxed = false;
  /** While it is set, the reader has not taken everything. */
  reader: Promise<void> | undefined;
  readonly #inputs: { take: (chunk: Buffer) => void; end: () => void }[] = [];
  readonly #signals: ((signal: EndSignal) => void)[] = [];
  readonly #closed: (() => void)[] = [];
  #wake: (() => void)[] = [];

  onInput(take: (chunk: Buffer) => void, end: () => void): void {
    this.#inputs.push({ take, end });
  }

  write(record: object): undefined {
    this.records.push(JSON.parse(encodeRecord(record)));
    for (const wake of this.#wake.splice(0)) wake();
  }

  writeText(text: string): undefined {
    this.text += text;
  }

  async drained(): Promise<void> {
    await this.reader;
  }

  relax(): void {
    this.relaxed = true;
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  log(text: string): void {
    this.logged.push(text);
  }

  onClosed(listener: () => void): void {
    this.#closed.push(listener);
  }

  onSignal(listener: (signal: EndSignal) => void): void {
    this.#signals.push(listener);
  }

  send(...records: (object | string)[]): void {
    const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
    for (const { take } of this.#inputs) take(Buffer.from(lines.map((line) => `${line}\n`).join("")));
  }

  endInput(): void {
    for (const { end } of this.#inputs) end();
  }

  signal(name: EndSignal): void {
    for (const listener of [...this.#signals]) listener(name);
  }

  close(): void {
    for (const listener of this.#closed) listener();
  }

  /** The first record that has all these fields, also one that has been. */
  async record(fields: object): Promise<WireRecord> {
    const wanted = Object.entries(fields);
    for (;;) {
      const found = this.records.find((record) => wanted.every(([key, value]) => record[key] === value));
      if (found) return found;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  types(): string[] {
    return this.records.map(({ type, command }) => (command ? `${type} ${command}` : type));
  }
}
