/** Whole days in a time zone, as the filters of Get Calls take them: the end is exclusive. */
export interface Period {
  readonly started_from: string;
  readonly started_to: string;
}

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

/** Midnight in the zone. Where a change of clocks skips it, the first instant of the day. */
function startOfDay(day: string, zone: string): string {
  const wanted = Date.parse(`${day}T00:00:00Z`);
  let instant = wanted;
  // The offset is that of the instant sought, which the first try only comes near.
  for (let tries = 0; tries < 2; tries++) instant = wanted - offsetOf(instant, zone);
  return new Date(instant).toISOString();
}

/** Milliseconds that the zone's clock is ahead of UTC. */
function offsetOf(instant: number, zone: string): number {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${clock.format(instant).replace(' ', 'T')}Z`) - Math.floor(instant / 1000) * 1000;
}
