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
});
