import type { Locale } from './locales.ts';

interface Names {
  /** As in a date: "3 January". */
  readonly shortMonths: readonly string[];
  /** Where the month stands: English and Spanish differ from the rest only in order. */
  readonly date: (day: string, month: string, year: string) => string;
  readonly decimal: string;
  readonly group: string;
}

const words = (text: string) => text.split(' ');
const NARROW = '\u00a0';
const dayFirst = (day: string, month: string, year: string) => `${day} ${month} ${year}`.trim();

/** Browsers write Kyrgyz dates in English and Uzbek ones as "1970 M01 1", so all languages have tables of their own. */
export const NAMES: Readonly<Record<Locale, Names>> = {
  en: {
    shortMonths: words('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'),
    date: dayFirst,
    decimal: '.',
    group: ',',
  },
  ru: {
    shortMonths: words('янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.'),
    date: dayFirst,
    decimal: ',',
    group: NARROW,
  },
  uz: {
    shortMonths: words('yan fev mar apr may iyn iyl avg sen okt noy dek'),
    date: (day, month, year) => `${day}-${month}${year === '' ? '' : `, ${year}`}`,
    decimal: ',',
    group: NARROW,
  },
  'uz-Cyrl': {
    shortMonths: words('янв фев мар апр май июн июл авг сен окт ноя дек'),
    date: (day, month, year) => `${day}-${month}${year === '' ? '' : `, ${year}`}`,
    decimal: ',',
    group: NARROW,
  },
  ky: {
    shortMonths: words('янв. фев. мар. апр. май июн. июл. авг. сен. окт. ноя. дек.'),
    date: (day, month, year) => (year === '' ? `${day}-${month}` : `${year}-ж. ${day}-${month}`),
    decimal: ',',
    group: NARROW,
  },
  es: {
    shortMonths: words('ene feb mar abr may jun jul ago sept oct nov dic'),
    date: dayFirst,
    decimal: ',',
    group: '.',
  },
};
