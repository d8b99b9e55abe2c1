import type { SortableNumber as Numbers, Statistics } from '@call-analysis/api/statistics';
import { type Fault, invalidFields } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { z } from 'zod';
import { type CallFilter, NO_FILTER } from '../listing/call-filter.ts';
import type { CarryOver } from '../listing/carry-over-store.ts';
import type { FilteredCalls } from '../listing/filter-sql.ts';
import type { Words } from '../search/word-store.ts';
import { type Grouping, isTime, overlaps, type Value, VALUE_PROPERTIES, type ValueProperty } from './groupings.ts';
import { cutIntoPieces, joinRanges, rangeOfDay, type TimeRange } from './periods.ts';
import type { Slot, StatisticStore, SumsByKey } from './statistic-store.ts';
import { addSums, noSums, percentile, subtractSums, type Sums } from './sums.ts';

export interface StatisticDeps {
  readonly statistics: StatisticStore;
  readonly carryOver: CarryOver;
  readonly words: Words;
}

interface StatisticsRequest {
  readonly groupBy: Grouping;
  readonly filter: CallFilter;
  /** IANA name. */
  readonly tz: string;
  /** Null: times ascending, others by their number of calls. */
  readonly sort: { readonly by: SortableNumber; readonly isDescending: boolean } | null;
  readonly limit: number;
}

export interface Statistics {
  readonly items: readonly Group[];
  readonly total: Statistic;
}

/**
 * What the calls that match a filter add up to, by group (docs/api.md, "Statistics"). The numbers are those of Get Calls
 * under the same filter. Fault VALIDATION_ERROR for a time zone that is not known, and for words without a word.
 */
export async function readStatistics(
  deps: StatisticDeps,
  firmUuid: string,
  request: StatisticsRequest,
): Promise<Statistics> {
  const { filter, groupBy } = request;
  const words = await deps.words.require(firmUuid, filter.q);
  if (!(await deps.statistics.knowsZone(request.tz))) throw unknownZone();
  await deps.carryOver.ready();
  const source = { firmUuid, filter, words };
  const { groups, total } = await deps.statistics.snapshot(async (tx) => {
    const byKey = await addUp(deps, tx, request, source, groupBy);
    // A call with several topics is in several groups.
    const all = overlaps(groupBy) ? await addUp(deps, tx, request, source, 'all') : byKey;
    return { groups: await groupsOf(deps, tx, firmUuid, groupBy, byKey), total: totalOf(all, byKey) };
  });
  const sorted =
    request.sort !== null
      ? sortGroups(groups, request.sort.by, request.sort.isDescending)
      : isTime(groupBy)
        ? groups.toSorted((one, other) => compareKeys(one.key, other.key))
        : sortGroups(groups, 'calls', true);
  return { items: sorted.slice(0, request.limit), total: statisticOf(total) };
}

/**
 * What stored sums the filter needs: those of all calls or those of a value, by the start time. Undefined where it has other
 * conditions.
 */
function storedPart(
  filter: CallFilter,
): { rest: CallFilter; named: { property: ValueProperty; name: string } | null } | undefined {
  const { started_from: _from, started_to: _to, ...rest } = filter;
  const isAll = (each: object) => JSON.stringify(each) === JSON.stringify(NO_FILTER);
  if (isAll(rest)) return { rest, named: null };
  for (const property of VALUE_PROPERTIES) {
    const [name, ...others] = [rest[property] ?? []].flat();
    if (name !== undefined && others.length === 0 && isAll({ ...rest, [property]: NO_FILTER[property] }))
      return { rest, named: { property, name } };
  }
  return undefined;
}

