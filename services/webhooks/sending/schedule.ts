const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** The pauses after each failed attempt (docs/api.md, "Webhooks"). After the last one a delivery has failed. */
const PAUSES_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Added to each pause, as a share of it, so that what failed together is not sent again together. */
const JITTER = 0.2;
/** A longer Retry-After counts as this. */
export const LONGEST_RETRY_AFTER_MS = 24 * HOUR;

/** The pause after the attempt number `step`, counted from 0; null when it was the last one. */
export function pauseMs(step: number, retryAfterMs: number | null, random = Math.random): number | null {
  const pause = PAUSES_MS[step];
  if (pause === undefined) return null;
  return Math.max(pause * (1 + JITTER * random()), retryAfterMs ?? 0);
}
