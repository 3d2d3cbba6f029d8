// What the tests of resources share: a home with an agent directory and a project, removed when the test ends.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface Workspace {
  root: string;
  agentDir: string;
  cwd: string;
  /** Writes a file below the root; objects as JSON. */
  write(path: string, content: unknown): string;
}

export function workspace(files: Record<string, unknown> = {}): Workspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-resources-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string, content: unknown) => {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return target;
  };
  const place = { root, agentDir: join(root, "agent"), cwd: join(root, "project"), write };
  for (const directory of [place.agentDir, place.cwd]) mkdirSync(directory);
  for (const [path, content] of Object.entries(files)) write(path, content);
  return place;
}
