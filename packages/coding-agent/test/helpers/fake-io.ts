// The outside of a process as a test plays it: input, signals, and a reader that may be slow or go away.

import { encodeRecord } from "../../src/lib/jsonl.js";
import type { EndSignal, ModeIo } from "../../src/modes/io.js";
import { type JsonRecord, RecordList } from "./records.js";

export class FakeIo implements ModeIo {
  /** What was written, to be waited on. */
  readonly list: RecordList;
  /** Text of print mode. */
  text = "";
  /** Lines for people. */
  readonly logged: string[] = [];
  readonly exits: number[] = [];
  readonly isTerminal = { stdin: false, stdout: false };
  unsent = 0;
  sent = 0;
  readonly failed = false;
  relaxed = false;
  /** While it is set, the reader has not taken everything. */
  reader: Promise<void> | undefined;
  readonly #writesRecordsOnly: boolean;
  readonly #inputs: { take: (chunk: Buffer) => void; end: () => void }[] = [];
  /** What came before anybody read. */
  readonly #early: Buffer[] = [];
  #endedEarly = false;
  readonly #signals: ((signal: EndSignal) => void)[] = [];
  readonly #closed: (() => void)[] = [];

  holdInput(): void {}

  /** With `writesRecordsOnly` text and an end without order are faults, as they are in RPC mode. */
  constructor(options: { writesRecordsOnly?: boolean } = {}) {
    this.#writesRecordsOnly = options.writesRecordsOnly === true;
    this.list = new RecordList(() => (this.logged.length > 0 ? `\nlog: ${this.logged.join("\n")}` : ""));
  }

  get records(): readonly JsonRecord[] {
    return this.list.all;
  }

  onInput(take: (chunk: Buffer) => void, end: () => void): void {
    this.#inputs.push({ take, end });
    for (const chunk of this.#early.splice(0)) take(chunk);
    if (this.#endedEarly) end();
    this.#endedEarly = false;
  }

  write(record: object): undefined {
    const line = encodeRecord(record);
    this.sent += line.length;
    this.list.push(JSON.parse(line) as JsonRecord);
  }

  writeText(text: string): undefined {
    if (this.#writesRecordsOnly) throw new Error(`RPC mode wrote text that is no record: ${text}`);
    this.text += text;
  }

  async drained(): Promise<void> {
    await this.reader;
  }

  relax(): void {
    this.relaxed = true;
  }

  exit(code: number): void {
    if (this.#writesRecordsOnly) throw new Error(`Ended at once with exit code ${code}`);
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

  /** Records as lines of input. */
  send(...records: (object | string)[]): void {
    const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
    this.push(Buffer.from(lines.map((line) => `${line}\n`).join("")));
  }

  push(bytes: Uint8Array): void {
    if (this.#inputs.length === 0) this.#early.push(Buffer.from(bytes));
    for (const { take } of this.#inputs) take(Buffer.from(bytes));
  }

  endInput(): void {
    if (this.#inputs.length === 0) this.#endedEarly = true;
    for (const { end } of this.#inputs) end();
  }

  signal(name: EndSignal): void {
    for (const listener of [...this.#signals]) listener(name);
  }

  closeReader(): void {
    for (const listener of this.#closed) listener();
  }

  types(): string[] {
    return this.records.map(({ type, command }) => (command ? `${type} ${command}` : String(type)));
  }
}
