import { describe, expect, test } from "vitest";
import { Conversation } from "../../src/core/conversation.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { assistant, textOf, user } from "./messages.js";

describe("Conversation", () => {
  test("a message is in the store, in the context and, when a model may see it, in requests", () => {
    const store = SessionManager.inMemory("/");
    const conversation = new Conversation(store);
    const forModel = conversation.forModel;
    const id = conversation.append(user("hi"));
    conversation.append(assistant("Half", { stopReason: "error" }));
    expect(store.getEntry(id)).toMatchObject({ type: "message", message: user("hi") });
    expect(conversation.messages.map(textOf)).toEqual(["hi", "Half"]);
    expect(forModel.map(textOf)).toEqual(["hi"]);
  });

  test("a conversation that was stored is read again, and after the branch moved too", () => {
    const store = SessionManager.inMemory("/");
    const first = store.appendMessage(user("a"));
    store.appendMessage(assistant("b"));
    const conversation = new Conversation(store);
    expect(conversation.messages.map(textOf)).toEqual(["a", "b"]);
    store.branch(first);
    conversation.reload();
    expect(conversation.messages.map(textOf)).toEqual(["a"]);
    expect(conversation.forModel.map(textOf)).toEqual(["a"]);
  });

  test("what could not be stored is not in the context", () => {
    const store = SessionManager.inMemory("/");
    const conversation = new Conversation(store);
    store.appendMessage = () => {
      throw new Error("Locked");
    };
    expect(() => conversation.append(user("hi"))).toThrow("Locked");
    expect(conversation.messages).toEqual([]);
  });

  describe("forget", () => {
    test("takes a message out of messages and requests, for this process and later ones; its entry stays", () => {
      const store = SessionManager.inMemory("/");
      const conversation = new Conversation(store);
      const cut = assistant("Half", { stopReason: "length" });
      const { forModel } = conversation;
      conversation.append(user("hi"));
      const id = conversation.append(cut);
      conversation.append(user("again"));
      conversation.forget(cut);
      expect(conversation.messages.map(textOf)).toEqual(["hi", "again"]);
      expect(conversation.items.map(({ message }) => textOf(message))).toEqual(["hi", "again"]);
      expect(forModel.map(textOf)).toEqual(["hi", "again"]);
      expect(store.getLeafEntry()).toMatchObject({ type: "context_edit", targetId: id, replacement: null });
      expect(store.getEntry(id)).toMatchObject({ message: cut });
      expect(new Conversation(store).messages.map(textOf)).toEqual(["hi", "again"]);
      conversation.append(assistant("Fine"));
      expect(forModel.map(textOf)).toEqual(["hi", "again", "Fine"]);
    });

    test("of a failed answer leaves requests alone; of what is not there does nothing", () => {
      const store = SessionManager.inMemory("/");
      const conversation = new Conversation(store);
      const failed = assistant("Half", { stopReason: "error" });
      conversation.append(user("hi"));
      conversation.append(failed);
      conversation.forget(failed);
      expect([conversation.messages.length, conversation.forModel.map(textOf)]).toEqual([1, ["hi"]]);
      const count = store.getEntries().length;
      conversation.forget(failed);
      expect(store.getEntries()).toHaveLength(count);
    });
  });

  describe("after a compaction", () => {
    function compacted() {
      const store = SessionManager.inMemory("/");
      const conversation = new Conversation(store);
      conversation.append(user("one"));
      const kept = conversation.append(user("two"));
      conversation.append(assistant("Two"));
      const id = store.appendCompaction("Sum", kept, 100, { readFiles: [] });
      conversation.reload();
      return { store, conversation, id };
    }

    test("begins with the summary and what was kept; all of that is older than the compaction", () => {
      const { conversation, id } = compacted();
      expect(conversation.messages.map(({ role }) => role)).toEqual(["compactionSummary", "user", "assistant"]);
      expect(conversation.items[0]?.id).toBe(id);
      expect(conversation.measured).toEqual({ messages: conversation.messages, freshFrom: 3 });
      expect([conversation.isCompacted, conversation.lastCompaction()?.summary]).toEqual([true, "Sum"]);
    });

    test("what is said from then on is newer, also when it is read again", () => {
      const { store, conversation } = compacted();
      conversation.append(user("three"));
      for (const each of [conversation, new Conversation(store)]) {
        expect(each.measured.freshFrom).toBe(3);
        expect([each.isCompacted, each.messages.length]).toEqual([false, 4]);
      }
    });

    test("forgetting an older message keeps the border where it is", () => {
      const { conversation } = compacted();
      conversation.append(user("three"));
      conversation.forget(conversation.messages[1] as never);
      expect(conversation.measured.freshFrom).toBe(2);
      expect(conversation.messages.slice(2).map(textOf)).toEqual(["three"]);
    });

    test("there is none on a branch that left before it", () => {
      const { store, conversation, id } = compacted();
      store.branch(store.getEntry(id)?.parentId as string);
      conversation.reload();
      expect([conversation.lastCompaction(), conversation.measured.freshFrom, conversation.isCompacted]).toEqual([
        undefined,
        0,
        false,
      ]);
      expect(conversation.messages).toHaveLength(3);
    });
  });
});
