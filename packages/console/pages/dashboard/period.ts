import { addDays, dayIn, startOfDay } from '../../i18n/zone/days.ts';

/** Whole days in a time zone, as the filters of Get Calls take them: the end is exclusive. */
export interface Period {
  readonly started_from: string;
  readonly started_to: string;
}

export const LENGTHS = [7, 30, 90, 365] as const;

/** The period that ends with a day, such as today, and the one of the same length before it. */
export function periods(days: number, zone: string, last = dayIn(new Date(), zone)): { now: Period; before: Period } {
  const at = (offset: number) => startOfDay(addDays(last, offset), zone);
  return {
    now: { started_from: at(1 - days), started_to: at(1) },
    before: { started_from: at(1 - 2 * days), started_to: at(1 - days) },
  };
}

/** All days of a period, such as "2026-10-03", whether or not they have calls. */
export function daysOf({ started_from, started_to }: Period, zone: string): string[] {
  const days: string[] = [];
  const end = dayIn(new Date(started_to), zone);
  for (let day = dayIn(new Date(started_from), zone); day < end; day = addDays(day, 1)) days.push(day);
  return days;
}

/** The calls of one day of the kind "2026-10-03". */
export function periodOfDay(day: string, zone: string): Period {
  return { started_from: startOfDay(day, zone), started_to: startOfDay(addDays(day, 1), zone) };
}
