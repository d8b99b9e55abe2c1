/** Whole days in a time zone, as the filters of Get Calls take them: the end is exclusive. */
export interface Period {
  readonly started_from: string;
  readonly started_to: string;
}

const DAY_MS = 86_400_000;
export const LENGTHS = [7, 30, 90, 365] as const;

/** The period that ends with today, and the one of the same length before it. */
export function periods(days: number, zone: string, now = new Date()): { now: Period; before: Period } {
  const today = dayIn(now, zone);
  const at = (offset: number) => startOfDay(addDays(today, offset), zone);
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

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function dayIn(instant: Date, zone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(instant);
}

function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** Midnight in the zone, the first of two. Where a change of clocks skips it, the first instant of the day. */
function startOfDay(day: string, zone: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Clocks change at most once within these two days, so that one of the two offsets is right.
  const tries = [midnight - DAY_MS, midnight + DAY_MS].map((instant) => midnight - offsetOf(instant, zone));
  const within = tries.filter((instant) => dayIn(new Date(instant), zone) === day);
  return new Date(Math.min(...within)).toISOString();
}

/** Milliseconds that the zone's clock is ahead of UTC. */
function offsetOf(instant: number, zone: string): number {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${clock.format(instant).replace(' ', 'T')}Z`) - Math.floor(instant / 1000) * 1000;
}