async function addUp(
  { statistics }: StatisticDeps,
  tx: Sql,
  { tz }: StatisticsRequest,
  source: FilteredCalls,
  by: Grouping | 'all',
): Promise<SumsByKey> {
  const { firmUuid, filter } = source;
  const keys = by === 'all' ? { by } : { by, tz };
  const stored = storedPart(filter);
  if (stored === undefined) return statistics.add(tx, source, keys);
  const { rest, named } = stored;
  const of: Value | null = named && (await statistics.valueOf(tx, named.property, named.name));
  const time = (text: string | undefined) => (text === undefined ? null : new Date(text));
  const range = { from: time(filter.started_from), to: time(filter.started_to) };
  const isByTime = by !== 'all' && isTime(by);
  const pieces = cutIntoPieces(await statistics.daysOf(tx, firmUuid, range, of), range, isByTime);
  if (pieces.days.length === 0) return statistics.add(tx, source, keys);
  const ofCalls = async (ranges: readonly TimeRange[]): Promise<SumsByKey> =>
    ranges.length === 0 ? new Map() : statistics.add(tx, { firmUuid, filter: rest, words: null, ranges }, keys);
  if (isByTime) {
    const zoned = { by, tz };
    const whole = pieces.days.map(rangeOfDay);
    const slot = await slotFor(statistics, tx, zoned, whole);
    const uneven = new Set(slot.uneven.map(({ from }) => from.getTime()));
    const even = whole.filter(({ from }) => !uneven.has(from.getTime()));
    return mergeAll([
      await statistics.addSlots(tx, firmUuid, zoned, of, slot.slot, joinRanges(even)),
      await ofCalls(joinRanges([...pieces.ranges, ...slot.uneven])),
    ]);
  }
  const sums = mergeAll([await statistics.addStored(tx, firmUuid, by, of, pieces.days), await ofCalls(pieces.ranges)]);
  for (const [key, less] of await ofCalls(pieces.outside)) {
    const sum = sums.get(key)!;
    subtractSums(sum, less);
    if (sum.amounts.calls === 0) sums.delete(key);
  }
  return sums;
}

/** Hours where they fit the time zone, otherwise quarters of an hour. */
async function slotFor(
  statistics: StatisticStore,
  tx: Sql,
  zoned: Parameters<StatisticStore['addSlots']>[2],
  ranges: readonly TimeRange[],
): Promise<{ slot: Slot; uneven: readonly TimeRange[] }> {
  const byHour = await statistics.uneven(tx, zoned, 'hour', ranges);
  if (byHour.length === 0) return { slot: 'hour', uneven: [] };
  return { slot: 'quarter', uneven: await statistics.uneven(tx, zoned, 'quarter', ranges) };
}

function mergeAll(parts: readonly SumsByKey[]): SumsByKey {
  const merged: SumsByKey = new Map();
  for (const part of parts) {
    for (const [key, sums] of part) {
      const sum = merged.get(key) ?? noSums();
      addSums(sum, sums);
      merged.set(key, sum);
    }
  }
  return merged;
}

/** `byKey` has the points, which the sum over all calls lacks. */
function totalOf(all: SumsByKey, byKey: SumsByKey): Sums {
  const total = noSums();
  for (const sums of all.values()) addSums(total, sums);
  if (all !== byKey) {
    for (const { amounts } of byKey.values()) {
      total.amounts.points += amounts.points;
      total.amounts.maxPoints += amounts.maxPoints;
    }
  }
  return total;
}

async function groupsOf(
  deps: StatisticDeps,
  tx: Sql,
  firmUuid: string,
  by: Grouping,
  byKey: SumsByKey,
): Promise<Group[]> {
  if (isTime(by)) return [...byKey].map(([key, sums]) => ({ key, label: key, ...statisticOf(sums) }));
  const isNamed = by === 'scorecard' || by === 'question';
  const uuids = isNamed ? [...byKey.keys()].filter((key) => key !== '') : [];
  const labels = await deps.statistics.labels(tx, firmUuid, uuids);
  // Values that mean the same are one group, named as most of its calls are.
  const isFolded = by === 'operator_name' || by === 'operator_group_name';
  const groups = Map.groupBy(byKey, ([key]) => (isFolded ? foldName(key) : key));
  return [...groups.values()].map((members) => {
    const [most] = members.toSorted(([, one], [, other]) => other.amounts.calls - one.amounts.calls) as [
      [string, Sums],
    ];
    const sums = noSums();
    for (const [, each] of members) addSums(sums, each);
    const key = most[0] === '' ? null : most[0];
    return { key, label: key && (labels.get(key) ?? key), ...statisticOf(sums) };
  });
}

/** A name without regard to case and to how its accents are encoded, as filters compare it. */
function foldName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

export function unknownZone(): Fault {
  const message = 'must be the name of a time zone, such as Asia/Tashkent';
  return invalidFields([{ field: 'tz', code: 'INVALID', message }]);
}

/** One group of a statistic (docs/api.md, "Statistics"). Without the thing that it is by, its key is null. */
type Group = z.output<typeof Statistics>['items'][number];
type Statistic = z.output<typeof Statistics>['total'];

function statisticOf({ amounts, scores }: Sums): Statistic {
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

type SortableNumber = z.infer<typeof Numbers>;

/** Groups without the number come last in either order, equal ones in the order of their keys. */
function sortGroups(groups: readonly Group[], by: SortableNumber, isDescending: boolean): Group[] {
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
function compareKeys(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}
