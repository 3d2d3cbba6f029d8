// What a session may be called.

/** A name on one line: control characters and line ends become single blanks, and none are left at its ends. */
export function sessionName(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}
