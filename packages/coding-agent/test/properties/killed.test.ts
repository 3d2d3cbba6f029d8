// The session file survives: whatever was announced before a kill is in it, and it opens again.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonRecord } from "../helpers/records.js";
import { type RunningCli, startCli } from "../helpers/running-cli.js";
import { readSession, type Workspace, workspace } from "../helpers/workspace.js";

const seed = 20_260_106;
const args = ["--mode", "rpc", "--model", "demo"];
const work = [
  { type: "set_session_name", name: "first" },
  { type: "prompt", message: "Run `echo one`" },
  { type: "bash", command: "echo two" },
  { type: "follow_up", message: 'create the file a.txt with "Hello"' },
  { type: "set_session_name", name: "second" },
  { type: "follow_up", message: "read a.txt" },
];

/** Kills it after it has written a number of records, which may be in the middle of anything. */
async function runAndKill(place: Workspace, session: string, after: number): Promise<RunningCli> {
  const cli = startCli({ place, args: [...args, "--session", session] });
  cli.sendRaw(work.map((record) => `${JSON.stringify(record)}\n`).join(""));
  for (let seen = 0; seen < after; seen += 1) await cli.records.following("<any>");
  cli.signal("SIGKILL");
  await cli.ended;
  return cli;
}

/** What was announced, by kind: a prompt is written before it is announced, so a name may come between. */
function announced(records: readonly JsonRecord[]) {
  return {
    messages: records.flatMap((record) => (record.type === "message_end" ? [record.message] : [])),
    names: records.flatMap((record) => (record.type === "session_info_changed" ? [record.name] : [])),
  };
}

test("30 kills: everything announced is in the file, in order", { timeout: 120_000 }, async () => {
  const moments = fc.sample(fc.integer({ min: 1, max: 90 }), { seed, numRuns: 30 });
  const place = workspace();
  const kill = async (index: number) => {
    const path = `${place.cwd}/${index}.jsonl`;
    const cli = await runAndKill(place, path, moments[index] as number);
    const expected = announced(cli.records.all);
    if (expected.messages.length + expected.names.length === 0) return;
    const entries = readSession(path);
    const inFile = (type: string, field: string) =>
      entries.flatMap((entry) => (entry.type === type ? [entry[field]] : []));
    // The output of shell commands is not announced as a message.
    const messages = inFile("message", "message").filter((message) => (message as JsonRecord).role !== "bashExecution");
    // What was written and not announced any more may follow.
    const written = {
      messages: messages.slice(0, expected.messages.length),
      names: inFile("session_info", "name").slice(0, expected.names.length),
    };
    expect({ seed, index, ...written }).toEqual({ seed, index, ...expected });
    const again = startCli({ place, args: [...args, "--session", path] });
    const { data } = await again.ask({ type: "get_messages" });
    expect((data as { messages: unknown[] }).messages).toHaveLength(inFile("message", "message").length);
    again.destroy();
  };
  for (let first = 0; first < moments.length; first += 3)
    await Promise.all([first, first + 1, first + 2].map((index) => kill(index)));
});
