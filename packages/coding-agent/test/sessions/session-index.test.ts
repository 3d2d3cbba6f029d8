// The index beside the sessions: what did not change is not read again, and nothing in it is believed blindly.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { listSessions } from "../../src/sessions/session-list.js";
import { header, lines, messageEntry, temporaryDirectory, user } from "./session-files.js";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

const indexPath = () => join(directory, ".session-index.json");
const readIndex = () => JSON.parse(readFileSync(indexPath(), "utf8"));

function session(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, lines({ ...header, id: name }, messageEntry("a", null, user(text))));
  utimesSync(path, 1_800_000_000, 1_800_000_000);
  return path;
}

/** Another text of the same length, behind the back of whoever looks at size and time. */
function changeUnseen(path: string, from: string, to: string): void {
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
  utimesSync(path, 1_800_000_000, 1_800_000_000);
}

const texts = async () => (await listSessions(directory)).map(({ firstMessage }) => firstMessage);

describe("the index of a directory", () => {
  test("a file whose size and time are the same is not read again", async () => {
    const path = session("a.jsonl", "one");
    expect(await texts()).toEqual(["one"]);
    changeUnseen(path, "one", "two");
    expect(await texts()).toEqual(["one"]);
    utimesSync(path, 1_800_000_001, 1_800_000_001);
    expect(await texts()).toEqual(["two"]);
    expect(await texts()).toEqual(["two"]);
  });

  test("a list from the index equals the one that made it", async () => {
    session("a.jsonl", "one");
    writeFileSync(
      join(directory, "b.jsonl"),
      lines(
        { ...header, id: "b", parentSession: "/p" },
        { type: "session_info", id: "n", parentId: null, timestamp: "t", name: "named" },
      ),
    );
    writeFileSync(join(directory, "c.jsonl"), "no session\n");
    const made = await listSessions(directory);
    expect(existsSync(indexPath())).toBe(true);
    expect(made).toHaveLength(2);
    expect(await listSessions(directory)).toEqual(made);
    expect(await listSessions(directory, "/elsewhere")).toEqual([]);
    expect(await listSessions(directory)).toEqual(made);
  });

  test("what is gone leaves the index, what did not change leaves it alone", async () => {
    session("a.jsonl", "one");
    const gone = session("b.jsonl", "two");
    await texts();
    rmSync(gone);
    await texts();
    expect(Object.keys(readIndex().files)).toEqual(["a.jsonl"]);
    const { ino, mtimeMs } = statSync(indexPath());
    await texts();
    expect(statSync(indexPath())).toMatchObject({ ino, mtimeMs });
  });

  test("a session that grew is read again", async () => {
    const path = session("a.jsonl", "one");
    await texts();
    writeFileSync(path, readFileSync(path, "utf8") + lines(messageEntry("b", "a", user("more"))));
    utimesSync(path, 1_800_000_000, 1_800_000_000);
    expect((await listSessions(directory))[0]?.messageCount).toBe(2);
  });

  test.each<[string, unknown]>([
    ["garbage", "{"],
    ["null", "null"],
    ["another version", { version: 2, files: { "a.jsonl": {} } }],
    ["no files", { version: 1 }],
    ["a row that is none", { version: 1, files: { "a.jsonl": 7, __proto__: null } }],
    ["facts of the wrong shape", { version: 1, files: { "a.jsonl": { facts: { id: 7 } } } }],
  ])("an index of %s is made anew", async (_, content) => {
    const path = session("a.jsonl", "one");
    const { size, mtimeMs } = statSync(path);
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(indexPath(), text.replace('"facts"', `"size":${size},"mtimeMs":${mtimeMs},"facts"`));
    expect(await texts()).toEqual(["one"]);
    expect(readIndex().files["a.jsonl"]).toMatchObject({ size, mtimeMs, facts: { firstMessage: "one" } });
  });

  test("where it cannot be written the list is the same", async () => {
    session("a.jsonl", "one");
    mkdirSync(indexPath());
    expect(await texts()).toEqual(["one"]);
    expect(await texts()).toEqual(["one"]);
  });

  test("a pipe in its place is not waited for", async () => {
    session("a.jsonl", "one");
    execFileSync("mkfifo", [indexPath()]);
    expect(await texts()).toEqual(["one"]);
  });

  test("a long first message stays out of it", async () => {
    const path = session("a.jsonl", "x".repeat(20_000));
    expect(await texts()).toEqual(["x".repeat(20_000)]);
    changeUnseen(path, "xx", "yy");
    expect((await texts())[0]?.startsWith("yy")).toBe(true);
  });
});
