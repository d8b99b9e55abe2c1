import { type Sql, sqlState } from '@call-analysis/postgres';
import type { Store } from '../store/index.ts';
import { FACET_GROUPINGS } from './groupings.ts';
import { dayRange, monthRange } from './periods.ts';
import { mergeAll } from './read-statistics.ts';

/** A day is added up once it has been quiet for so long: until then statistics read its calls. */
const QUIET_MS = 60_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const DAYS_PER_RUN = 200;

/**
 * Stores the sums of days whose calls have changed, and of months whose days all have sums. It takes no lock that indexing
 * waits for: a day that changes meanwhile is left for the next run.
 */
export async function maintainStatistics({ store }: { store: Store }, quietMs = QUIET_MS): Promise<void> {
  const deadline = Date.now() + RUN_MS;
  const days = await store.statistics.changedDays(new Date(Date.now() - quietMs), DAYS_PER_RUN);
  const months = new Map<string, { firm: number; day: string }>();
  for (const { firm, day } of days) {
    if (Date.now() > deadline) break;
    if (await unlessChanged(store.statistics.snapshot((tx) => addUpDay(store, tx, firm, day))))
      months.set(`${firm} ${day.slice(0, 7)}`, { firm, day });
  }
  for (const { firm, day } of months.values()) {
    await unlessChanged(store.statistics.snapshot((tx) => addUpMonth(store, tx, firm, day)));
  }
}

async function addUpDay({ statistics }: Store, tx: Sql, firm: number, day: string): Promise<void> {
  const range = dayRange(day);
  const source = { firm, ranges: [range] };
  const ofDay = [{ kind: 'all', byKey: await statistics.add(tx, source, { by: 'all' }) }];
  for (const by of FACET_GROUPINGS) {
    ofDay.push({ kind: by, byKey: await statistics.add(tx, source, { by, tz: 'UTC' }) });
  }
  const sums: Parameters<typeof statistics.store>[2][number][] = ofDay.map((each) => ({
    ...each,
    period: 'day',
    beginsAt: range.from,
  }));
  for (const slot of ['hour', 'quarter'] as const) {
    for (const [begins, ofSlot] of await statistics.add(tx, source, { by: slot }))
      sums.push({ period: slot, beginsAt: new Date(Number(begins)), kind: 'all', byKey: new Map([['0', ofSlot]]) });
  }
  await statistics.store(
    tx,
    firm,
    sums,
    (['day', 'hour', 'quarter'] as const).map((period) => ({ period, range })),
  );
  await statistics.declare(tx, firm, { period: 'day', beginsAt: range.from });
  // Last: it waits for a transaction that is changing the day, and then fails.
  await statistics.settle(tx, firm, day);
}

async function addUpMonth({ statistics }: Store, tx: Sql, firm: number, day: string): Promise<void> {
  const range = monthRange(day);
  const first = range.from.toISOString().slice(0, 10);
  const next = range.to.toISOString().slice(0, 10);
  const days = (await statistics.daysOfFirm(tx, firm, first, next)).map((each) => dayRange(each).from);
  if ((await statistics.holdDays(tx, firm, days)) < days.length) return;
  const sums: Parameters<typeof statistics.store>[2][number][] = [];
  for (const kind of ['all', ...FACET_GROUPINGS] as const) {
    const byKey = mergeAll([await statistics.addStored(tx, firm, 'day', kind, days)]);
    sums.push({ period: 'month', beginsAt: range.from, kind, byKey });
  }
  await statistics.store(tx, firm, sums, [{ period: 'month', range }]);
  await statistics.declare(tx, firm, { period: 'month', beginsAt: range.from });
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
