// Ids and file names leave room for all that is made beside a session.

import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { sessionIdFault, sessionPathFault } from "../../src/sessions/session-paths.js";
import { temporaryDirectory, user } from "./session-files.js";

const letters = 'an id is letters, digits, ".", "_" and "-", with a letter or digit at both ends';

test.each([
  ["a", undefined],
  ["my-own.id_1", undefined],
  ["x".repeat(160), undefined],
  ["x".repeat(161), "an id has 160 characters at most, this one has 161"],
  ["", letters],
  ["-a", letters],
  ["a/b", letters],
  ["ä", letters],
])("sessionIdFault(%j)", (id, fault) => {
  expect(sessionIdFault(id)).toBe(fault);
});

test("sessionPathFault counts the bytes of the name alone", () => {
  expect(sessionPathFault(`/${"d".repeat(300)}/${"x".repeat(200)}`)).toBeUndefined();
  expect(sessionPathFault(`/d/${"ä".repeat(101)}`)).toBe("its file name has 202 bytes, 200 are allowed");
});

test("a refusal shows no more than the beginning of an id", () => {
  const create = (id: string) => () => SessionManager.create("/work", "/nowhere", { id });
  expect(create("y".repeat(1000))).toThrow(
    new Error(`Cannot create session "${"y".repeat(200)}…": an id has 160 characters at most, this one has 1000`),
  );
});

test("the longest id can be written, and everything made beside its file has a name that is short enough", async () => {
  const directory = temporaryDirectory();
  const session = SessionManager.create("/work", directory, { id: "x".repeat(160) });
  onTestFinished(() => session.release());
  session.appendMessage(user("hi"));
  const file = session.getSessionFile() as string;
  expect(dirname(file)).toBe(directory);
  expect(readdirSync(directory).sort()).toEqual([basename(file), `${basename(file)}.lock`]);
  const takeover = `${basename(file)}.lock.${"0".repeat(36)}.takeover`;
  expect(takeover.length).toBeLessThanOrEqual(255);
});
