import type { Locale } from './locales.ts';
import { currentLocale } from './texts.ts';
import { clockIn } from './zone/days.ts';
import { timeZone } from './zone/zone.ts';

interface Names {
  /** As in a date: "3 January". */
  readonly shortMonths: readonly string[];
  readonly date: (day: string, month: string, year: string) => string;
  /** A language that every browser knows and that writes numbers in the same way. */
  readonly numbers: 'en' | 'ru' | 'es';
}

const words = (text: string) => text.split(' ');
const dayFirst = (day: string, month: string, year: string) => `${day} ${month} ${year}`.trim();
const uzbekDate = (day: string, month: string, year: string) => `${day}-${month}${year === '' ? '' : `, ${year}`}`;

/** Browsers write Kyrgyz dates in English and Uzbek ones as "1970 M01 1", so all languages have tables of their own. */
const NAMES: Readonly<Record<Locale, Names>> = {
  en: { shortMonths: words('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'), date: dayFirst, numbers: 'en' },
  ru: {
    shortMonths: words('янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.'),
    date: dayFirst,
    numbers: 'ru',
  },
  uz: { shortMonths: words('yan fev mar apr may iyn iyl avg sen okt noy dek'), date: uzbekDate, numbers: 'ru' },
  'uz-Cyrl': { shortMonths: words('янв фев мар апр май июн июл авг сен окт ноя дек'), date: uzbekDate, numbers: 'ru' },
  ky: {
    shortMonths: words('янв. фев. мар. апр. май июн. июл. авг. сен. окт. ноя. дек.'),
    date: (day, month, year) => (year === '' ? `${day}-${month}` : `${year}-ж. ${day}-${month}`),
    numbers: 'ru',
  },
  es: { shortMonths: words('ene feb mar abr may jun jul ago sept oct nov dic'), date: dayFirst, numbers: 'es' },
};

/** "3 Oct", for a day of the kind "2026-10-03". */
export function dayOfMonth(day: string, year = ''): string {
  const [, month, number] = day.split('-');
  const { date: inOrder, shortMonths } = NAMES[currentLocale()];
  return inOrder(String(Number(number)), shortMonths[Number(month) - 1] ?? '', year);
}

/** "Oct 2026", for a month of the kind "2026-10". */
export function monthOfYear(key: string): string {
  const [year, month] = key.split('-');
  return `${NAMES[currentLocale()].shortMonths[Number(month) - 1] ?? ''} ${year}`;
}

const shownClock = (instant: string | Date, zone = timeZone()) => clockIn(new Date(instant), zone);

/** "3 Oct 2026". */
export function date(instant: string | Date, zone?: string): string {
  const clock = shownClock(instant, zone);
  return dayOfMonth(clock.slice(0, 10), clock.slice(0, 4));
}

/** "14:05". */
export function time(instant: string | Date): string {
  return shownClock(instant).slice(11, 16);
}

/** "3 Oct 2026, 14:05". */
export function dateTime(instant: string | Date): string {
  return `${date(instant)}, ${time(instant)}`;
}

/** "3 Oct, 14:05" in this year, with the year in others. */
export function shortDateTime(instant: string | Date): string {
  const clock = shownClock(instant);
  const year = clock.slice(0, 4);
  const isThisYear = year === shownClock(new Date()).slice(0, 4);
  return `${dayOfMonth(clock.slice(0, 10), isThisYear ? '' : year)}, ${time(instant)}`;
}

/** "3 Oct 2026, 14:05:09". */
export function exactTime(instant: string | Date): string {
  return `${date(instant)}, ${shownClock(instant).slice(11)}`;
}

/** To make one takes a thousand times as long as to use it. */
const numberFormats = new Map<string, Intl.NumberFormat>();

/**
 * With the separators of the language, and at most as many decimals as given. Four digits are not grouped: Spanish and
 * Russian do not, and elsewhere they are no harder to read.
 */
export function number(value: number, decimals = 0, least = 0): string {
  const { numbers } = NAMES[currentLocale()];
  const key = `${numbers} ${decimals} ${least}`;
  const options = { maximumFractionDigits: decimals, minimumFractionDigits: least, useGrouping: 'min2' } as const;
  const made = numberFormats.get(key) ?? new Intl.NumberFormat(numbers, options);
  numberFormats.set(key, made);
  return made.format(value).replace('-', '−');
}

/** A share from 0 to 1: "42 %", in English "42%". */
export function percent(share: number, decimals = 0): string {
  return `${number(share * 100, decimals)}${currentLocale() === 'en' ? '%' : '\u00a0%'}`;
}

/** A score of one decimal: "87.5". A dash where there is none. */
export function score(value: number | null): string {
  return value === null ? '–' : number(value, 1, 1);
}

/** "3:07", and "1:03:07" from an hour. */
export function duration(seconds: number): string {
  const all = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor((all % 3600) / 60), all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const LATIN_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
const CYRILLIC_UNITS = ['Б', 'кБ', 'МБ', 'ГБ', 'ТБ'];
const IN_CYRILLIC: readonly Locale[] = ['ru', 'uz-Cyrl', 'ky'];

/** "1.5 MB", in Cyrillic "1,5 МБ". */
export function bytes(value: number): string {
  const units = IN_CYRILLIC.includes(currentLocale()) ? CYRILLIC_UNITS : LATIN_UNITS;
  let unit = 0;
  let amount = value;
  while (amount >= 1000 && unit < units.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${number(amount, unit === 0 || amount >= 100 ? 0 : 1)}\u00a0${units[unit]}`;
}
