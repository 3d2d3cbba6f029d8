import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEntry } from "../../src/sessions/entries.js";
import { ContextBuilder } from "../../src/sessions/session-context.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { SessionTree } from "../../src/sessions/session-tree.js";
import { assistant, messageEntry, textsOf, user } from "./session-files.js";

const session = () => SessionManager.inMemory("/work");
const texts = (manager: SessionManager) => textsOf(manager.buildSessionContext().messages);

describe("the context", () => {
  test("is the branch's messages with their entries, and the model and level last chosen on it", () => {
    const manager = session();
    manager.appendModelChange("a", "one");
    manager.appendThinkingLevelChange("low");
    const first = manager.appendMessage(user("hi"));
    manager.appendModelChange("b", "two");
    manager.appendCustomEntry("state", 1);
    const note = manager.appendCustomMessageEntry("note", "seen", false);
    const context = manager.buildSessionContext();
    expect(textsOf(context.messages)).toEqual(["hi", "seen"]);
    expect(context.entryIds).toEqual([first, note]);
    expect(context.model).toEqual({ provider: "b", modelId: "two" });
    expect(context.thinkingLevel).toBe("low");
    manager.branch(first);
    expect(manager.buildSessionContext()).toMatchObject({ model: { provider: "a" }, entryIds: [first] });
  });

  test("has the model of the last answer when none was chosen, and no level when none was", () => {
    const manager = session();
    expect(manager.buildSessionContext()).toEqual({ messages: [], entryIds: [], model: null, thinkingLevel: null });
    manager.appendMessage(assistant("hi"));
    manager.appendThinkingLevelChange("bogus");
    expect(manager.buildSessionContext()).toMatchObject({
      model: { provider: "demo", modelId: "demo" },
      thinkingLevel: null,
    });
  });

  test("has no model of an answer that does not say whose it is", () => {
    const manager = session();
    const { provider: _, model: __, ...nameless } = assistant("old") as unknown as Record<string, unknown>;
    manager.appendMessage(nameless as never);
    expect(manager.buildSessionContext().model).toBeNull();
    manager.appendMessage(assistant("new"));
    manager.appendMessage(nameless as never);
    expect(manager.buildSessionContext().model).toEqual({ provider: "demo", modelId: "demo" });
  });

  test("starts with the latest summary and what it keeps; nothing kept by one compaction is lost by the next", () => {
    const manager = session();
    manager.appendMessage(user("u1"));
    const u2 = manager.appendMessage(user("u2"));
    const u3 = manager.appendMessage(user("u3"));
    manager.appendCompaction("s1", u2, 1);
    expect(texts(manager)).toEqual(["summary: s1", "u2", "u3"]);
    manager.appendMessage(user("u4"));
    expect(texts(manager)).toEqual(["summary: s1", "u2", "u3", "u4"]);
    manager.appendCompaction("s2", u3, 1);
    manager.appendMessage(user("u5"));
    expect(texts(manager)).toEqual(["summary: s2", "u3", "u4", "u5"]);
    manager.appendCompaction("s3", "nowhere", 1);
    expect(texts(manager)).toEqual(["summary: s3"]);
  });

  test("follows the latest edit on the branch: null leaves out, other content comes in the role's own form", () => {
    const manager = session();
    const u1 = manager.appendMessage(user("u1"));
    const a1 = manager.appendMessage(assistant("a1"));
    const before = manager.getLeafId()!;
    manager.appendContextEdit(a1, null);
    expect(texts(manager)).toEqual(["u1"]);
    manager.appendContextEdit(a1, "better");
    manager.appendContextEdit(u1, [{ type: "text", text: "edited" }]);
    expect(manager.buildSessionContext().messages).toMatchObject([
      { role: "user", content: [{ type: "text", text: "edited" }] },
      { role: "assistant", content: [{ type: "text", text: "better" }], stopReason: "stop" },
    ]);
    expect(manager.getEntry(a1)).toMatchObject({ message: { content: [{ text: "a1" }] } });
    manager.branch(before);
    expect(texts(manager)).toEqual(["u1", "a1"]);
  });

  test("keeps each message one object while it stays the same", () => {
    const manager = session();
    manager.appendMessage({ role: "user", content: "plain", timestamp: 1 });
    const edited = manager.appendMessage(user("x"));
    manager.appendContextEdit(edited, "y");
    const [before] = [manager.buildSessionContext().messages];
    manager.appendMessage(user("more"));
    const after = manager.buildSessionContext().messages;
    expect(after[0]).toBe(before![0]);
    expect(after[1]).toBe(before![1]);
  });

  test("takes what older programs wrote, and leaves out what has not what its role needs", () => {
    const image = { type: "image", content: "AAAA", mimeType: "image/png", fileName: "x.png" };
    const stored = [
      { role: "user", content: "plain", attachments: [image, { type: "document" }, null], timestamp: 1 },
      { role: "assistant", content: [{ type: "text", text: "no usage" }], timestamp: 1 },
      { role: "bashExecution", command: "ls", output: "", cancelled: false, truncated: false, timestamp: 1 },
      { role: "user", timestamp: 1 },
      { role: "assistant", content: "text", timestamp: 1 },
      { role: "toolResult", content: null },
      { role: "wizard", content: "x" },
      { role: "bashExecution" },
      null,
    ];
    const tree = new SessionTree();
    stored.forEach((message, index) => {
      tree.add(messageEntry(`m${index}`, index === 0 ? null : `m${index - 1}`, message) as SessionEntry);
    });
    tree.leafId = `m${stored.length - 1}`;
    expect(new ContextBuilder(tree).build().messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "plain" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
        timestamp: 1,
      },
      {
        ...(stored[1] as object),
        usage: expect.objectContaining({ input: 0, cost: expect.objectContaining({ total: 0 }) }),
      },
      stored[2],
    ]);
  });
});

test("the context kept from step to step is the one made anew", () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant("message" as const) },
    fc.constantFrom("compact", "edit", "omit", "branch", "reset", "model"),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(), fc.boolean()), { maxLength: 40 }), (steps) => {
      const tree = new SessionTree();
      const kept = new ContextBuilder(tree);
      let count = 0;
      const add = (fields: object) => {
        const entry = { id: `e${count}`, parentId: tree.leafId, timestamp: "2026-01-01T00:00:00.000Z", ...fields };
        count += 1;
        tree.add(entry as SessionEntry);
        tree.leafId = entry.id;
      };
      for (const [what, at, look] of steps) {
        const target = `e${count === 0 ? 0 : at % count}`;
        if (what === "message") add({ type: "message", message: user(`m${count}`) });
        if (what === "compact")
          add({ type: "compaction", summary: `s${count}`, firstKeptEntryId: target, tokensBefore: 1 });
        if (what === "edit") add({ type: "context_edit", targetId: target, replacement: `edited ${count}` });
        if (what === "omit") add({ type: "context_edit", targetId: target, replacement: null });
        if (what === "model") add({ type: "model_change", provider: "p", modelId: `m${count}` });
        if (what === "branch" && count > 0) tree.leafId = target;
        if (what === "reset") tree.leafId = null;
        if (look) expect(kept.build()).toEqual(new ContextBuilder(tree).build());
      }
      expect(kept.build()).toEqual(new ContextBuilder(tree).build());
    }),
    { seed: 20260102, numRuns: 400 },
  );
});
