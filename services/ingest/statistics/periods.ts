import type { StoredPeriod, TimeRange } from './statistic-store.ts';

const DAY_MS = 86_400_000;

/** How a range of time is added up: from the sums of whole months and days, and from the calls of what is left. */
export interface Pieces {
  readonly months: readonly Date[];
  readonly days: readonly Date[];
  readonly ranges: readonly TimeRange[];
  /** What is subtracted: parts of `days` that are outside the range. */
  readonly outside: readonly TimeRange[];
}

export function dayRange(day: string): TimeRange {
  const from = new Date(`${day}T00:00:00.000Z`);
  return { from, to: new Date(from.getTime() + DAY_MS) };
}

/** The month of a day, both in UTC. */
export function monthRange(day: string): TimeRange {
  const from = new Date(`${day.slice(0, 7)}-01T00:00:00.000Z`);
  const to = new Date(from);
  to.setUTCMonth(to.getUTCMonth() + 1);
  return { from, to };
}

/**
 * Cuts a range into pieces. `days` are those on which calls started, `stored` what has sums. `byTime`: the sums are grouped by
 * time, so that neither months nor days that begin or end outside the range can be used.
 */
export function cutIntoPieces(
  days: readonly string[],
  stored: readonly StoredPeriod[],
  range: { readonly from: Date | null; readonly to: Date | null },
  byTime: boolean,
): Pieces {
  const known = new Set(stored.map(({ period, beginsAt }) => `${period} ${beginsAt.getTime()}`));
  const isWhole = ({ from, to }: TimeRange) =>
    (range.from === null || from >= range.from) && (range.to === null || to <= range.to);
  const months = new Map<number, Date>();
  const wholeDays: Date[] = [];
  const ranges: TimeRange[] = [];
  const outside: TimeRange[] = [];
  for (const day of days) {
    const month = monthRange(day);
    if (!byTime && isWhole(month) && known.has(`month ${month.from.getTime()}`)) {
      months.set(month.from.getTime(), month.from);
      continue;
    }
    const whole = dayRange(day);
    if (isWhole(whole) && known.has(`day ${whole.from.getTime()}`)) {
      wholeDays.push(whole.from);
      continue;
    }
    const from = range.from !== null && range.from > whole.from ? range.from : whole.from;
    const to = range.to !== null && range.to < whole.to ? range.to : whole.to;
    if (from >= to) continue;
    const insideMs = to.getTime() - from.getTime();
    // A day of a time zone begins and ends within days of UTC. Of these the smaller part is read: inside or outside.
    if (!byTime && 2 * insideMs > DAY_MS && known.has(`day ${whole.from.getTime()}`)) {
      wholeDays.push(whole.from);
      if (from > whole.from) outside.push({ from: whole.from, to: from });
      if (to < whole.to) outside.push({ from: to, to: whole.to });
      continue;
    }
    const last = ranges.at(-1);
    // Neighbours become one range.
    if (last !== undefined && last.to.getTime() === from.getTime()) ranges[ranges.length - 1] = { from: last.from, to };
    else ranges.push({ from, to });
  }
  return { months: [...months.values()], days: wholeDays, ranges, outside };
}

/** Days as ranges, neighbours as one. */
export function joinDays(days: readonly Date[]): TimeRange[] {
  const ranges: { from: Date; to: Date }[] = [];
  for (const from of days.toSorted((one, other) => one.getTime() - other.getTime())) {
    const to = new Date(from.getTime() + DAY_MS);
    const last = ranges.at(-1);
    if (last !== undefined && last.to.getTime() === from.getTime()) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}
