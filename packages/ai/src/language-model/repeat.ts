// Sends a request again, where the caller wants that, when it was refused for a reason that may pass.

import { setTimeout as sleep } from "node:timers/promises";
import { classifyProviderError, failureInfo, isRetryable } from "../provider-error.js";
import type { RequestRetries } from "../types.js";
import type { WireResponse } from "./http.js";

/** Milliseconds before the first repetition, doubled each time, and the longest of these waits. */
const firstWaitMs = 500;
const longestOwnWaitMs = 8000;

/**
 * The answer of the first attempt that is not to be repeated, or of the last one; rejects likewise. Only the status and
 * the headers are looked at.
 */
export async function sendRepeatedly<R extends WireResponse | Response>(
  send: () => Promise<R>,
  retries: RequestRetries,
  signal: AbortSignal,
): Promise<R> {
  for (let attempt = 0; ; attempt += 1) {
    const ownWait = Math.min(longestOwnWaitMs, firstWaitMs * 2 ** attempt);
    let wait: number | undefined;
    try {
      const response = await send();
      if (response.ok || attempt >= retries.count) return response;
      wait = waitAfter(response, ownWait, retries);
      if (wait === undefined) return response;
      // A body that nobody reads would keep the connection.
      await response.body?.getReader().cancel();
    } catch (fault) {
      if (signal.aborted || attempt >= retries.count || !isRetryable(classifyProviderError(fault).info.kind))
        throw fault;
      wait = ownWait;
    }
    await sleep(wait, undefined, { signal });
  }
}

/** Nothing when the refusal stands. */
function waitAfter(response: WireResponse | Response, ownWait: number, { longestWaitMs }: RequestRetries) {
  const { kind, retryAfterMs = 0 } = failureInfo({
    status: response.status,
    headers: Object.fromEntries(response.headers),
  });
  if (!isRetryable(kind) || (longestWaitMs > 0 && retryAfterMs > longestWaitMs)) return undefined;
  return Math.max(ownWait, retryAfterMs);
}
