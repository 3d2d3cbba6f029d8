// Which styles are in force behind a piece of text, so that the next line can begin with them.

/** Collects the style codes (SGR) of text that is passed by. */
export class StylesInForce {
  readonly #codes = new Map<string, string>();

  /** Takes in a line's codes. */
  pass(line: string): void {
    for (const [, parameters = ""] of line.matchAll(/\u001b\[([\d;:]*)m/g)) this.#take(parameters.split(";"));
  }

  /** The sequences that start what is in force; empty for none. */
  get start(): string {
    return [...this.#codes.values()].map((codes) => `\u001b[${codes}m`).join("");
  }

  #take(parameters: string[]): void {
    for (let at = 0; at < parameters.length; at += 1) {
      const code = parameters[at] as string;
      const number = Number(code.split(":")[0] || 0);
      // A colour by number is three parameters, one by red, green and blue five.
      const more =
        number === 38 || number === 48 ? (parameters[at + 1] === "2" ? 4 : parameters[at + 1] === "5" ? 2 : 0) : 0;
      this.#set(number, parameters.slice(at, at + 1 + more).join(";"));
      at += more;
    }
  }

  #set(number: number, codes: string): void {
    if (number === 0) this.#codes.clear();
    const kind = kinds.find(({ starts, ends }) => starts(number) || number === ends);
    if (!kind) return;
    if (number !== kind.ends) this.#codes.set(`${kind.ends}/${kind.together ? number : ""}`, codes);
    else for (const key of [...this.#codes.keys()]) if (key.startsWith(`${kind.ends}/`)) this.#codes.delete(key);
  }
}

/** Kinds of styles: what starts one, and the code that ends it (ECMA-48). Bold and faint have one end and go together. */
const kinds: readonly { starts: (code: number) => boolean; ends: number; together?: boolean }[] = [
  { starts: (code) => code === 1 || code === 2, ends: 22, together: true },
  { starts: (code) => code === 3, ends: 23 },
  { starts: (code) => code === 4, ends: 24 },
  { starts: (code) => code === 5, ends: 25 },
  { starts: (code) => code === 7, ends: 27 },
  { starts: (code) => code === 8, ends: 28 },
  { starts: (code) => code === 9, ends: 29 },
  { starts: (code) => (code >= 30 && code <= 38) || (code >= 90 && code <= 97), ends: 39 },
  { starts: (code) => (code >= 40 && code <= 48) || (code >= 100 && code <= 107), ends: 49 },
];
