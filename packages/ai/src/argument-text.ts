// The argument text of a tool call: read while it streams, and once when it is whole.

import { parse as parsePartialJson } from "partial-json";

/** The text of one tool call's arguments so far, and what was last read from it. */
export interface ArgumentText {
  text: string;
  readLength: number;
  value: Record<string, unknown>;
}

/** The arguments as far as their text goes. */
export function readSoFar(argumentText: ArgumentText): Record<string, unknown> {
  if (argumentText.readLength !== argumentText.text.length) {
    argumentText.readLength = argumentText.text.length;
    try {
      const value: unknown = parsePartialJson(argumentText.text);
      if (isObject(value)) argumentText.value = value;
    } catch {
      // Text that is no beginning of JSON keeps what was read before.
    }
  }
  return argumentText.value;
}

/** The object a text of JSON begins, as far as it goes; `{}` when it begins none. */
export function readPartialObject(text: string): Record<string, unknown> {
  return readSoFar({ text, readLength: 0, value: {} });
}

/** The arguments of a text that is whole; no text at all is `{}`, and anything but an object is undefined. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
