// What a killed process left beside its session goes away; what a living one is writing stays.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { draftOf } from "../../src/sessions/drafts.js";
import { SessionLock } from "../../src/sessions/session-lock.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { bundledProgram } from "../lib/bundled-program.js";
import { header, lines, messageEntry, temporaryDirectory, user } from "./session-files.js";

/** Takes the lock of a session, writes half its draft, and is killed. */
const killed = `
import { writeFileSync } from "node:fs";
import { draftOf } from "../../src/sessions/drafts.ts";
import { SessionLock } from "../../src/sessions/session-lock.ts";
const file = process.argv[2];
if (new SessionLock(file).take() !== undefined) process.exit(1);
writeFileSync(draftOf(file), "half");
process.kill(process.pid, "SIGKILL");
`;

async function leaveDraft(file: string): Promise<void> {
  const script = await bundledProgram(temporaryDirectory(), import.meta.url, killed);
  const [, signal] = await once(spawn(process.execPath, [script, file], { stdio: "inherit" }), "exit");
  expect(signal).toBe("SIGKILL");
  expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".tmp"))).toHaveLength(1);
}

describe("the draft of a killed process", () => {
  test("goes when the directory is listed, and its lock with it", async () => {
    const directory = temporaryDirectory();
    await leaveDraft(join(directory, "a.jsonl"));
    writeFileSync(join(directory, "b.jsonl"), lines(header, messageEntry("a", null)));
    expect(await SessionManager.list(header.cwd, directory)).toHaveLength(1);
    expect(readdirSync(directory).filter((name) => name.startsWith(".a") || name.startsWith("a."))).toEqual([]);
  });

  test.each(["a.jsonl", "a.log"])("goes when a session is created, of %s too", async (name) => {
    const file = join(temporaryDirectory(), name);
    await leaveDraft(file);
    const session = SessionManager.create("/work", undefined, { file });
    onTestFinished(() => session.release());
    session.appendMessage(user("hi"));
    expect(readdirSync(dirname(file)).sort()).toEqual([name, `${name}.lock`]);
  });

  test("of a lock goes when it is old or its process has ended", async () => {
    const directory = temporaryDirectory();
    await leaveDraft(join(directory, "a.jsonl"));
    const owner = readFileSync(join(directory, "a.jsonl.lock"), "utf8");
    const drafts = [1, 2, 3].map((digit) => `b.jsonl.lock.${digit}1111111-1111-4111-8111-111111111111`);
    for (const [at, name] of drafts.entries()) writeFileSync(join(directory, name), at === 0 ? owner : "");
    utimesSync(join(directory, drafts[1] as string), 1, 1);
    await SessionManager.list("/work", directory);
    expect(readdirSync(directory).filter((name) => name.startsWith("b."))).toEqual([drafts[2]]);
  });
});

test("the draft of a living process stays, and so do files of others", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "a.jsonl");
  const writer = new SessionLock(file);
  onTestFinished(() => writer.release());
  writer.take();
  const kept = [
    draftOf(file),
    ...[".notes.txt.1.tmp", ".a.jsonl.0123456789ab.tmp", "a.jsonl.1.tmp"].map((name) => join(directory, name)),
  ];
  for (const path of kept) {
    writeFileSync(path, "x");
    utimesSync(path, 1, 1);
  }
  await SessionManager.list("/work", directory);
  const session = SessionManager.create("/work", directory);
  session.appendMessage(user("hi"));
  session.release();
  expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toHaveLength(kept.length);
});
