// Makes the text of a failure fit for people: short, one line, without secrets.

import { splitLogin } from "./sendable.js";
import type { Model, StreamOptions } from "./types.js";

/** The longest text a failure carries, in characters. */
const longestText = 2000;

/** A body as one line: an HTML page becomes its title, and what is too long is cut with a note of its length. */
export function shortenBody(body: string): string {
  const text = body.trim();
  if (/^<(?:!doctype|html|head|body|\?xml)/i.test(text)) {
    const title = /<(title|h1)[^>]*>([^<]*)<\/\1>/i.exec(text)?.[2]?.replace(/\s+/g, " ").trim();
    return title ? `a web page instead of an answer: "${title}"` : "a web page instead of an answer";
  }
  if (text.length <= longestText) return text;
  return `${cutWhole(text, longestText)} … (${text.length} characters)`;
}

/** The whole body of a refusal, or an error record inside a stream, as a text that is not empty. */
export function bodyText(body: unknown): string {
  return shortenBody(typeof body === "string" ? body : (JSON.stringify(body) ?? "")) || "(no body)";
}

/** The same without what stands around the error record in it, as OpenAI's clients show it. */
export function errorRecordText(body: unknown): string {
  const error = typeof body === "string" ? undefined : (body as { error?: unknown } | null | undefined)?.error;
  return bodyText(error ?? body);
}

/** The text with every secret replaced. Values shorter than 8 characters are no keys, and replacing them garbles words. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const form of formsOf(secrets.filter(({ length }) => length >= 8))) {
    result = result.replaceAll(form, "[key]");
    if (result.includes("…")) result = redactBeforeCut(result, form);
  }
  return result;
}

/** The ways servers send a value back: as it is, in JSON, in JSON within JSON, in an address. The longest first. */
function formsOf(secrets: readonly string[]): string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const forms = secrets.flatMap((secret) => [
    secret,
    inJson(secret),
    inJson(inJson(secret)),
    encodeURIComponent(secret.replace(/\p{Surrogate}/gu, "\ufffd")),
  ]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** A beginning of a secret of fewer characters may be chance, and tells nothing. */
const tellingCharacters = 4;

/** Replaces the beginning of a secret that stands before a `…`, where the text was cut within it. */
function redactBeforeCut(text: string, secret: string): string {
  const pieces = text.split("…");
  const last = pieces.pop() as string;
  const clean = pieces.map((piece) => {
    const kept = piece.trimEnd();
    for (let length = Math.min(secret.length - 1, kept.length); length >= tellingCharacters; length -= 1)
      if (kept.endsWith(secret.slice(0, length)))
        return `${kept.slice(0, kept.length - length)}[key]${piece.slice(kept.length)}`;
    return piece;
  });
  return [...clean, last].join("…");
}

/**
 * The values of a call that must never appear in a text: its key, the keys in its headers and its environment, and those
 * its model brings along.
 */
export function secretsOf(
  options: Pick<StreamOptions, "apiKey" | "headers" | "env">,
  model?: Pick<Model, "baseUrl" | "headers">,
): string[] {
  const secrets = options.apiKey ? [options.apiKey] : [];
  if (model) {
    const { login } = splitLogin(model.baseUrl);
    secrets.push(...secretsOf({ headers: { ...model.headers, ...(login && { authorization: login }) } }));
  }
  for (const [name, value] of Object.entries(options.env ?? {}))
    if (value && /(?:KEY|KEY_ID|TOKEN|SECRET|PASSWORD)$/i.test(name)) secrets.push(value);
  for (const [name, value] of Object.entries(options.headers ?? {}))
    if (/auth|key|token|secret|cookie/i.test(name)) {
      const bare = value.replace(/^\w+ /, "");
      secrets.push(value, bare);
      if (/^basic /i.test(value))
        secrets.push(
          Buffer.from(bare, "base64")
            .toString("utf8")
            .replace(/^[^:]*:/, ""),
        );
    }
  return secrets;
}

function cutWhole(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
