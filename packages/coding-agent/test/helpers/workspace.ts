// A place for one test: a home, an agent directory and a working directory of its own, removed afterwards.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface Workspace {
  root: string;
  home: string;
  agentDir: string;
  /** Where the program is started; a project. */
  cwd: string;
  /** Its folder for temporary files. */
  temp: string;
  /** Writes a file below the root and gives its path; what is no text or bytes as JSON. */
  write(path: string, content: unknown): string;
  /** Reads a file below the root. */
  read(path: string): string;
  /** The whole environment of a child: nothing of the machine's but PATH. */
  environment(extra?: Record<string, string>): Record<string, string>;
  /** Every session file in the agent directory, in order of name. */
  sessionFiles(): string[];
  remove(): void;
}

/** Removed when the test ends. */
export function workspace(files: Record<string, unknown> = {}): Workspace {
  const place = openWorkspace(files);
  onTestFinished(() => place.remove());
  return place;
}

/** The caller removes it. */
export function openWorkspace(files: Record<string, unknown> = {}): Workspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-test-")));
  const place: Workspace = {
    root,
    home: join(root, "home"),
    agentDir: join(root, "agent"),
    cwd: join(root, "project"),
    temp: join(root, "temp"),
    write(path, content) {
      const target = join(root, path);
      mkdirSync(dirname(target), { recursive: true });
      const isRaw = typeof content === "string" || content instanceof Uint8Array;
      writeFileSync(target, isRaw ? content : JSON.stringify(content, null, 2));
      return target;
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    environment: (extra = {}) => ({
      PATH: process.env.PATH ?? "",
      HOME: place.home,
      TMPDIR: place.temp,
      PI_CODING_AGENT_DIR: place.agentDir,
      ...extra,
    }),
    sessionFiles() {
      const sessions = join(place.agentDir, "sessions");
      if (!existsSync(sessions)) return [];
      const names = readdirSync(sessions, { recursive: true, encoding: "utf8" });
      return names
        .filter((name) => name.endsWith(".jsonl"))
        .sort()
        .map((name) => join(sessions, name));
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
  for (const directory of [place.home, place.agentDir, place.cwd, place.temp]) mkdirSync(directory);
  for (const [path, content] of Object.entries(files)) place.write(path, content);
  return place;
}

/** The records of a session file, header first. Throws when a line is no JSON. */
export function readSession(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}
