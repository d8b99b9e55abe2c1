import { Failures } from '@call-analysis/fault';
import { type Sql, sqlState } from '@call-analysis/postgres';
import type { Store } from '../store/index.ts';
import { FACET_GROUPINGS } from './groupings.ts';
import { dayRange, monthRange, rangeOfSixHours, sixHoursOf } from './periods.ts';
import type { TimeRange } from './statistic-store.ts';

/** Six hours are added up once their calls have been quiet for so long: until then statistics read the calls. */
const QUIET_MS = 60_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const CHANGES_PER_RUN = 800;

type Stored = Parameters<Store['statistics']['store']>[2][number];

/**
 * Stores the sums of six hours whose calls have changed, of days of which all six hours have sums, and of months whose days
 * all have sums. It takes no lock that indexing waits for: a day that changes meanwhile is left for the next run.
 */
export async function maintainStatistics({ store }: { store: Store }, quietMs = QUIET_MS): Promise<void> {
  const deadline = Date.now() + RUN_MS;
  const changed = await store.statistics.changedPeriods(new Date(Date.now() - quietMs), CHANGES_PER_RUN);
  const months = new Map<string, { firm: number; day: string }>();
  const failures = new Failures();
  for (const ofDay of Map.groupBy(changed, ({ firm, day }) => `${firm} ${day}`).values()) {
    if (Date.now() > deadline) break;
    const { firm, day } = ofDay[0]!;
    await failures.attempt(async () => {
      const missing = await store.statistics.noteMissing(firm, sixHoursOf(day));
      const begins = [...ofDay.map(({ beginsAt }) => beginsAt), ...missing];
      if (await unlessChanged(store.statistics.snapshot((tx) => addUpDay(store, tx, firm, day, begins))))
        months.set(`${firm} ${day.slice(0, 7)}`, { firm, day });
    });
  }
  for (const { firm, day } of months.values()) {
    const addUp = () => unlessChanged(store.statistics.snapshot((tx) => addUpMonth(store, tx, firm, day)));
    await failures.attempt(addUp);
  }
  failures.throwAll();
}

/** Adds up these six hours of a day, and the day itself when all of them have sums. */
async function addUpDay(
  { statistics }: Store,
  tx: Sql,
  firm: number,
  day: string,
  changed: readonly Date[],
): Promise<void> {
  for (const beginsAt of changed) await addUpSixHours(statistics, tx, firm, beginsAt);
  await addUpStored(statistics, tx, firm, { from: 'six_hours', begins: sixHoursOf(day) }, 'day', dayRange(day));
  // Last: it waits for a transaction that is changing the day, and then fails.
  for (const beginsAt of changed) await statistics.settle(tx, firm, beginsAt);
}

async function addUpSixHours(statistics: Store['statistics'], tx: Sql, firm: number, beginsAt: Date): Promise<void> {
  const range = rangeOfSixHours(beginsAt);
  const source = { firm, ranges: [range] };
  const all = await statistics.add(tx, source, { by: 'all' });
  const sums: Stored[] = [{ period: 'six_hours', beginsAt, kind: 'all', byKey: all }];
  // Many nights have no calls.
  const isEmpty = all.size === 0;
  for (const by of isEmpty ? [] : FACET_GROUPINGS) {
    const byKey = await statistics.add(tx, source, { by, tz: 'UTC' });
    sums.push({ period: 'six_hours', beginsAt, kind: by, byKey });
  }
  for (const slot of isEmpty ? [] : (['hour', 'quarter'] as const)) {
    for (const [begins, ofSlot] of await statistics.add(tx, source, { by: slot }))
      sums.push({ period: slot, beginsAt: new Date(Number(begins)), kind: 'all', byKey: new Map([['0', ofSlot]]) });
  }
  const replaced = (['six_hours', 'hour', 'quarter'] as const).map((period) => ({ period, range }));
  await statistics.store(tx, firm, sums, replaced);
  await statistics.declare(tx, firm, { period: 'six_hours', beginsAt });
}

async function addUpMonth({ statistics }: Store, tx: Sql, firm: number, day: string): Promise<void> {
  const range = monthRange(day);
  const days = await statistics.daysOfMonth(tx, firm, day.slice(0, 7));
  const begins = days.map((each) => dayRange(each).from);
  await addUpStored(statistics, tx, firm, { from: 'day', begins }, 'month', range);
}

/** Stores the sums of a period from those of the periods that it consists of, if all of these have them. */
async function addUpStored(
  statistics: Store['statistics'],
  tx: Sql,
  firm: number,
  { from, begins }: { readonly from: 'six_hours' | 'day'; readonly begins: readonly Date[] },
  period: 'day' | 'month',
  range: TimeRange,
): Promise<void> {
  if ((await statistics.hold(tx, firm, from, begins)) < begins.length) return;
  const sums: Stored[] = [];
  for (const kind of ['all', ...FACET_GROUPINGS] as const) {
    const byKey = await statistics.addStored(tx, firm, from, kind, begins);
    sums.push({ period, beginsAt: range.from, kind, byKey });
  }
  await statistics.store(tx, firm, sums, [{ period, range }]);
  await statistics.declare(tx, firm, { period, beginsAt: range.from });
}

/** False when the calls have changed meanwhile: serialization failure, unique violation or deadlock. */
async function unlessChanged(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (CHANGED.has(sqlState(error) ?? '')) return false;
    throw error;
  }
}

const CHANGED = new Set(['40001', '23505', '40P01']);
