// Beginnings of texts, where a text is too long to be shown or sent whole.

/** Characters of a text that are shown back. */
const longestExcerpt = 200;

/** The text itself, or its beginning with an ellipsis: 200 characters, no half of a surrogate pair. */
export function excerpt(text: string): string {
  if (text.length <= longestExcerpt) return text;
  return `${wholeCharacters(text.slice(0, longestExcerpt))}…`;
}

/** The text, less the first half of a surrogate pair whose second half was cut off; a text of one half stays. */
export function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return text.length > 1 && last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
