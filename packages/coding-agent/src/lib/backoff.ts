// Says how long to wait before the next try.

/**
 * Milliseconds before retry `attempt` (0 = the first): `baseMs` × 2^attempt, raised to `retryAfterMs` when the server asked for
 * more, never above `capMs`. A wish that is no positive number is ignored.
 */
export function backoffDelay(
  attempt: number,
  limits: { baseMs: number; capMs: number; retryAfterMs?: number },
): number {
  const { baseMs, capMs, retryAfterMs = 0 } = limits;
  const wish = Number.isNaN(retryAfterMs) ? 0 : retryAfterMs;
  return Math.min(capMs, Math.max(baseMs * 2 ** attempt, wish));
}
