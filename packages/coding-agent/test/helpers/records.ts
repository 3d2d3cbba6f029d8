// Records as tests see them: an ordered list that is waited on, and partial comparison with placeholders.

import { inspect } from "node:util";

export type Json = null | boolean | number | string | Json[] | JsonRecord;
export interface JsonRecord {
  [name: string]: Json;
}

/** A test that waits for a record has failed when nothing at all comes for this long. */
const deadlineMs = 20_000;

/** Names given by `<name:x>` in a pattern, for `<is:x>` in a later one. */
export type Captures = Map<string, Json>;

/**
 * Says where `value` differs from `pattern`; nothing when it fits. Objects may have more fields than the pattern, lists
 * may not. A string in angle brackets is a placeholder: `<any>`, `<string>`, `<number>`, `<boolean>`, `<list>`,
 * `<object>`, `<absent>`, `<name:x>` (anything, remembered), `<is:x>` (what was remembered) and `<not:x>`; `/…/` is a regular expression.
 */
export function difference(
  pattern: unknown,
  value: unknown,
  captures: Captures = new Map(),
  at = "",
): string | undefined {
  const differs = () => `${at || "record"}: expected ${inspect(pattern)}, got ${inspect(value, { depth: 3 })}`;
  if (typeof pattern === "string") return fitsText(pattern, value, captures) ? undefined : differs();
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return differs();
    return firstOf(pattern, (item, index) => difference(item, value[index], captures, `${at}[${index}]`));
  }
  if (typeof pattern === "object" && pattern !== null) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return differs();
    const fields = value as Record<string, unknown>;
    return firstOf(Object.entries(pattern), ([name, inner]) => {
      const path = at ? `${at}.${name}` : name;
      if (inner === "<absent>") return name in fields ? `${path}: must be absent` : undefined;
      return difference(inner, fields[name], captures, path);
    });
  }
  return Object.is(pattern, value) ? undefined : differs();
}

function fitsText(pattern: string, value: unknown, captures: Captures): boolean {
  const [, kind, name] = /^<(\w+)(?::(\w+))?>$/.exec(pattern) ?? [];
  if (kind === "any") return value !== undefined;
  if (kind === "string" || kind === "number" || kind === "boolean") return typeof value === kind;
  if (kind === "list") return Array.isArray(value);
  if (kind === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (kind === "name" && name) {
    if (value === undefined) return false;
    captures.set(name, value as Json);
    return true;
  }
  if (kind === "not" && name) return JSON.stringify(captures.get(name)) !== JSON.stringify(value);
  if (kind === "is" && name) return JSON.stringify(captures.get(name)) === JSON.stringify(value);
  const expression = /^\/(.*)\/$/s.exec(pattern)?.[1];
  if (expression !== undefined) return typeof value === "string" && new RegExp(expression, "s").test(value);
  return pattern === value;
}

function firstOf<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found) return found;
  }
  return undefined;
}

/** Every record that came, in order, and a place up to which they were looked at. */
export class RecordList {
  readonly all: JsonRecord[] = [];
  /** Told in failures, such as what stderr said. */
  readonly #context: () => string;
  #place = 0;
  #ended: string | undefined;
  #wake: (() => void)[] = [];

  constructor(context: () => string = () => "") {
    this.#context = context;
  }

  push(record: JsonRecord): void {
    this.all.push(record);
    this.#notify();
  }

  /** No more records will come. */
  end(why: string): void {
    this.#ended ??= why;
    this.#notify();
  }

  /** The first record from the place on that fits; the place moves behind it. */
  async next(pattern: unknown, captures: Captures = new Map()): Promise<JsonRecord> {
    const from = this.#place;
    const record = await this.#find(
      pattern,
      captures,
      () => this.#place,
      (at) => {
        this.#place = at;
      },
    );
    if (record) return record;
    throw this.#failure(pattern, captures, from);
  }

  /** The very next record from the place on, which must fit. */
  async following(pattern: unknown, captures: Captures = new Map()): Promise<JsonRecord> {
    const at = this.#place;
    const record = await this.next("<any>");
    const found = difference(pattern, record, captures);
    if (found) throw new Error(`Record ${at} does not fit: ${found}${this.#context()}`);
    return record;
  }

  /** The first of all records that fits, wherever the place is. */
  async anywhere(pattern: unknown): Promise<JsonRecord> {
    let at = 0;
    const record = await this.#find(
      pattern,
      new Map(),
      () => at,
      (next) => {
        at = next;
      },
    );
    if (record) return record;
    throw this.#failure(pattern, new Map(), 0);
  }

  /** Those that came so far and fit. */
  matching(pattern: unknown): JsonRecord[] {
    return this.all.filter((record) => difference(pattern, record) === undefined);
  }

  async #find(
    pattern: unknown,
    captures: Captures,
    from: () => number,
    moveTo: (at: number) => void,
  ): Promise<JsonRecord | undefined> {
    let deadline = performance.now() + deadlineMs;
    for (;;) {
      if (from() < this.all.length) deadline = performance.now() + deadlineMs;
      for (let at = from(); at < this.all.length; at += 1) {
        const record = this.all[at] as JsonRecord;
        moveTo(at + 1);
        if (difference(pattern, record, captures) === undefined) return record;
      }
      const left = deadline - performance.now();
      if (this.#ended !== undefined || left <= 0) return undefined;
      await this.#change(left);
    }
  }

  #failure(pattern: unknown, captures: Captures, from: number): Error {
    const seen = this.all.slice(from).map((record) => `  ${JSON.stringify(record).slice(0, 400)}`);
    const shown = seen.length > 40 ? [...seen.slice(0, 20), `  … ${seen.length - 40} more`, ...seen.slice(-20)] : seen;
    const why = this.#ended === undefined ? `none came for ${deadlineMs} ms` : `output ended: ${this.#ended}`;
    const names = captures.size > 0 ? ` with ${inspect(Object.fromEntries(captures))}` : "";
    const head = `No record fits ${inspect(pattern, { depth: 6 })}${names} (${why}); seen:`;
    return new Error([head, ...shown, this.#context()].join("\n"));
  }

  #change(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
