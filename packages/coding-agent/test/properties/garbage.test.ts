// Whatever comes on stdin of the built program kills nothing, and every line gets exactly one answer.

import fc from "fast-check";
import { expect, test } from "vitest";
import { rpcCommands } from "../../src/modes/rpc/rpc-types.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import type { JsonRecord } from "../helpers/records.js";
import { startCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

const seed = 20_260_104;
const commandNames = Object.keys(rpcCommands);
/** What may be run: random texts are no commands for a shell. */
const harmless = fc.constantFrom("true", "exit 3", "echo x", "", 7, null);
const anything = fc.jsonValue({ maxDepth: 2 });
/** Names and values that parameters have, in any combination. */
const parameters = fc.dictionary(
  fc.constantFrom(
    "message",
    "images",
    "streamingBehavior",
    "provider",
    "modelId",
    "level",
    "mode",
    "name",
    "enabled",
    "since",
    "entryId",
  ),
  fc.oneof(anything, fc.constantFrom("steer", "followUp", "demo", "high", "all", true, false, "a", [])),
  { maxKeys: 4 },
);
const command = fc
  .tuple(
    fc.oneof(fc.constantFrom(...commandNames), fc.constantFrom("__proto__", "toString", "", "PROMPT")),
    parameters,
    harmless,
  )
  .map(([type, rest, shell]) => ({ ...rest, type, ...(type === "bash" && { command: shell }) }));
/** Lines that are no JSON objects, without the line's end. */
const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a))),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => Buffer.from(text.replaceAll("\n", ""))),
  fc
    .oneof(fc.constant(null), fc.integer(), fc.array(anything, { maxLength: 3 }))
    .map((value) => Buffer.from(JSON.stringify(value))),
  fc.constantFrom('{"id":', '{"type":"get_state"', "\u2028", "{}}", "\ufeff{}").map((text) => Buffer.from(text)),
);

test("10,000 random records: the process lives, and each has one answer", { timeout: 120_000 }, async () => {
  const place = workspace();
  // No tools: what the prompts say must not be done.
  const cli = startCli({ place, args: ["--mode", "rpc", "--model", "demo", "--no-session", "--no-tools"] });
  const lines = fc.sample(fc.oneof({ weight: 3, arbitrary: command }, { weight: 1, arbitrary: garbage }), {
    seed,
    numRuns: 10_000,
  });
  let answerless = 0;
  const sent = new Map<string, string>();
  const chunks = lines.map((line, index) => {
    if (Buffer.isBuffer(line)) {
      if (!isObject(line)) answerless += 1;
      return Buffer.concat([line, Buffer.from("\n")]);
    }
    sent.set(`r${index}`, line.type);
    return Buffer.from(`${JSON.stringify({ ...line, id: `r${index}` })}\n`);
  });
  // Objects that random text made have no type, and are answered as `parse` too.
  const objects = lines.filter((line) => Buffer.isBuffer(line) && isObject(line)).length;
  cli.sendRaw(Buffer.concat(chunks));
  cli.closeStdin();
  const code = await cli.ended;
  expect({ code, faults: cli.faults, seed }).toEqual({ code: 0, faults: [], seed });
  expect(cli.stderr).not.toMatch(/\n\s+at /);
  const answers = new Map<string, JsonRecord[]>();
  const parseAnswers: JsonRecord[] = [];
  for (const record of cli.records.all.filter(({ type }) => type === "response")) {
    if (typeof record.id !== "string") parseAnswers.push(record);
    else answers.set(record.id, [...(answers.get(record.id) ?? []), record]);
  }
  const wrong = [...sent].filter(
    ([id, type]) => answers.get(id)?.length !== 1 || answers.get(id)?.[0]?.command !== type,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(parseAnswers).toHaveLength(answerless + objects);
  const texts = cli.records.matching({ type: "response", success: false }).map(({ error }) => String(error));
  expect(texts.filter((text) => /undefined|is not a function|Cannot read|TypeError/.test(text))).toEqual([]);
  expect(cli.records.matching({ code: "internal" })).toEqual([]);
  expect(brokenOrder(cli.records.all)).toEqual([]);
});

function isObject(line: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(line.toString("utf8").replace(/\r$/, ""));
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

test("a record over 128 MB is refused, and the next one works", { timeout: 60_000 }, async () => {
  const cli = startCli({ place: workspace(), args: ["--mode", "rpc", "--model", "demo", "--no-session"] });
  cli.sendRaw('{"id":"big","type":"prompt","message":"');
  const megabyte = Buffer.alloc(1024 * 1024, "x");
  for (let sent = 0; sent <= 128; sent += 1) {
    const taken = cli.child.stdin?.write(megabyte);
    if (!taken) await new Promise((resolve) => cli.child.stdin?.once("drain", resolve));
  }
  cli.sendRaw('"}\n{"id":"next","type":"get_state"}\n');
  await cli.records.following({
    type: "response",
    id: "<absent>",
    command: "parse",
    success: false,
    error: "Failed to parse command: a record may have 134217728 bytes at most",
    code: "invalid_request",
  });
  await cli.records.following({ type: "response", id: "next", success: true });
});

test("a name that comes one byte at a time stays whole", async () => {
  const cli = startCli({ place: workspace(), args: ["--mode", "rpc", "--model", "demo", "--no-session"] });
  for (const byte of Buffer.from('{"type":"set_session_name","name":"한글😀"}\n')) cli.sendRaw(Buffer.of(byte));
  await cli.records.next({ type: "session_info_changed", name: "한글😀" });
});
