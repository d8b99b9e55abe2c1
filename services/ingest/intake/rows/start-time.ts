import type { ValueFault } from './row-fault.ts';

/** The Unix seconds that a start_time may be: from 2000-01-01 to before 2100-01-01. */
const UNIX_FROM = 946_684_800;
const UNIX_TO = 4_102_444_800;

/** The instants whose year in UTC has four digits: 0001-01-01 to 9999-12-31. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

const HOURS = '(?:[01]\\d|2[0-3])';
const ISO = new RegExp(
  `^(\\d{4})-(\\d\\d)-(\\d\\d)[T ](${HOURS}):([0-5]\\d)(?::([0-5]\\d)(?:[.,](\\d+))?)?(?:Z|([-+])(${HOURS})(?::?([0-5]\\d))?)?$`,
);
const OFFSET = new RegExp(`^[-+]${HOURS}(?::?[0-5]\\d)?$`);

/**
 * Parses an ISO 8601 date and time to Unix milliseconds (docs/api.md, "Single upload"): `T` or a space, optional
 * seconds, fraction and offset. Without an offset the time is UTC. Digits after the millisecond are dropped.
 */
export function parseStartTime(text: string): number | ValueFault {
  const ms = isoToMs(text);
  if (!Number.isNaN(ms)) return ms;
  return invalid(/^\d+$/.test(text) ? adviceOnUnexpectedInteger(text) : adviceOnDate(text));
}

/** Like `parseStartTime`, but also accepts Unix seconds in digits (docs/api.md, "Presigned uploads"). */
export function parseTranscriptionStartTime(text: string): number | ValueFault {
  const ms = isoToMs(text);
  if (!Number.isNaN(ms)) return ms;
  if (!/^\d+$/.test(text)) return invalid(adviceOnDate(text));
  const seconds = Number(text);
  if (seconds >= UNIX_FROM && seconds < UNIX_TO) return seconds * 1000;
  return invalid(adviceOnInteger(text, seconds));
}

/** NaN unless the text is an existing date and time in ISO 8601. */
function isoToMs(text: string): number {
  const found = ISO.exec(text);
  if (found === null) return NaN;
  const [, years, months, days, hours, minutes, seconds, fraction, sign, offsetHours, offsetMinutes] = found;
  const [month, day] = [Number(months), Number(days)];
  const date = new Date(0);
  date.setUTCFullYear(Number(years), month - 1, day);
  // A day that does not exist has become one of the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  const thousandths = fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  const ms = date.setUTCHours(Number(hours), Number(minutes), Number(seconds ?? 0), thousandths);
  if (sign === undefined) return ms >= FIRST_MS && ms <= LAST_MS ? ms : NaN;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes ?? 0)) * 60_000;
  const utc = sign === '-' ? ms + offset : ms - offset;
  return utc >= FIRST_MS && utc <= LAST_MS ? utc : NaN;
}

function invalid(advice: string): ValueFault {
  return { fault: 'INVALID_DATETIME', message: `start_time must be like 2026-01-31T09:30:00, in UTC. ${advice}` };
}

/** Advice where Unix seconds are accepted. */
function adviceOnInteger(text: string, value: number): string {
  const isIn = isUnixTime(value);
  if (isIn(1e3)) return 'This looks like milliseconds: divide by 1000 for Unix seconds.';
  if (isIn(1e6)) return 'This looks like microseconds: divide by 1,000,000 for Unix seconds.';
  if (isIn(1e9)) return 'This looks like nanoseconds: divide by 1,000,000,000 for Unix seconds.';
  return (
    adviceOnDigits(text, value) ??
    'Unix seconds are accepted from 2000-01-01 (946684800) to before 2100-01-01 (4102444800).'
  );
}

/** Advice where Unix seconds are not accepted. */
function adviceOnUnexpectedInteger(text: string): string {
  const value = Number(text);
  if ([1, 1e3, 1e6, 1e9].some(isUnixTime(value))) {
    return 'Unix seconds are accepted only in CSVs of transcripts. Write the date and time.';
  }
  return adviceOnDigits(text, value) ?? HOW_TO_WRITE;
}

/** Whether the value, in units of `1 / unit` seconds, is an accepted time. */
function isUnixTime(value: number): (unit: number) => boolean {
  return (unit) => value / unit >= UNIX_FROM && value / unit < UNIX_TO;
}

function adviceOnDigits(text: string, value: number): string | null {
  if (/^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{4}|\d{6})?$/.test(text)) {
    return 'This looks like a date without separators (YYYYMMDD): write hyphens and colons.';
  }
  if (value >= 10_000 && value < 100_000) {
    return 'This looks like the number of days that Excel stores for a date: format the column as yyyy-mm-dd hh:mm:ss.';
  }
  return null;
}

const HOW_TO_WRITE =
  'Write year, month and day with hyphens, then T or a space, then hours, minutes and seconds with colons.';

function adviceOnDate(text: string): string {
  if (/^\d{5}[.,]\d+$/.test(text)) {
    return 'This looks like the number of days that Excel stores for a date: format the column as yyyy-mm-dd hh:mm:ss.';
  }
  if (/^\d+[.,]\d+$/.test(text)) return 'Unix seconds must be a whole number.';
  if (/^[-+]\d+$/.test(text)) return 'Unix seconds have no sign.';
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return 'The time of day is missing.';
  if (/^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}/.test(text)) return 'Put the year first, then month and day: 2026-01-31.';
  const offset = /[-+]\d\d(?::?\d\d)?$/.exec(text.slice(16))?.[0];
  if (offset !== undefined && !OFFSET.test(offset) && !Number.isNaN(isoToMs(text.slice(0, -offset.length)))) {
    return `The offset ${offset} is out of range: hours go to 23, minutes to 59.`;
  }
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text)) {
    return 'Check that the day exists, that hours go to 23 and minutes and seconds to 59, and that only an offset follows, without a space: Z or +05:00.';
  }
  return HOW_TO_WRITE;
}
