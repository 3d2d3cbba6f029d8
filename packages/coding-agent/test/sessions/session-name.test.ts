// Names on one line.

import { expect, test } from "vitest";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { sessionName } from "../../src/sessions/session-name.js";

test.each([
  ["plain", "plain"],
  ["  two\r\nlines\t\u2028more ", "two lines more"],
  ["\u001b[31mred\u009b", "[31mred"],
  ["\n\u0000 ", ""],
  ["한글 😀", "한글 😀"],
])("sessionName(%j)", (text, name) => {
  expect(sessionName(text)).toBe(name);
});

test("a session takes no other names", () => {
  const session = SessionManager.inMemory("/work");
  session.appendSessionInfo("a\nb");
  expect(session.getSessionName()).toBe("a b");
  session.appendSessionInfo("\n");
  expect(session.getSessionName()).toBeUndefined();
});
