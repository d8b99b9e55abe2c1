import { invalidFields } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { foldName } from '../search/facets.ts';
import { type CallFilter, NO_FILTER, type Store } from '../store/index.ts';
import { type FacetGrouping, type Grouping, isTime, overlaps } from './groupings.ts';
import { cutIntoPieces, joinRanges, rangeOfDay, rangeOfSixHours } from './periods.ts';
import type { Slot, Source, SumsByKey, TimeRange } from './statistic-store.ts';
import { compareKeys, type Group, type SortableNumber, sortGroups, type Statistic, statisticOf } from './statistic.ts';
import { addSums, noSums, subtractSums, type Sums } from './sums.ts';

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

/** How long to wait until the firm's pending changes are indexed. */
const CATCH_UP_MS = 5_000;

/**
 * What the calls that match a filter add up to, by group (docs/api.md, "Statistics"). The numbers are those of Get Calls
 * under the same filter. Fault VALIDATION_ERROR for a time zone that is not known, and for words without a word.
 */
export async function readStatistics(store: Store, firmUuid: string, request: StatisticsRequest): Promise<Statistics> {
  const { filter, groupBy } = request;
  const words = filter.q === null ? null : await store.search.parseWords(filter.q);
  if (filter.q !== null && words === null)
    throw invalidFields([{ field: 'q', code: 'INVALID', message: 'must have a word in it' }]);
  if (!(await store.statistics.knowsZone(request.tz)))
    throw invalidFields([
      { field: 'tz', code: 'INVALID', message: 'must be the name of a time zone, such as Asia/Tashkent' },
    ]);
  await store.search.catchUp(firmUuid, { words: words !== null, withinMs: CATCH_UP_MS });
  const source = isTimeOnly(filter) ? null : await sourceOf(store, firmUuid, filter, words);
  const { groups, total } = await store.statistics.snapshot(async (tx) => {
    const byKey = await addUp(store, tx, firmUuid, request, source, groupBy);
    // A call with several topics is in several groups.
    const all = overlaps(groupBy) ? await addUp(store, tx, firmUuid, request, source, 'all') : byKey;
    return { groups: await groupsOf(store, tx, groupBy, byKey), total: totalOf(all, byKey) };
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
  const rest = { ...filter, startedFrom: null, startedTo: null };
  return JSON.stringify(rest) === JSON.stringify(NO_FILTER);
}

async function sourceOf(
  store: Store,
  firmUuid: string,
  filter: CallFilter,
  words: string | null,
): Promise<Source | 'none'> {
  const { partnerCallId } = filter;
  const row = partnerCallId === null ? null : await store.listing.findByPartnerCallId(firmUuid, partnerCallId);
  if (partnerCallId !== null && row === null) return 'none';
  const resolved = await store.search.resolve(firmUuid, filter);
  return resolved === null ? 'none' : { filter: resolved, words, callUuid: row?.uuid ?? null };
}

async function addUp(
  { statistics }: Store,
  tx: Sql,
  firmUuid: string,
  { filter, tz }: StatisticsRequest,
  source: Source | 'none' | null,
  by: Grouping | 'all',
): Promise<SumsByKey> {
  const keys = by === 'all' ? { by } : { by, tz };
  if (source === 'none') return new Map();
  if (source !== null) return statistics.add(tx, source, keys);
  const known = await statistics.daysOf(tx, firmUuid);
  if (known === null) return new Map();
  const { firm, days } = known;
  const range = { from: filter.startedFrom, to: filter.startedTo };
  const stored = await statistics.storedPeriods(tx, firm, { ...range, from: beginningOfMonth(range.from) });
  const pieces = cutIntoPieces(days, stored, range, by !== 'all' && isTime(by));
  if (by !== 'all' && isTime(by)) {
    const zoned = { by, tz };
    const whole = [...pieces.days.map(rangeOfDay), ...pieces.sixHours.map(rangeOfSixHours)];
    const slot = await slotFor(statistics, tx, zoned, whole);
    const uneven = new Set(slot.uneven.map(({ from }) => from.getTime()));
    const even = whole.filter(({ from }) => !uneven.has(from.getTime()));
    const ranges = joinRanges([...pieces.ranges, ...slot.uneven]);
    return mergeAll([
      await statistics.addSlots(tx, firm, zoned, slot.slot, joinRanges(even)),
      ranges.length === 0 ? new Map() : await statistics.add(tx, { firm, ranges }, zoned),
    ]);
  }
  const kind: FacetGrouping | 'all' = by;
  const ofCalls = async (ranges: typeof pieces.ranges): Promise<SumsByKey> =>
    ranges.length === 0 ? new Map() : statistics.add(tx, { firm, ranges }, keys);
  const sums = mergeAll([
    await statistics.addStored(tx, firm, 'month', kind, pieces.months),
    await statistics.addStored(tx, firm, 'day', kind, pieces.days),
    await statistics.addStored(tx, firm, 'six_hours', kind, pieces.sixHours),
    await ofCalls(pieces.ranges),
  ]);
  for (const [key, less] of await ofCalls(pieces.outside)) {
    const sum = sums.get(key)!;
    subtractSums(sum, less);
    if (sum.amounts.calls === 0) sums.delete(key);
  }
  return sums;
}

function beginningOfMonth(time: Date | null): Date | null {
  return time === null ? null : new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** Hours where they fit the time zone, otherwise quarters of an hour. */
async function slotFor(
  statistics: Store['statistics'],
  tx: Sql,
  zoned: Parameters<Store['statistics']['addSlots']>[2],
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

async function groupsOf(store: Store, tx: Sql, by: Grouping, byKey: SumsByKey): Promise<Group[]> {
  if (isTime(by)) return [...byKey].map(([key, sums]) => ({ key, label: key, ...statisticOf(sums) }));
  const facets = await store.statistics.facets(
    tx,
    [...byKey.keys()].map(Number).filter((id) => id > 0),
  );
  const known = new Map(facets.map(({ id, value, label }) => [String(id), { value: valueOf(by, value), label }]));
  // Values that mean the same are one group, named as most of its calls are.
  const sameAs = (value: string) => (by === 'operator_name' || by === 'operator_group_name' ? foldName(value) : value);
  const groups = Map.groupBy(byKey, ([id]) => {
    const facet = known.get(id);
    return facet === undefined ? null : sameAs(facet.value);
  });
  return [...groups.values()].map((members) => {
    const [most] = members.toSorted(([, one], [, other]) => other.amounts.calls - one.amounts.calls) as [
      [string, Sums],
    ];
    const sums = noSums();
    for (const [, each] of members) addSums(sums, each);
    const facet = known.get(most[0]);
    return { key: facet?.value ?? null, label: facet?.label ?? facet?.value ?? null, ...statisticOf(sums) };
  });
}

/** A state is a status with an outcome. */
function valueOf(by: FacetGrouping, value: string): string {
  return by === 'status' ? value.slice(0, value.indexOf(':')) : value;
}
