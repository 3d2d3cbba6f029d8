// Says what kind of failure a provider call ended in: by status, transport fault and error type, by wording last.

import { redactSecrets, shortenBody } from "./error-text.js";
import type { ErrorInfo, ProviderErrorKind } from "./types.js";

/** A failed provider call: its text for people, and `info` for whoever decides what to do about it. */
export class ProviderError extends Error {
  override readonly name: string = "ProviderError";
  readonly info: ErrorInfo;

  constructor(message: string, info: ErrorInfo, options?: { cause?: unknown }) {
    super(message, options);
    this.info = info;
  }
}

const retryable: ReadonlySet<ProviderErrorKind> = new Set([
  "overloaded",
  "rate_limit",
  "server",
  "transport",
  "incomplete",
  "timeout",
]);

/** Whether the same call may succeed later without any change. */
export function isRetryable(kind: ProviderErrorKind): boolean {
  return retryable.has(kind);
}

/** What a provider said when it refused or broke off: any part may be missing. */
export interface ProviderFailure {
  /** HTTP status; absent for an error inside a stream. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** The answer's body, or the error record inside the stream. */
  body?: unknown;
  /** The provider's own error types, most specific first. */
  codes?: readonly string[];
  /** Milliseconds since the epoch, for a `retry-after` that is a date; now when absent. */
  now?: number;
}

/** Kind by error type, as the providers name them; the first type known wins. */
const kindByCode: Readonly<Record<string, ProviderErrorKind>> = {
  // https://docs.anthropic.com/en/api/errors
  overloaded_error: "overloaded",
  rate_limit_error: "rate_limit",
  api_error: "server",
  timeout_error: "timeout",
  authentication_error: "auth",
  permission_error: "auth",
  billing_error: "quota",
  not_found_error: "not_found",
  request_too_large: "overflow",
  // https://platform.openai.com/docs/guides/error-codes
  insufficient_quota: "quota",
  billing_hard_limit_reached: "quota",
  billing_not_active: "quota",
  usage_limit_reached: "quota",
  usage_not_included: "quota",
  context_length_exceeded: "overflow",
  string_above_max_length: "overflow",
  exceed_context_size_error: "overflow",
  rate_limit_exceeded: "rate_limit",
  rate_limit_reached: "rate_limit",
  requests: "rate_limit",
  tokens: "rate_limit",
  server_error: "server",
  internal_error: "server",
  internal_server_error: "server",
  service_unavailable: "server",
  engine_overloaded: "overloaded",
  invalid_api_key: "auth",
  model_not_found: "not_found",
  content_filter: "refusal",
  // https://ai.google.dev/gemini-api/docs/troubleshooting
  RESOURCE_EXHAUSTED: "rate_limit",
  UNAVAILABLE: "overloaded",
  INTERNAL: "server",
  DEADLINE_EXCEEDED: "timeout",
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
  NOT_FOUND: "not_found",
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
  throttlingException: "rate_limit",
  serviceUnavailableException: "overloaded",
  modelNotReadyException: "overloaded",
  modelStreamErrorException: "server",
  internalServerException: "server",
  modelTimeoutException: "timeout",
  accessDeniedException: "auth",
  resourceNotFoundException: "not_found",
  serviceQuotaExceededException: "quota",
};

const transportCodes: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "ENOTFOUND",
  "ENETDOWN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ERR_STREAM_PREMATURE_CLOSE",
  "HPE_INVALID_CHUNK_SIZE",
  "HPE_INVALID_EOF_STATE",
  "HPE_INVALID_CONSTANT",
]);
const timeoutCodes: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Faults of a request that nobody can send, and of a server whose certificate is no good: they stay as they are. */
const lastingCodes =
  /^(?:ERR_(?:HTTP_)?INVALID_|ERR_UNESCAPED_|UND_ERR_INVALID_ARG$|CERT_|UNABLE_TO_|(?:DEPTH_ZERO_)?SELF_SIGNED_|ERR_TLS_CERT_|ERR_SSL_WRONG_VERSION_NUMBER$|HOSTNAME_MISMATCH$|INVALID_(?:CA|PURPOSE)$)/;
