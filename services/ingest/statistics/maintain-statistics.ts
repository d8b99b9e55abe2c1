import { attemptEach } from '@call-analysis/fault';
import { type Sql, sqlState } from '@call-analysis/postgres';
import { NO_FILTER } from '../listing/call-filter.ts';
import type { CarryOver } from '../listing/carry-over-store.ts';
import { PROPERTY_GROUPINGS, VALUE_PROPERTIES } from './groupings.ts';
import { rangeOfDay } from './periods.ts';
import type { Keys, Names, Source, StatisticStore, StoredSums } from './statistic-store.ts';

/** A day is added up once its calls have been quiet for so long: until then statistics read the calls. */
const QUIET_MS = 60_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const DAYS_PER_RUN = 200;
/** The sums of a value that so many calls of a day have are stored as well: fewer are added up quickly enough when they are asked for. */
const FREQUENT_CALLS = 2_000;

/**
 * Stores the sums of days whose calls have changed. It takes no lock that a change of a call waits for: a day that changes
 * meanwhile is left for a later run.
 */
export async function maintainStatistics(
  { carryOver, statistics }: { readonly carryOver: CarryOver; readonly statistics: StatisticStore },
  { quietMs = QUIET_MS, frequentCalls = FREQUENT_CALLS, forMs = RUN_MS } = {},
): Promise<void> {
  // Sums of calls that are not carried over yet would not hear of their changes.
  if (!(await carryOver.isDone())) return;
  await statistics.foldChanges();
  const changed = await statistics.changedDays(new Date(Date.now() - quietMs), DAYS_PER_RUN);
  const addUp = ({ firmUuid, beginsAt }: (typeof changed)[number]) =>
    unlessChanged(statistics.snapshot((tx) => addUpDay(statistics, tx, firmUuid, beginsAt, frequentCalls)));
  await attemptEach(changed, addUp, forMs);
}

/** The changes that the transaction sees are in its sums, and later ones stay. */
async function addUpDay(
  statistics: StatisticStore,
  tx: Sql,
  firmUuid: string,
  beginsAt: Date,
  frequentCalls: number,
): Promise<void> {
  const source = { firmUuid, filter: NO_FILTER, words: null, ranges: [rangeOfDay(beginsAt)] };
  const sums = await sumsOfDay(statistics, tx, source, beginsAt, null);
  for (const property of VALUE_PROPERTIES) {
    const names = await statistics.frequent(tx, source, property, frequentCalls);
    if (names.length > 0) sums.push(...(await sumsOfDay(statistics, tx, source, beginsAt, { property, names })));
  }
  await statistics.storeDay(tx, firmUuid, rangeOfDay(beginsAt), sums);
}

async function sumsOfDay(
  statistics: StatisticStore,
  tx: Sql,
  source: Source,
  beginsAt: Date,
  each: Names | null,
): Promise<StoredSums[]> {
  const sums: StoredSums[] = [];
  const add = async (keys: Keys, store: (found: Pick<StoredSums, 'of' | 'byKey'>) => void) => {
    for (const [value, byKey] of await statistics.addEach(tx, source, keys, each))
      store({ of: each && { property: each.property, value }, byKey });
  };
  await add({ by: 'all' }, (found) => sums.push({ period: 'day', beginsAt, by: 'all', ...found }));
  if (sums.length === 0) return sums;
  for (const by of PROPERTY_GROUPINGS)
    await add({ by, tz: 'UTC' }, (found) => sums.push({ period: 'day', beginsAt, by, ...found }));
  for (const period of ['hour', 'quarter'] as const) {
    await add({ by: period }, ({ of, byKey }) => {
      for (const [begins, ofSlot] of byKey)
        sums.push({ period, beginsAt: new Date(Number(begins)), by: 'all', of, byKey: new Map([['', ofSlot]]) });
    });
  }
  return sums;
}

/** Another process may be adding up the same day: serialization failure, unique violation or deadlock. */
async function unlessChanged(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!CHANGED.has(sqlState(error) ?? '')) throw error;
  }
}

const CHANGED = new Set(['40001', '23505', '40P01']);
