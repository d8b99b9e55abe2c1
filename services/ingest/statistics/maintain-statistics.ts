import { attemptEach } from '@call-analysis/fault';
import { type Sql, sqlState } from '@call-analysis/postgres';
import type { CarryOver } from '../listing/carry-over-store.ts';
import { PROPERTY_GROUPINGS } from './groupings.ts';
import { rangeOfDay } from './periods.ts';
import type { StatisticStore, StoredSums } from './statistic-store.ts';

/** A day is added up once its calls have been quiet for so long: until then statistics read the calls. */
const QUIET_MS = 60_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const DAYS_PER_RUN = 200;

/**
 * Stores the sums of days whose calls have changed. It takes no lock that a change of a call waits for: a day that changes
 * meanwhile is left for a later run.
 */
export async function maintainStatistics(
  { carryOver, statistics }: { readonly carryOver: CarryOver; readonly statistics: StatisticStore },
  quietMs = QUIET_MS,
): Promise<void> {
  // Sums of calls that are not carried over yet would not hear of their changes.
  if (!(await carryOver.isDone())) return;
  await statistics.foldChanges();
  const changed = await statistics.changedDays(new Date(Date.now() - quietMs), DAYS_PER_RUN);
  const addUp = ({ firmUuid, beginsAt }: (typeof changed)[number]) =>
    unlessChanged(statistics.snapshot((tx) => addUpDay(statistics, tx, firmUuid, beginsAt)));
  await attemptEach(changed, addUp, RUN_MS);
}

/** The changes that the transaction sees are in its sums, and later ones stay. */
async function addUpDay(statistics: StatisticStore, tx: Sql, firmUuid: string, beginsAt: Date): Promise<void> {
  const source = { firmUuid, ranges: [rangeOfDay(beginsAt)] };
  const all = await statistics.add(tx, source, { by: 'all' });
  const sums: StoredSums[] = [{ period: 'day', beginsAt, kind: 'all', byKey: all }];
  const isEmpty = all.size === 0;
  for (const by of isEmpty ? [] : PROPERTY_GROUPINGS) {
    sums.push({ period: 'day', beginsAt, kind: by, byKey: await statistics.add(tx, source, { by, tz: 'UTC' }) });
  }
  for (const slot of isEmpty ? [] : (['hour', 'quarter'] as const)) {
    for (const [begins, ofSlot] of await statistics.add(tx, source, { by: slot }))
      sums.push({ period: slot, beginsAt: new Date(Number(begins)), kind: 'all', byKey: new Map([['', ofSlot]]) });
  }
  await statistics.storeDay(tx, firmUuid, rangeOfDay(beginsAt), sums);
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
