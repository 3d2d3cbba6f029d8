// Texts with differences that do not matter taken out, and the way back from each character to the original.

/** `starts[i]` is where character `i` of `text` starts in the original; one more gives the original's length. */
export interface TextView {
  text: string;
  starts: Uint32Array;
}

/** CRLF becomes LF. */
export function normalizeLineEndings(original: string): TextView {
  const starts = new Uint32Array(original.length + 1);
  let length = 0;
  for (let at = 0; at < original.length; at++) {
    starts[length++] = at;
    if (original.charCodeAt(at) === 0x0d && original.charCodeAt(at + 1) === 0x0a) at++;
  }
  starts[length] = original.length;
  return { text: original.replaceAll("\r\n", "\n"), starts: starts.subarray(0, length + 1) };
}

/** CRLF becomes LF, typographic quotes, dashes and spaces their plain forms, and white space at the ends of lines is dropped. */
export function normalizeTypography(original: string): TextView {
  const view = normalizeLineEndings(original);
  view.text = view.text.replace(typographic, (character) => plainForms.get(character)!);
  const kept: string[] = [];
  const starts = new Uint32Array(view.starts.length);
  let length = 0;
  let from = 0;
  while (from <= view.text.length) {
    const lineFeed = view.text.indexOf("\n", from);
    const lineEnd = lineFeed < 0 ? view.text.length : lineFeed;
    let end = lineEnd;
    while (end > from && (view.text[end - 1] === " " || view.text[end - 1] === "\t")) end--;
    kept.push(view.text.slice(from, end));
    for (let at = from; at < end; at++) starts[length++] = view.starts[at]!;
    if (lineFeed < 0) break;
    kept.push("\n");
    starts[length++] = view.starts[lineFeed]!;
    from = lineFeed + 1;
  }
  starts[length] = original.length;
  return { text: kept.join(""), starts: starts.subarray(0, length + 1) };
}

/** Character → its plain form; each is one UTF-16 unit for one, so that places stay. */
const plainForms = new Map<string, string>([
  ...entries("'", "\u2018\u2019\u201a\u201b\u2032"),
  ...entries('"', "\u201c\u201d\u201e\u201f\u2033"),
  ...entries("-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"),
  ...entries(" ", "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"),
]);

const typographic = new RegExp(`[${[...plainForms.keys()].join("")}]`, "g");

function entries(plain: string, variants: string): [string, string][] {
  return [...variants].map((variant) => [variant, plain]);
}
