// Shortens a text that somebody sent, where it is shown back to people.

import { wholeCharacters } from "./whole-characters.js";

/** Characters of a value that are shown back. */
const longestExcerpt = 200;

/** The text itself, or its beginning with an ellipsis: 200 characters, no half of a surrogate pair. */
export function excerpt(text: string): string {
  if (text.length <= longestExcerpt) return text;
  return `${wholeCharacters(text.slice(0, longestExcerpt))}…`;
}
