// Session files for the tests of the export, and the place they are in.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "../../src/sessions/session-manager.js";

type Fields = Record<string, unknown> & { type: string };

/** A directory that is removed by `dispose`. */
export interface Place {
  directory: string;
  dispose: () => void;
}

export function temporaryPlace(): Place {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "pi-export-")));
  return { directory, dispose: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Puts entries together; each follows the one before unless it names a parent. */
export class SessionLines {
  readonly header: Record<string, unknown>;
  readonly lines: Fields[] = [];
  #last: string | null = null;
  #at = Date.parse("2026-03-04T09:00:00.000Z");

  constructor(header: Record<string, unknown> = {}) {
    this.header = { type: "session", version: 3, id: "s-1", timestamp: "2026-03-04T09:00:00.000Z", ...header };
  }

  /** Gives the entry's id. */
  add(fields: Fields, parent?: string | null): string {
    this.#at += 1_000;
    const place = {
      id: `e${String(this.lines.length + 1).padStart(5, "0")}`,
      parentId: parent === undefined ? this.#last : parent,
      timestamp: new Date(this.#at).toISOString(),
    };
    const entry: Fields & { id: string } = { ...place, ...fields };
    this.lines.push(entry);
    this.#last = entry.id;
    return entry.id;
  }

  user(text: string, parent?: string | null): string {
    return this.add(
      { type: "message", message: { role: "user", content: [{ type: "text", text }], timestamp: 1 } },
      parent,
    );
  }

  answer(content: unknown, more: Record<string, unknown> = {}): string {
    const usage = { input: 1_000, output: 200, cacheRead: 0, cacheWrite: 0, totalTokens: 1_200, cost: { total: 0.25 } };
    const facts = { provider: "acme", model: "smart-1", api: "x", usage, stopReason: "stop", timestamp: 1 };
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return this.add({ type: "message", message: { role: "assistant", content: blocks, ...facts, ...more } });
  }

  result(toolCallId: string, toolName: string, text: string, more: Record<string, unknown> = {}): string {
    const content = [{ type: "text", text }];
    const message = { role: "toolResult", toolCallId, toolName, content, isError: false, timestamp: 1, ...more };
    return this.add({ type: "message", message });
  }

  text(directory: string): string {
    return [{ cwd: directory, ...this.header }, ...this.lines].map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  /** Writes the session into a directory, which is its working directory unless the header says otherwise. */
  open(directory: string, name = "2026_s-1.jsonl"): SessionManager {
    const path = join(directory, name);
    writeFileSync(path, this.text(directory));
    return SessionManager.open(path);
  }
}

export const call = (id: unknown, name: unknown, args: unknown) => ({ type: "toolCall", id, name, arguments: args });
