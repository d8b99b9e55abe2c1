export const DAY_MS = 86_400_000;

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** By zone: to make one takes long. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/** "2026-10-03 14:05:09", as Swedish has it in every browser. */
export function clockIn(instant: Date | number, timeZone: string): string {
  const clock =
    clocks.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  clocks.set(timeZone, clock);
  return clock.format(instant);
}

/** The days that there may be calls of: a field for a date has others while its year is typed. */
export const FIRST_DAY = '1970-01-01';
export const LAST_DAY = '2099-12-31';

/** Whether a text is such a day, like "2026-10-03". */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && text >= FIRST_DAY && text <= LAST_DAY;
}

/** "2026-10-03". */
export function dayIn(instant: Date, zone: string): string {
  return clockIn(instant, zone).slice(0, 10);
}

export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** The first instant of a day: midnight in the zone, the first of two, or what follows where a change of clocks skips it. */
export function startOfDay(day: string, zone: string): string {
  return instantOf(`${day}T00:00`, zone);
}

/** Milliseconds that the zone's clock is ahead of UTC. */
function offsetOf(instant: number, zone: string): number {
  return Date.parse(`${clockIn(instant, zone).replace(' ', 'T')}Z`) - Math.floor(instant / 1000) * 1000;
}

/** "2026-11-22T14:05", as a field for a date and a time has it. */
export function localInput(instant: number, zone: string): string {
  return new Date(instant + offsetOf(instant, zone)).toISOString().slice(0, 16);
}

/** The last minute of a day. */
export function endOfDay(day: string, zone: string): string {
  return new Date(Date.parse(startOfDay(addDays(day, 1), zone)) - 60_000).toISOString();
}

/** The instant of such a field. Of a time that a change of clocks repeats, the first; one that it skips is moved on by what was skipped. */
export function instantOf(input: string, zone: string): string {
  const clock = Date.parse(`${input}Z`);
  // Clocks change at most once within these two days, so that one of the two offsets is right.
  const tries = [clock - DAY_MS, clock + DAY_MS].map((near) => clock - offsetOf(near, zone));
  const within = tries.filter((instant) => localInput(instant, zone) === input.slice(0, 16));
  return new Date(within.length > 0 ? Math.min(...within) : Math.max(...tries)).toISOString();
}
