// What the built program writes is well formed, whatever text passes through it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startCliRpc } from "../helpers/cli-rpc.js";
import { brokenOrder } from "../helpers/event-grammar.js";
import { readSession } from "../helpers/workspace.js";

const seed = 20_260_105;

/** Characters that break framing, encodings or terminals, among others. */
const hostileUnit = fc.oneof(
  fc.constantFrom(
    "\u2028",
    "\u2029",
    "\u0085",
    "\u000b",
    "\u000c",
    "\0",
    "\u001b[31m",
    "\r",
    "\n",
    "\t",
    '"',
    "\\",
    "\u0600",
  ),
  fc.constantFrom(
    "\ufeff",
    "\ufffd",
    "\uffff",
    "😀",
    "👩‍👩‍👧",
    "한",
    "\ud800",
    "\udfff",
    "\u{10ffff}",
    "</script>",
    "`",
    "data: ",
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
);
const hostile = fc.array(hostileUnit, { minLength: 1, maxLength: 30 }).map((units) => units.join(""));
/** Lone surrogates have no form in UTF-8: replaced, as in every decoder. */
const inUtf8 = (text: string) => Buffer.from(text).toString();

test("prompts, answers, names, tool output and file names", { timeout: 60_000 }, async () => {
  const { cli, model, place } = await startCliRpc();
  const texts = fc.sample(hostile, { seed, numRuns: 25 });
  for (const [index, text] of texts.entries()) {
    const name = `f${index} ${text.replaceAll(/[/\0]/g, "_").slice(0, 30)}`;
    writeFileSync(join(place.cwd, Buffer.from(name).toString()), text);
    model.answer(
      { thinking: inUtf8(text) },
      // In single characters, so that every cut between two deltas occurs.
      { text: `x${inUtf8(text)}`, deltas: 1000 },
      { toolCall: "bash", arguments: { command: `cat f${index}\\ *; ls; printf '\\xff\\xfe\\xf0\\x9f'` } },
    );
    model.answer("done");
    cli.send({ id: `p${index}`, type: "prompt", message: `x${text}` });
    await cli.records.next({ type: "agent_settled", aborted: false });
    cli.send({ id: `n${index}`, type: "set_session_name", name: `x${text}` });
    await cli.records.next({ type: "response", id: `n${index}`, success: true });
    cli.send({ id: `b${index}`, type: "bash", command: `printf %s '${text.replaceAll(/['\0]/g, "_")}'` });
    await cli.records.next({ type: "response", id: `b${index}`, success: true });
  }
  cli.send({ id: "all", type: "get_messages" });
  const { data } = await cli.records.next({ type: "response", id: "all" });
  cli.closeStdin();
  expect({ code: await cli.ended, faults: cli.faults, seed }).toEqual({ code: 0, faults: [], seed });
  expect(brokenOrder(cli.records.all)).toEqual([]);
  expect(cli.stdout.includes("\u2028") || cli.stdout.includes("\u2029")).toBe(false);
  const { messages } = data as { messages: { role: string; content: { text: string }[] }[] };
  const users = messages.flatMap(({ role, content }) => (role === "user" ? [content[0]?.text] : []));
  expect(users).toEqual(texts.map((text) => `x${text}`));
  const answers = messages.flatMap((message) => (message.role === "assistant" ? [message.content] : []));
  expect(answers.filter((content) => content.length === 3).map((content) => content[1]?.text)).toEqual(
    texts.map((text) => `x${inUtf8(text)}`),
  );
  const saved = readSession(place.sessionFiles()[0] as string);
  expect(saved.filter(({ type }) => type === "message")).toHaveLength(messages.length);
});

test("an answer in deltas of any cut keeps its characters whole", { timeout: 60_000 }, async () => {
  const { cli, model } = await startCliRpc({ args: ["--no-session"] });
  const text = "a😀한\u{10ffff}".repeat(50);
  model.answer({ text, deltas: 200 });
  cli.send({ type: "prompt", message: "go" });
  await cli.records.next({ type: "agent_settled" });
  const deltas = cli.records
    .matching({ type: "message_update", assistantMessageEvent: { type: "text_delta" } })
    .map(({ assistantMessageEvent }) => (assistantMessageEvent as { delta: string }).delta);
  expect(deltas.join("")).toBe(text);
  expect(deltas.every((delta) => Buffer.from(delta).toString() === delta)).toBe(true);
});
