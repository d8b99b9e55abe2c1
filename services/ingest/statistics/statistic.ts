import type { SortableNumber as Numbers, Statistics } from '@call-analysis/api/statistics';
import type { z } from 'zod';
import { percentile, type Sums } from './sums.ts';

/** One group of a statistic (docs/api.md, "Statistics"). Without the thing that it is by, its key is null. */
export type Group = z.output<typeof Statistics>['items'][number];
export type Statistic = z.output<typeof Statistics>['total'];

export function statisticOf({ amounts, scores }: Sums): Statistic {
  const average = (sum: number, count: number, unit: number, decimals: number) =>
    count === 0 ? null : rounded(sum / count / unit, decimals);
  return {
    calls: amounts.calls,
    scored: amounts.scored,
    score: {
      average: average(amounts.score, amounts.scored, 10, 1),
      p10: percentile(scores, 1),
      p50: percentile(scores, 5),
      p90: percentile(scores, 9),
    },
    auto_failed: amounts.autoFailed,
    needs_review: amounts.needsReview,
    reviewed: amounts.reviewed,
    duration_average: average(amounts.duration, amounts.durations, 1000, 1),
    talk_ratio_operator: average(amounts.talk, amounts.talks, 1_000_000, 3),
    silence_ratio: average(amounts.silence, amounts.silences, 1_000_000, 3),
    interruptions_average: average(amounts.interruptions, amounts.interrupted, 1, 2),
    sentiment_client: average(amounts.sentiment, amounts.sentiments, 100, 2),
    points_ratio: average(amounts.points, amounts.maxPoints, 1, 3),
  };
}

function rounded(value: number, decimals: number): number {
  const scaled = Math.round(value * 10 ** decimals + Number.EPSILON) / 10 ** decimals;
  // Never -0, which JSON cannot hold.
  return scaled === 0 ? 0 : scaled;
}

export type SortableNumber = z.infer<typeof Numbers>;

/** Groups without the number come last in either order, equal ones in the order of their keys. */
export function sortGroups(groups: readonly Group[], by: SortableNumber, isDescending: boolean): Group[] {
  const valueOf = (group: Group) => {
    if (by === 'average' || by === 'p10' || by === 'p50' || by === 'p90') return group.score[by];
    return group[by];
  };
  const sign = isDescending ? -1 : 1;
  return groups.toSorted((one, other) => {
    const [first, second] = [valueOf(one), valueOf(other)];
    if (first === second) return compareKeys(one.key, other.key);
    if (first === null || second === null) return first === null ? 1 : -1;
    return sign * (first - second);
  });
}

/** Calls without the thing come last. */
export function compareKeys(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}
