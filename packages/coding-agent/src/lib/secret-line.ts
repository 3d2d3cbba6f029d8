// Reads a secret that somebody types, without showing it.

/** The part of a terminal's input that is needed: `process.stdin` has it. */
export interface TypedInput {
  setRawMode(isRaw: boolean): unknown;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** What was typed before Enter; undefined after Ctrl-C, or Ctrl-D in front of anything. The terminal is left as it was. */
export function readSecretLine(input: TypedInput): Promise<string | undefined> {
  return new Promise((resolve) => {
    let typed = "";
    const end = (answer: string | undefined) => {
      input.off("data", read);
      input.setRawMode(false);
      input.pause();
      resolve(answer);
    };
    const read = (chunk: Buffer) => {
      // A pasted key may be wrapped in the marks of bracketed paste.
      for (const character of chunk.toString("utf8").replace(/\x1b\[20[01]~/g, "")) {
        if (character === "\r" || character === "\n") return end(typed);
        if (character === "\x03" || (character === "\x04" && typed === "")) return end(undefined);
        if (character === "\x7f" || character === "\b") typed = [...typed].slice(0, -1).join("");
        else if (character >= " ") typed += character;
      }
    };
    input.setRawMode(true);
    input.on("data", read);
    input.resume();
  });
}