/** What fetch says, without a code, of a request it does not send (https://fetch.spec.whatwg.org). */
const lastingTexts =
  /^(?:bad port|unknown scheme|redirect count exceeded|URL scheme must be |not implemented\.\.\. yet)/;

/** Texts of a request longer than the context window: Anthropic, OpenAI, and servers that speak their protocols. */
const overflowTexts = [
  /prompt is too long/i,
  /input is too long/i,
  /context[ _]length[ _]exceeded/i,
  /maximum context length/i,
  /exceeds? (?:the |your )?(?:model'?s? )?(?:available |maximum )?context (?:window|length|size|limit)/i,
  /context (?:window|length|size) (?:is )?(?:exceeded|exceeds)/i,
  /input length and .{0,20}max_tokens.{0,20} exceed/i,
  /exceeds the maximum number of tokens/i,
  /maximum prompt length is/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /greater than the context length/i,
  /exceeded model token limit/i,
  /prompt too long/i,
  /request_too_large|request exceeds the maximum size/i,
  /too many (?:input |prompt )?tokens(?! per)/i,
];
const quotaTexts = [
  /insufficient[_ ]quota/i,
  /exceeded your current quota/i,
  /usage limit/i,
  /(?:credit|account) balance is (?:too low|insufficient)/i,
  /insufficient (?:balance|credits?|funds)/i,
  /out of credits/i,
];
const keyTexts = [/api key not valid/i];
const overloadTexts = [/overloaded/i, /at capacity/i, /too many concurrent/i];
const rateTexts = [/rate.?limit/i, /too many requests/i];
const serverTexts = [/internal (?:server )?error/i, /server had an error/i, /service unavailable/i, /bad gateway/i];

/** What kind of failure a provider's answer is. */
export function failureInfo(failure: ProviderFailure): ErrorInfo {
  const codes = failure.codes ?? codesOf(failure.body);
  const info: ErrorInfo = { kind: kindOf(failure, codes) };
  if (failure.status !== undefined) info.status = failure.status;
  const retryAfterMs = failure.headers && readRetryAfter(failure.headers, failure.now ?? Date.now());
  if (retryAfterMs !== undefined) info.retryAfterMs = retryAfterMs;
  if (codes[0] !== undefined) info.code = codes[0];
  return info;
}

function kindOf(failure: ProviderFailure, codes: readonly string[]): ProviderErrorKind {
  const named = codes.map((code) => kindByCode[code]).find((kind) => kind !== undefined);
  const text = typeof failure.body === "string" ? failure.body : failure.body ? JSON.stringify(failure.body) : "";
  const says = (texts: readonly RegExp[]) => texts.some((expression) => expression.test(text));
  // Some servers put the HTTP status into the error record of a stream.
  const status = failure.status ?? codes.map(Number).find((code) => code >= 400 && code < 600);
  if (named === "quota" || named === "overflow") return named;
  if (status === 429) return says(quotaTexts) ? "quota" : "rate_limit";
  if (named && status === undefined) return named;
  if (status === 529 || named === "overloaded") return "overloaded";
  if (status === 413) return "overflow";
  if (status === 401 || status === 403) return says(quotaTexts) ? "quota" : "auth";
  if (status === 402) return "quota";
  if (status === 404) return "not_found";
  if (status === 408) return "timeout";
  if (says(overflowTexts)) return "overflow";
  if (says(keyTexts)) return "auth";
  if (status !== undefined && status >= 500) return "server";
  if (says(quotaTexts)) return "quota";
  if (named) return named;
  if (status !== undefined && status >= 400) return "invalid_request";
  if (codes.includes("invalid_request_error")) return "invalid_request";
  if (says(overloadTexts)) return "overloaded";
  if (says(rateTexts)) return "rate_limit";
  if (says(serverTexts)) return "server";
  return "other";
}

/** The error types a body names: `error.code`, `error.type`, and the same without the `error` around them. */
export function codesOf(body: unknown): string[] {
  const record = asRecord(body);
  const error = asRecord(record?.error) ?? record;
  // Google numbers its errors and names them in `status`.
  const code = typeof error?.code === "number" ? [error.status, error.code] : [error?.code];
  const names = [...code, error?.type, asRecord(error?.error)?.type, error?.status];
  return names
    .filter((name) => typeof name === "string" || typeof name === "number")
    .map(String)
    .filter((name, at, all) => name !== "" && name !== "error" && all.indexOf(name) === at);
}

/**
 * The server's wish to be left alone, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as an HTTP
 * date. Undefined when absent, malformed or in the past.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = numberIn(headers["retry-after-ms"]);
  if (exact !== undefined) return exact;
  const header = headers["retry-after"]?.trim();
  if (!header) return undefined;
  if (/^[+-]?[\d.]+$/.test(header)) {
    const seconds = numberIn(header);
    return seconds === undefined ? undefined : Math.round(seconds * 1000);
  }
  // An HTTP date begins with the day's name; Date.parse alone would take much that is no date.
  const date = /^[A-Za-z]{3,9},? /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) || date <= now ? undefined : date - now;
}

/** Whatever was thrown, as a failed call. Values in `secrets` never appear in its text. */
export function classifyProviderError(thrown: unknown, secrets: readonly string[] = []): ProviderError {
  if (thrown instanceof ProviderError) return redacted(thrown, secrets);
  const chain = causesOf(thrown);
  const known = chain.find((link) => link instanceof ProviderError);
  if (known instanceof ProviderError) return redacted(known, secrets);
  const info = infoOf(chain);
  const text = redactSecrets(textOf(chain), secrets);
  return new ProviderError(text, info, { cause: thrown });
}

/** What kind of failure something thrown is. */
export function errorInfo(thrown: unknown): ErrorInfo {
  return classifyProviderError(thrown).info;
}

function infoOf(chain: readonly unknown[]): ErrorInfo {
  for (const link of chain) {
    const { name, code, message } = describe(link);
    if (lastingCodes.test(code)) return { kind: "other", code };
    if (lastingTexts.test(message)) return { kind: "other" };
    // A proxy that refuses the tunnel ends a request that nobody here has given up.
    if (code === "UND_ERR_ABORTED") return { kind: "transport", code };
    if (name === "AbortError") return { kind: "aborted" };
    if (name === "TimeoutError") return { kind: "timeout" };
    if (timeoutCodes.has(code)) return { kind: "timeout", code };
    if (transportCodes.has(code) || code.startsWith("UND_ERR_") || code.startsWith("ERR_SSL_"))
      return { kind: "transport", code };
    // A line of the stream that is no JSON, or a body that contradicts itself: the answer is not complete.
    if (name === "AI_JSONParseError" || name === "AI_InvalidResponseDataError") return { kind: "incomplete" };
  }
  const brokenOff = /^(?:terminated|fetch failed)$|socket hang up|other side closed/i;
  if (chain.some((link) => brokenOff.test(describe(link).message))) return { kind: "transport" };
  const status = chain.map((link) => asRecord(link)?.statusCode).find((value) => typeof value === "number");
  const body = chain.map((link) => asRecord(link)?.responseBody).find((value) => typeof value === "string");
  if (status !== undefined || body !== undefined) return failureInfo({ status: status as number, body });
  return { kind: "other" };
}

/** `terminated: other side closed`: the fault and its innermost cause, without the wrappers around them. */
function textOf(chain: readonly unknown[]): string {
  const messages = chain.map((link) => describe(link).message).filter((message) => message !== "");
  const fault = messages.findIndex((message) => message === "terminated" || message === "fetch failed");
  const told = fault >= 0 ? messages.slice(fault) : messages;
  const first = told[0] ?? "Unknown error";
  const last = told.at(-1) ?? first;
  return shortenBody(last === first || first.includes(last) ? first : `${first}: ${last}`);
}

function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  let link = thrown;
  while (link !== undefined && link !== null && !chain.includes(link) && chain.length < 10) {
    chain.push(link);
    const errors = asRecord(link)?.errors;
    // Node tries every address of a host and reports the attempts together.
    link = asRecord(link)?.cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return chain;
}

function describe(link: unknown): { name: string; code: string; message: string } {
  if (typeof link === "string") return { name: "", code: "", message: link };
  const record = asRecord(link);
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { name: text(record?.name), code: text(record?.code), message: text(record?.message) };
}

function redacted(error: ProviderError, secrets: readonly string[]): ProviderError {
  const text = redactSecrets(error.message, secrets);
  return text === error.message ? error : new ProviderError(text, error.info);
}

function numberIn(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}
