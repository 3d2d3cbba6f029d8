// Says what kind of failure a provider call ended in.

import type { ErrorInfo, ProviderErrorKind } from "./types.js";

/** A failed provider call: its text for people, and `info` for whoever decides what to do about it. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
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

/** Whether the same call may succeed later. */
export function isRetryable(kind: ProviderErrorKind): boolean {
  return retryable.has(kind);
}

/** Whatever was thrown, as a failed call. */
export function classifyProviderError(cause: unknown, _apiKey?: string): ProviderError {
  if (cause instanceof ProviderError) return cause;
  return new ProviderError(String(cause), { kind: "other" }, { cause });
}

/** What kind of failure something thrown is. */
export function errorInfo(cause: unknown): ErrorInfo {
  return classifyProviderError(cause).info;
}
