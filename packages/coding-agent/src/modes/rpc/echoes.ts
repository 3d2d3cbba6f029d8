// Keeps what a client sent out of the error texts it gets, but for the beginning.

import { excerpt, wholeCharacters } from "@earendil-works/pi-ai";

/** Characters of an error text as a whole: a value may come back in a form that is not recognised. */
const longestText = 4000;

/** The text with every string of `params` that it repeats cut to 200 characters, also where it stands as JSON. */
export function shortenEchoes(text: string, params: Readonly<Record<string, unknown>>): string {
  let shorter = text;
  // What is longer than the text is not in it, and may be very long.
  for (const value of longStrings(params).filter(({ length }) => length <= text.length))
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) shorter = shorter.replaceAll(form, excerpt(form));
  return shorter.length <= longestText ? shorter : `${wholeCharacters(shorter.slice(0, longestText))}…`;
}

/** The strings that would be cut, of the record and one level below; the longest first, as it may hold others. */
function longStrings(params: Readonly<Record<string, unknown>>): string[] {
  const found: string[] = [];
  for (const value of Object.values(params))
    for (const item of Array.isArray(value) ? value : [value])
      if (typeof item === "string" && excerpt(item) !== item) found.push(item);
  return found.sort((a, b) => b.length - a.length);
}
