const DAY_MS = 24 * 3_600_000;

/** From inclusive, to exclusive. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** A day in UTC on which calls started, by its first moment, and whether its stored sums are those of its calls. */
export interface Day {
  readonly beginsAt: Date;
  readonly isStored: boolean;
}

export function rangeOfDay(from: Date): TimeRange {
  return { from, to: new Date(from.getTime() + DAY_MS) };
}

/**
 * How a range of time is added up: from the sums of stored days, and from the calls of the ranges that are left, without those
 * of `outside`, which are the parts of the days outside the range. `byTime`: the sums are grouped by time, so that days which
 * begin or end outside the range cannot be used.
 */
export function cutIntoPieces(
  all: readonly Day[],
  range: { readonly from: Date | null; readonly to: Date | null },
  byTime: boolean,
): { days: Date[]; ranges: TimeRange[]; outside: TimeRange[] } {
  const days: Date[] = [];
  const ranges: TimeRange[] = [];
  const outside: TimeRange[] = [];
  for (const { beginsAt, isStored } of all) {
    const whole = rangeOfDay(beginsAt);
    const from = range.from !== null && range.from > whole.from ? range.from : whole.from;
    const to = range.to !== null && range.to < whole.to ? range.to : whole.to;
    if (from >= to) continue;
    const lengthMs = to.getTime() - from.getTime();
    // Of a day that begins or ends outside the range, the smaller part is read: inside or outside.
    if (isStored && (lengthMs === DAY_MS || (!byTime && 2 * lengthMs > DAY_MS))) {
      days.push(beginsAt);
      if (from > whole.from) outside.push({ from: whole.from, to: from });
      if (to < whole.to) outside.push({ from: to, to: whole.to });
    } else {
      ranges.push({ from, to });
    }
  }
  return { days, ranges: joinRanges(ranges), outside };
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
