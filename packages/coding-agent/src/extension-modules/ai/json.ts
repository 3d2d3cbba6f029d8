// JSON as models write it.

import { readPartialObject } from "@earendil-works/pi-ai";

/** JSON, also with raw control characters and stray backslashes in its strings. Throws a SyntaxError for anything else. */
export function parseJsonWithRepair(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const repaired = repairJson(text);
    if (repaired === text) throw error;
    return JSON.parse(repaired);
  }
}

/** The text with control characters in strings escaped, and backslashes that escape nothing doubled. */
export function repairJson(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[\s\S])*"?/g, (string) =>
    string
      .replace(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\/g, (found) => (found === "\\" ? "\\\\" : found))
      .replace(/[\u0000-\u001f]/g, (character) => controls[character] ?? unicodeEscape(character)),
  );
}

const controls: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f" };

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The object a text begins, as far as it goes; `{}` when it begins none. */
export function parseStreamingJson(text: string | undefined): Record<string, unknown> {
  return readPartialObject(text ?? "");
}
