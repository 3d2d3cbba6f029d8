// The beginning of a text without half a character at its end.

/** The text, less the first half of a surrogate pair whose second half was cut off. */
export function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return text.length > 1 && last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
