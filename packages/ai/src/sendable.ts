// Says what no HTTP request can carry (an address, a header's name or value), so that nobody tries again what never works.

/** A header's name: a token of RFC 9110, section 5.6.2. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\w]+$/.test(name);
}

/** A header's value: Latin-1 without control characters but the tab (RFC 9110, section 5.5). */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** Why no request can go to an address, without showing it: `is no http or https address`. Undefined when one can. */
export function addressFault(address: string): string | undefined {
  const variable = /(?:\{|%7[Bb])([A-Z_][A-Z0-9_]*)(?:\}|%7[Dd])/.exec(address)?.[1];
  if (variable) return `needs the variable ${variable}, which is not set`;
  if (address === "") return "is empty";
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return "is no http or https address";
  return undefined;
}

/** A base URL without the user and password in it, and these as the value of an `authorization` header. */
export function splitLogin(address: string): { address: string; login?: string } {
  // Most addresses have none, and a text that is no address is somebody else's to refuse.
  if (!address.includes("@") || !URL.canParse(address)) return { address };
  const url = new URL(address);
  if (url.username === "" && url.password === "") return { address };
  const pair = `${decoded(url.username)}:${decoded(url.password)}`;
  return {
    address: address.replace(/^(\s*[a-z][a-z0-9+.-]*:[\\/]*)[^\\/?#]*@/i, "$1"),
    login: `Basic ${Buffer.from(pair, "utf8").toString("base64")}`,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
