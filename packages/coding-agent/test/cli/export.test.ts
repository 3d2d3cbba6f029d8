// --export: a session file as a page, from the command line.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionLines } from "../export/sessions.js";
import { runCli } from "../helpers/running-cli.js";
import { type Workspace, workspace } from "../helpers/workspace.js";

async function run(place: Workspace, args: readonly string[]) {
  const cli = await runCli({ place, args, isText: true, input: "" });
  return { code: cli.code, stdout: cli.stdout.toString("utf8"), stderr: cli.stderr };
}

function withSession(): Workspace {
  const place = workspace();
  const session = new SessionLines({ cwd: "/a/directory/that/is/gone" });
  session.user("Hello");
  session.answer("Hi");
  writeFileSync(join(place.cwd, "in.jsonl"), session.text("/"));
  return place;
}

test("--export writes the page where it is told, and says where", async () => {
  const place = withSession();
  const before = readFileSync(join(place.cwd, "in.jsonl"));
  const page = join(place.cwd, "out.html");
  expect(await run(place, ["--export", "in.jsonl", "out.html"])).toEqual({ code: 0, stdout: `${page}\n`, stderr: "" });
  expect(readFileSync(page, "utf8")).toContain("<title>Hello</title>");
  expect(readFileSync(join(place.cwd, "in.jsonl")).equals(before)).toBe(true);
});

test("--export names the page by the session's file, in the current directory", async () => {
  const place = withSession();
  mkdirSync(join(place.cwd, "elsewhere"));
  writeFileSync(join(place.cwd, "elsewhere/other.jsonl"), readFileSync(join(place.cwd, "in.jsonl")));
  const page = join(place.cwd, "pi-session-other.html");
  expect((await run(place, ["--export", "elsewhere/other.jsonl"])).stdout).toBe(`${page}\n`);
  expect(existsSync(page)).toBe(true);
});

test("--export takes a file of an older version, and leaves it at that", async () => {
  const place = workspace();
  const old = [
    { type: "session", id: "old", timestamp: "2026-01-01T00:00:00.000Z", cwd: place.cwd },
    { type: "message", timestamp: "2026-01-01T00:00:01.000Z", message: { role: "user", content: "Old times" } },
  ];
  const text = old.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(place.cwd, "old.jsonl"), text);
  expect((await run(place, ["--export", "old.jsonl", "old.html"])).code).toBe(0);
  expect(readFileSync(join(place.cwd, "old.html"), "utf8")).toContain("<title>Old times</title>");
  expect(readFileSync(join(place.cwd, "old.jsonl"), "utf8")).toBe(text);
});

test("--export fails for what is no session with messages, saying why", async () => {
  const place = withSession();
  writeFileSync(join(place.cwd, "text.jsonl"), "no session\n");
  writeFileSync(join(place.cwd, "empty.jsonl"), new SessionLines().text(place.cwd));
  const file = (name: string) => join(place.cwd, name);
  const cases: [string[], string][] = [
    [["missing.jsonl"], `Cannot open session "${file("missing.jsonl")}": there is no such file`],
    [["text.jsonl"], `Cannot open session "${file("text.jsonl")}": its first line is no session header`],
    [["empty.jsonl"], "Nothing to export: the session has no messages"],
    [["in.jsonl", "in.jsonl"], `Cannot export to "${file("in.jsonl")}": it is the session's own file`],
    [["in.jsonl", "a.html", "b.html"], "--export takes a session file and the page to write"],
  ];
  const before = readdirSync(place.cwd);
  for (const [args, reason] of cases)
    expect(await run(place, ["--export", ...args])).toEqual({ code: 1, stdout: "", stderr: `pi: ${reason}\n` });
  const failed = await run(place, ["--export", "in.jsonl", "missing/page.html"]);
  expect([failed.code, failed.stdout]).toEqual([1, ""]);
  expect(failed.stderr).toMatch(/^pi: Cannot write ".*\/missing\/page\.html": ENOENT/);
  expect(readdirSync(place.cwd)).toEqual(before);
});
