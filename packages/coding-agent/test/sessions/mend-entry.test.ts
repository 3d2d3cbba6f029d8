// Entries another program wrote badly: the session opens, tells of them, and a run goes on beside them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { workspaceWithModel } from "../helpers/cli-rpc.js";
import { startCli } from "../helpers/running-cli.js";
import { header, lines, messageEntry, temporaryDirectory, user } from "./session-files.js";

const facts = { id: "b", parentId: "a", timestamp: "2026-01-01T00:00:00.000Z" };
const message = (fields: object) => ({ type: "message", ...facts, message: fields });
const odd: [string, object, RegExp][] = [
  ["a summary that is none", { type: "branch_summary", ...facts, fromId: "a" }, /has no summary/],
  ["a compaction without text", { type: "compaction", ...facts, summary: null, firstKeptEntryId: "a" }, /no summary/],
  ["a null block", message({ role: "user", content: [null, { type: "text", text: "kept" }] }), /blocks that are none/],
  ["odd blocks of an answer", message({ role: "assistant", content: [null, 5, { type: "text" }] }), /blocks/],
  ["no content", message({ role: "user" }), /has no content/],
  ["no message", { type: "message", ...facts }, /message without a role/],
  ["a null block of an extension", { type: "custom_message", ...facts, customType: "x", content: [null] }, /blocks/],
  ["an edit that is a number", { type: "context_edit", ...facts, targetId: "a", replacement: 5 }, /replacement/],
  ["a result without a call", message({ role: "toolResult", content: [] }), /without a call/],
  ["a command without text", message({ role: "bashExecution", command: 7 }), /shell command/],
  ["a model that is none", { type: "model_change", ...facts, provider: 5, modelId: null }, /names no model/],
];

describe("odd entries", () => {
  test.each(odd)("%s: told of, kept in the file, harmless", (_, entry, reason) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const text = lines(header, messageEntry("a", null, user("hello")), entry, messageEntry("c", "b", user("more")));
    writeFileSync(path, text);
    const store = SessionManager.open(path);
    expect(store.diagnostics.map(({ line, message: told }) => [line, told])).toEqual([
      [3, expect.stringMatching(reason)],
    ]);
    const { messages } = store.buildSessionContext();
    expect(JSON.stringify(messages)).toContain("more");
    expect(store.getEntries().map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("the built program runs on in a session with all of them, and no answer is an internal error", async () => {
    const { place, model } = await workspaceWithModel();
    const chain = odd.map(([, entry], index) => ({
      ...entry,
      id: `o${index}`,
      parentId: index === 0 ? "a" : `o${index - 1}`,
    }));
    const path = place.write("odd.jsonl", lines(header, messageEntry("a", null, user("hello")), ...chain));
    model.answer("Fine");
    const cli = startCli({ place, args: ["--mode", "rpc", "--model", "scripted/thinker", "--session", path] });
    for (const type of [
      "get_messages",
      "get_session_stats",
      "get_fork_messages",
      "get_last_assistant_text",
      "get_tree",
    ])
      expect(await cli.ask({ type })).toMatchObject({ success: true });
    expect(await cli.ask({ type: "prompt", message: "go on" })).toMatchObject({ success: true });
    await cli.records.next({ type: "message_end", message: { role: "assistant", stopReason: "stop" } });
    await cli.records.next({ type: "agent_settled", aborted: false });
  });
});
