/**
 * Milliseconds that a Retry-After header asks for (RFC 9110, 10.2.3: seconds or a date); null when it is absent or
 * unreadable.
 */
export function retryAfterMs(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}(\.\d{1,3})?$/.test(text)) return Number(text) * 1000;
  // Date.parse reads almost any text with a digit as a date; HTTP dates begin with the name of the day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}
