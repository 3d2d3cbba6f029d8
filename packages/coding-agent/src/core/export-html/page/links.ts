// Which addresses in a session's text may become links.

const allowed = new Set(["http:", "https:", "mailto:"]);

/**
 * The address as the browser will take it, or undefined when it is none that may be followed: only absolute http, https
 * and mailto. Control characters, spaces and the case of a scheme are the browser's own parser's matter.
 */
export function safeLink(address: string): string | undefined {
  try {
    const url = new URL(address);
    return allowed.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined; // relative ones lead nowhere from a file
  }
}
