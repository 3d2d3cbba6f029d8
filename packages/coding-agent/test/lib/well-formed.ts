// Strings without half surrogate pairs (the language's own methods for it are newer than our type library).

/** The text with U+FFFD in place of lone surrogates. */
export function toWellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

export function isWellFormed(text: string): boolean {
  return toWellFormed(text) === text;
}
