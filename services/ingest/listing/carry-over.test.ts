import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, migrate, openDatabase, type Sql } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { freshDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { openStores, type Stores } from '../deps.ts';
import { maintainStatistics } from '../statistics/maintain-statistics.ts';
import { readStatistics } from '../statistics/read-statistics.ts';
import {
  anyFilter,
  anySort,
  bodyOf,
  type Call,
  insertCalls,
  insertReviews,
  judge,
  modelled,
  sampleCalls,
} from '../test/call-listing.ts';
import { NO_FILTER } from './call-filter.ts';
import { listCalls } from './list-calls.ts';

const MIGRATIONS = new URL('../prisma/migrations', import.meta.url);
const THIS = '20261126210000_listed_calls';
const schema = 'ingest';

let url: string;
let db: Database;
let stores: Stores;
const closing: (() => Promise<unknown>)[] = [];
const firmUuid = randomUUID();
const calls = sampleCalls(620, 21);
/** Their last change is missing from the former index. */
const stale = calls.slice(0, 20);

beforeAll(async () => {
  const database = await freshDatabase();
  closing.push(() => database.drop());
  url = database.url(schema);
  const former = await mkdtemp(join(tmpdir(), 'call-analysis-migrations-'));
  for (const name of await readdir(fileURLToPath(MIGRATIONS)))
    if (name < THIS)
      await cp(new URL(`../prisma/migrations/${name}`, import.meta.url), join(former, name), { recursive: true });
  await migrate({ url, schema, folder: former });
  await rm(former, { recursive: true });
  db = openDatabase({ url, schema });
  closing.push(() => db.close());
  await db.transaction(async (tx) => {
    await insertCalls(tx, firmUuid, calls, '<operator>Hello');
    await tx.query('TRUNCATE call_change');
    for (const call of calls) if (!stale.includes(call)) await indexFormerly(tx, call);
    for (const { uuid } of stale)
      await tx.query('INSERT INTO call_change (firm_uuid, first, last) VALUES ($1, $2, $2)', [firmUuid, uuid]);
  });
  await migrate({ url, schema, folder: MIGRATIONS });
  // As autovacuum does in a minute: without statistics of the tables, lists take ten times as long.
  await db.query('ANALYZE');
  await db.transaction((tx) => insertReviews(tx, firmUuid, calls));
  const own = openDatabase({ url, schema });
  closing.push(() => own.close());
  stores = openStores(own, url);
  closing.push(() => stores.close());
});

afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Writes what the last release had in its index: of the analysis by ids of facets. */
async function indexFormerly(tx: Pick<Database, 'query'>, { uuid, start, facts }: Call): Promise<void> {
  const facet = async (kind: string, value: string) => {
    const [row] = await tx.query<{ id: number }>(
      `INSERT INTO facet (firm_uuid, kind, value) VALUES ($1, $2, $3)
       ON CONFLICT (firm_uuid, kind, value) DO UPDATE SET calls = facet.calls + 1 RETURNING id`,
      [firmUuid, kind, value],
    );
    return row!.id;
  };
  const ids = async (kind: string, values: readonly string[]) => {
    const all: number[] = [];
    for (const value of values) all.push(await facet(kind, value));
    return all.length === 0 ? null : all;
  };
  const firm = await facet('all', '');
  const day = await facet('day', new Date(start).toISOString().slice(0, 10));
  const points = (facts?.points ?? []).filter(([, reached]) => reached !== null);
  const lost = await ids(
    'lost',
    points.filter(([, reached, max]) => reached! < max).map(([question]) => question),
  );
  const resolution = facts?.resolution ?? null;
  await tx.query(
    `INSERT INTO call_search (firm, uuid, start_time, score, state, origin, segment, operator, day, mark, tags, resolution, scorecard,
       topics, open_answers, auto_failed, silence)
     VALUES ($1, $2, to_timestamp($3 / 1000.0), 0, 0, 0, 0, 0, $4, 0, $5::int[]::bigint[], $6, $7, $8, $9, $10, $11)`,
    [
      firm,
      uuid,
      start,
      day,
      lost,
      resolution === null ? null : await facet('resolution', resolution),
      facts === null ? null : await facet('scorecard', '00000000-0000-7000-8000-00000000aaaa'),
      await ids('topic', facts?.topics ?? []),
      facts?.needsReview ?? 0,
      facts?.autoFailed ?? false,
      facts === null || facts.silence === null ? null : facts.silence * 1_000_000,
    ],
  );
  if (points.length === 0) return;
  await tx.query('INSERT INTO call_points (firm, uuid, questions, points, max_points) VALUES ($1, $2, $3, $4, $5)', [
    firm,
    uuid,
    await ids(
      'question',
      points.map(([question]) => question),
    ),
    points.map(([, reached]) => reached! * 1000),
    points.map(([, , max]) => max * 1000),
  ]);
}

async function expectRight(known: readonly Call[], numRuns: number): Promise<void> {
  const isCarriedOver = await stores.carryOver.isDone();
  await fc.assert(
    fc.asyncProperty(anyFilter, anySort, async (given, sort) => {
      // The last release had neither suspicions nor revisions of scorecards in its index.
      const filter = isCarriedOver
        ? given
        : { ...given, auto_fail_suspected: undefined, scorecard_revision: undefined };
      const { items, count } = await listCalls(stores, firmUuid, { filter, sort, page: 1, cursor: null, size: 100 });
      const expected = modelled(known, filter, sort);
      expect([items.map(({ uuid }) => uuid), count]).toEqual([expected.slice(0, 100), expected.length]);
    }),
    { numRuns },
  );
  const { items, total } = await readStatistics(stores, firmUuid, {
    groupBy: 'question',
    filter: NO_FILTER,
    tz: 'UTC',
    sort: null,
    limit: 10,
  });
  const answered = known.flatMap(({ facts }) => facts?.points ?? []).filter(([, reached]) => reached !== null);
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
  const ratio = sum(answered.map(([, reached]) => reached!)) / sum(answered.map(([, , max]) => max));
  expect([total.calls, total.points_ratio]).toEqual([known.length, Math.round(ratio * 1000) / 1000]);
  expect(items.filter(({ key }) => key !== null)).toHaveLength(2);
}

const sumsIn = (tx: Sql) =>
  stores.statistics.add(tx, { firmUuid, filter: NO_FILTER, words: null }, { by: 'question', tz: 'UTC' });

/** Statistics of the present state of the database, of which the first calls are read when it is released. */
function sumsWhenReleased() {
  const [began, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sums = stores.statistics.snapshot(async (tx) => {
    await tx.query('SELECT');
    began.resolve();
    await released.promise;
    return sumsIn(tx);
  });
  return { began: began.promise, release: released.resolve, sums };
}

async function remain(): Promise<boolean> {
  const rows = await db.query(
    `SELECT FROM call JOIN listing_carry_over AS last ON (call.firm_uuid, call.uuid) > (last.firm_uuid, last.uuid) LIMIT 1`,
  );
  return rows.length > 0;
}

async function endWaits(): Promise<boolean> {
  const rows = await db.query("SELECT FROM pg_locks WHERE NOT granted AND relation = 'call_search'::regclass");
  return rows.length > 0;
}

it('lists and statistics of calls of the last release are right while these are carried over and change meanwhile', async () => {
  // The first step takes those of which the former index lacked a change, and lists wait for it.
  const waiting = expectRight(calls, 15);
  expect(await stores.carryOver.step()).toEqual({ carried: 0, isElsewhere: false });
  await waiting;
  const suspected = { ...NO_FILTER, auto_fail_suspected: true };
  await expect(stores.listing.count({ firmUuid, filter: suspected, words: null })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  const sums = await stores.statistics.snapshot(sumsIn);
  const read = sumsWhenReleased();
  await read.began;
  let known = calls;
  for (let at = 30; await remain(); at += 20) {
    await stores.carryOver.step();
    const [erased, changed, analyzed] = [known[at]!, known[at + 1]!, known[at + 510]!];
    await db.query('DELETE FROM call WHERE uuid = $1', [erased.uuid]);
    known = known.filter((call) => call !== erased);
    Object.assign(changed, { status: 'failed', score: 12.3 });
    await db.query(`UPDATE call SET status = 'failed', score = 12.3 WHERE uuid = $1`, [changed.uuid]);
    if (analyzed.facts !== null) {
      analyzed.facts = { ...analyzed.facts, topics: ['delivery'], autoFailed: true };
      await db.query('UPDATE analysis SET body = $2 WHERE call_uuid = $1', [analyzed.uuid, bodyOf(analyzed.facts)]);
      await db.transaction((tx) => judge(tx, firmUuid, analyzed));
    }
    await expectRight(known, 15);
  }
  const end = stores.carryOver.step();
  await Promise.race([end, waitUntil(endWaits)]);
  read.release();
  expect(await read.sums).toEqual(sums);
  expect(await end).toBeNull();
  // A run lasts some seconds at most, in which a busy machine may not add up all days.
  while ((await db.query('SELECT FROM statistic_change')).length > 0) await maintainStatistics(stores, { quietMs: 0 });
  await expectRight(known, 60);
  for (const table of ['facet', 'call_search', 'call_points', 'listing_stale'])
    expect(await db.query(`SELECT FROM ${table}`)).toEqual([]);
});
