import { expect, test } from "vitest";
import { entryId, sessionId } from "../../src/lib/ids.js";

test("sessionId is a UUID version 7 that starts with its time", () => {
  const id = sessionId(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(sessionId(0x0123456789ab)).not.toBe(id);
  expect(sessionId(0x0123456789ac) > id).toBe(true);
});

test("entryId is eight hex digits that are not taken", () => {
  const asked: string[] = [];
  const id = entryId((candidate) => asked.push(candidate) < 3);
  expect(asked).toHaveLength(3);
  expect(id).toBe(asked[2]);
  expect(id).toMatch(/^[0-9a-f]{8}$/);
});
