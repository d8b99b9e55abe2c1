/** Dates as HTTP has them, which begin with the name of the day, and ISO's. Date.parse reads almost any text with a digit. */
const DATE = /^((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/i;

interface RetryAfterOptions {
  /** Whoever asks for a longer pause gets this one. */
  readonly mostMs: number;
  /** Of a number: a second, unless the header says otherwise by its name. */
  readonly unitMs?: number;
  readonly now?: number;
}

/**
 * The milliseconds that an answer's Retry-After asks for (RFC 9110, 10.2.3: seconds or a date): more than 0 and at most
 * `mostMs`. Null when it asks for no pause: absent, zero, in the past, or nothing that can be read.
 */
export function retryAfterMs(
  header: string | null | undefined,
  { mostMs, unitMs = 1_000, now = Date.now() }: RetryAfterOptions,
): number | null {
  const text = header?.trim() ?? '';
  let ms = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(text)) ms = Number(text) * unitMs;
  else if (DATE.test(text)) ms = Date.parse(text) - now;
  return ms > 0 ? Math.min(Math.ceil(ms), mostMs) : null;
}
