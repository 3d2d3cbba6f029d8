// What the tests of the session store share: a directory that goes away, lines of a file, and messages.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentMessage } from "../../src/core/messages.js";

/** A fresh directory, removed when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "pi-sessions-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function user(text: string): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 1 };
}

export function assistant(text: string): AgentMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "demo",
    provider: "demo",
    model: "demo",
    usage: {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: 2,
  };
}

export const header = {
  type: "session",
  version: 3,
  id: "11111111-1111-4111-8111-111111111111",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/work",
};

export function messageEntry(id: string, parentId: string | null, message: unknown = user(id)) {
  return { type: "message", id, parentId, timestamp: "2026-01-01T00:00:01.000Z", message };
}

/** One line an object; strings as they are. */
export function lines(...values: unknown[]): string {
  return values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("");
}

export function sessionFile(content: string | Buffer, name = "session.jsonl"): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, content);
  return path;
}

/** The lines of a file that are JSON, parsed. */
export function readEntries(path: string): { type: string; id: string; parentId?: string | null }[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}

export function textsOf(messages: readonly AgentMessage[]): string[] {
  return messages.map((message) => {
    if ("summary" in message) return `summary: ${message.summary}`;
    if (!("content" in message)) return message.role;
    if (typeof message.content === "string") return message.content;
    return message.content.map((block) => (block.type === "text" ? block.text : block.type)).join("");
  });
}
