// A message is converted once, also to a form that is nothing.

import { expect, test } from "vitest";
import { onceAMessage } from "../../src/language-model/once-a-message.js";

test("onceAMessage converts each message once and gives the same form again; conversions are apart", () => {
  const asked: string[] = [];
  const convert = onceAMessage(({ text }: { text: string }) => {
    asked.push(text);
    return text === "" ? undefined : [text];
  });
  const other = onceAMessage(({ text }: { text: string }) => text.length);
  const [one, same, none] = [{ text: "a" }, { text: "a" }, { text: "" }];
  expect([convert(one), convert(same), convert(none), convert(none)]).toEqual([["a"], ["a"], undefined, undefined]);
  expect(convert(one)).toBe(convert(one));
  expect(convert(one)).not.toBe(convert(same));
  expect([other(one), asked]).toEqual([1, ["a", "a", ""]]);
});
