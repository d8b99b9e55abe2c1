import { type Fault, invalidFields } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { type CallFilter, NO_FILTER } from '../listing/call-filter.ts';
import type { CarryOver } from '../listing/carry-over-store.ts';
import type { Words } from '../search/word-store.ts';
import { type Grouping, isTime, overlaps } from './groupings.ts';
import { cutIntoPieces, joinRanges, rangeOfDay, type TimeRange } from './periods.ts';
import type { Slot, Source, StatisticStore, SumsByKey } from './statistic-store.ts';
import { compareKeys, type Group, type SortableNumber, sortGroups, type Statistic, statisticOf } from './statistic.ts';
import { addSums, noSums, subtractSums, type Sums } from './sums.ts';

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
  const source = isTimeOnly(filter) ? null : { firmUuid, filter, words };
  const { groups, total } = await deps.statistics.snapshot(async (tx) => {
    const byKey = await addUp(deps, tx, firmUuid, request, source, groupBy);
    // A call with several topics is in several groups.
    const all = overlaps(groupBy) ? await addUp(deps, tx, firmUuid, request, source, 'all') : byKey;
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

/** Whether the filter concerns nothing but the start of the calls, so that stored sums can be used. */
function isTimeOnly(filter: CallFilter): boolean {
  const { started_from: _from, started_to: _to, ...rest } = filter;
  return JSON.stringify(rest) === JSON.stringify(NO_FILTER);
}

async function addUp(
  { statistics }: StatisticDeps,
  tx: Sql,
  firmUuid: string,
  { filter, tz }: StatisticsRequest,
  source: Source | null,
  by: Grouping | 'all',
): Promise<SumsByKey> {
  const keys = by === 'all' ? { by } : { by, tz };
  if (source !== null) return statistics.add(tx, source, keys);
  const time = (text: string | undefined) => (text === undefined ? null : new Date(text));
  const range = { from: time(filter.started_from), to: time(filter.started_to) };
  const isByTime = by !== 'all' && isTime(by);
  const pieces = cutIntoPieces(await statistics.daysOf(tx, firmUuid, range), range, isByTime);
  if (isByTime) {
    const zoned = { by, tz };
    const whole = pieces.days.map(rangeOfDay);
    const slot = await slotFor(statistics, tx, zoned, whole);
    const uneven = new Set(slot.uneven.map(({ from }) => from.getTime()));
    const even = whole.filter(({ from }) => !uneven.has(from.getTime()));
    const ranges = joinRanges([...pieces.ranges, ...slot.uneven]);
    return mergeAll([
      await statistics.addSlots(tx, firmUuid, zoned, slot.slot, joinRanges(even)),
      ranges.length === 0 ? new Map() : await statistics.add(tx, { firmUuid, ranges }, zoned),
    ]);
  }
  const ofCalls = async (ranges: typeof pieces.ranges): Promise<SumsByKey> =>
    ranges.length === 0 ? new Map() : statistics.add(tx, { firmUuid, ranges }, keys);
  const sums = mergeAll([await statistics.addStored(tx, firmUuid, by, pieces.days), await ofCalls(pieces.ranges)]);
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
