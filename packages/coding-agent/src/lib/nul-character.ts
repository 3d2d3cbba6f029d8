// Refuses NUL characters where the system ends a text at them: paths, arguments and commands.

/** Throws `<action> "<text>": <what> cannot hold a NUL character`, with the character written as `\0` and a long text cut. */
export function refuseNul(text: string, action: string, what: string): void {
  if (!text.includes("\0")) return;
  const at = text.indexOf("\0");
  const from = Math.max(0, at - 100);
  const shown = `${from > 0 ? "…" : ""}${text.slice(from, at + 100)}${at + 100 < text.length ? "…" : ""}`;
  throw new Error(`${action} "${shown.replaceAll("\0", "\\0")}": ${what} cannot hold a NUL character`);
}
