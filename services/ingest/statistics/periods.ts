import type { StoredPeriod, TimeRange } from './statistic-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SIX_HOURS_MS = 6 * HOUR_MS;

/** How a range of time is added up: from the sums of stored periods, and from the calls of what is left. */
interface Pieces {
  readonly months: readonly Date[];
  readonly days: readonly Date[];
  readonly sixHours: readonly Date[];
  readonly ranges: readonly TimeRange[];
  /** Subtracted: the parts of `sixHours` outside the range. */
  readonly outside: readonly TimeRange[];
}

export function dayRange(day: string): TimeRange {
  return rangeOfDay(new Date(`${day}T00:00:00.000Z`));
}

export function rangeOfDay(from: Date): TimeRange {
  return { from, to: new Date(from.getTime() + DAY_MS) };
}

export function rangeOfSixHours(from: Date): TimeRange {
  return { from, to: new Date(from.getTime() + SIX_HOURS_MS) };
}

/** The beginnings of the four six hours of a day. */
export function sixHoursOf(day: string): Date[] {
  const { from } = dayRange(day);
  return [0, 1, 2, 3].map((number) => new Date(from.getTime() + number * SIX_HOURS_MS));
}

/** The month of a day, both in UTC. */
export function monthRange(day: string): TimeRange {
  const from = new Date(`${day.slice(0, 7)}-01T00:00:00.000Z`);
  const to = new Date(from);
  to.setUTCMonth(to.getUTCMonth() + 1);
  return { from, to };
}

/**
 * Cuts a range into pieces. `days` are those on which calls started, `stored` what has sums. `byTime`: the sums are
 * grouped by time, so that neither months nor periods that begin or end outside the range can be used.
 */
export function cutIntoPieces(
  days: readonly string[],
  stored: readonly StoredPeriod[],
  range: { readonly from: Date | null; readonly to: Date | null },
  byTime: boolean,
): Pieces {
  const known = new Set(stored.map(({ period, beginsAt }) => `${period} ${beginsAt.getTime()}`));
  const isKnown = (period: StoredPeriod['period'], { from }: TimeRange) => known.has(`${period} ${from.getTime()}`);
  const isWhole = ({ from, to }: TimeRange) =>
    (range.from === null || from >= range.from) && (range.to === null || to <= range.to);
  const months = new Map<number, Date>();
  const wholeDays: Date[] = [];
  const sixHours: Date[] = [];
  const ranges: TimeRange[] = [];
  const outside: TimeRange[] = [];
  for (const day of days) {
    const month = monthRange(day);
    if (!byTime && isWhole(month) && isKnown('month', month)) {
      months.set(month.from.getTime(), month.from);
      continue;
    }
    const wholeDay = dayRange(day);
    if (isWhole(wholeDay) && isKnown('day', wholeDay)) {
      wholeDays.push(wholeDay.from);
      continue;
    }
    for (const whole of sixHoursOf(day).map(rangeOfSixHours)) {
      const from = range.from !== null && range.from > whole.from ? range.from : whole.from;
      const to = range.to !== null && range.to < whole.to ? range.to : whole.to;
      if (from >= to) continue;
      // Of six hours that begin or end outside the range, the smaller part is read: inside or outside.
      const isMostlyInside = !byTime && 2 * (to.getTime() - from.getTime()) > SIX_HOURS_MS;
      if (isKnown('six_hours', whole) && (isWhole(whole) || isMostlyInside)) {
        sixHours.push(whole.from);
        if (from > whole.from) outside.push({ from: whole.from, to: from });
        if (to < whole.to) outside.push({ from: to, to: whole.to });
      } else {
        ranges.push({ from, to });
      }
    }
  }
  return { months: [...months.values()], days: wholeDays, sixHours, ranges: joinRanges(ranges), outside };
}

/** The same ranges in order, with adjacent ones merged. */
export function joinRanges(ranges: readonly TimeRange[]): TimeRange[] {
  const joined: { from: Date; to: Date }[] = [];
  for (const { from, to } of ranges.toSorted((one, other) => one.from.getTime() - other.from.getTime())) {
    const last = joined.at(-1);
    if (last !== undefined && last.to.getTime() === from.getTime()) last.to = to;
    else joined.push({ from, to });
  }
  return joined;
}
