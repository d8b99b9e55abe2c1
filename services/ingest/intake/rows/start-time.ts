import type { ValueFault } from './row-fault.ts';

/** The Unix seconds that a start_time may be: from 2000-01-01 to before 2100-01-01. */
const UNIX_FROM = 946_684_800;
const UNIX_TO = 4_102_444_800;

/** The instants whose year in UTC has four digits: 0001-01-01 to 9999-12-31. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

const DAY_MS = 86_400_000;

const ZERO = 48;
const NINE = 57;
const HYPHEN = 45;
const COLON = 58;
const PLUS = 43;
const SPACE = 32;
const POINT = 46;
const COMMA = 44;
const LETTER_T = 84;
const LETTER_Z = 90;

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
  // Read by position: `YYYY-MM-DDTHH:MM` is sixteen characters long. The optional parts follow one after the other.
  if (text.length < 16) return NaN;
  const between = text.charCodeAt(10);
  if (between !== LETTER_T && between !== SPACE) return NaN;
  if (text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN || text.charCodeAt(13) !== COLON) return NaN;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth(year, month))) return NaN;
  if (!(hour <= 23 && minute <= 59)) return NaN;
  let position = 16;
  let ms = 0;
  if (text.charCodeAt(16) === COLON) {
    const second = twoDigits(text, 17);
    if (!(second <= 59)) return NaN;
    ms = second * 1000;
    position = 19;
    const point = text.charCodeAt(19);
    if (point === POINT || point === COMMA) {
      position = 20;
      for (let unit = 100; isDigit(text.charCodeAt(position)); position++, unit = Math.floor(unit / 10)) {
        ms += unit * (text.charCodeAt(position) - ZERO);
      }
      if (position === 20) return NaN;
    }
  }
  ms += daysSinceEpoch(year, month, day) * DAY_MS + hour * 3_600_000 + minute * 60_000;
  if (position < text.length) ms -= offsetMs(text, position);
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : NaN;
}

/** `Z`, `+05:00`, `+0500` or `+05` at the end of the text. NaN for anything else. */
function offsetMs(text: string, from: number): number {
  const sign = text.charCodeAt(from);
  const length = text.length - from;
  if (sign === LETTER_Z) return length === 1 ? 0 : NaN;
  if (sign !== PLUS && sign !== HYPHEN) return NaN;
  const hours = twoDigits(text, from + 1);
  let minutes = 0;
  if (length === 6 && text.charCodeAt(from + 3) === COLON) minutes = twoDigits(text, from + 4);
  else if (length === 5) minutes = twoDigits(text, from + 3);
  else if (length !== 3) return NaN;
  if (!(hours <= 23 && minutes <= 59)) return NaN;
  return (sign === PLUS ? 1 : -1) * (hours * 60 + minutes) * 60_000;
}

/** NaN unless both are ASCII digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + (ones - ZERO) : NaN;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function daysOfMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Days from 1970-01-01 in the Gregorian calendar. Counts in years that begin in March, so that leap days come last. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const monthFromMarch = (month + 9) % 12;
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leapDays + Math.floor((monthFromMarch * 153 + 2) / 5) + day - 719_469;
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
  if (
    offset !== undefined &&
    Number.isNaN(offsetMs(offset, 0)) &&
    !Number.isNaN(isoToMs(text.slice(0, -offset.length)))
  ) {
    return `The offset ${offset} is out of range: hours go to 23, minutes to 59.`;
  }
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text)) {
    return 'Check that the day exists, that hours go to 23 and minutes and seconds to 59, and that only an offset follows, without a space: Z or +05:00.';
  }
  return HOW_TO_WRITE;
}
