import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { NO_FILTER } from '../listing/call-filter.ts';
import {
  anyFilter,
  bodyOf,
  type Call,
  CallListing,
  insertReviews,
  judge,
  DAY,
  BEGIN,
  modelled,
  NEWEST,
  sampleCalls,
} from '../test/call-listing.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { GROUPINGS, type Grouping } from './groupings.ts';
import { maintainStatistics } from './maintain-statistics.ts';
import { type Statistics, readStatistics } from './read-statistics.ts';

const HOUR = DAY / 24;

const service = new IngestUnderTest();
const listing = new CallListing(service);

type Filter = Parameters<typeof modelled>[1];

const read = (firmUuid: string, groupBy: Grouping, filter: Filter, tz: string) =>
  readStatistics(service.deps, firmUuid, { groupBy, filter, tz, sort: null, limit: 1000 });

/** All changed days, whenever they changed and however long it takes. */
const AT_ONCE = { quietMs: -1_000, forMs: Infinity };

/** Filters of which the sums of frequent values are stored. */
const ONE_VALUE: readonly Partial<Filter>[] = [
  { operator_name: 'AZIZA' },
  { operator_group_name: 'nighT' },
  { segment_type: ['support'] },
  { language: 'uz' },
];

/** The keys of a call, as plain SQL has them. */
const KEYS: Record<Grouping, string> = {
  hour: `ARRAY[to_char(start_time AT TIME ZONE $3, 'HH24')]`,
  day: `ARRAY[to_char(start_time AT TIME ZONE $3, 'YYYY-MM-DD')]`,
  week: `ARRAY[to_char(start_time AT TIME ZONE $3, 'IYYY-"W"IW')]`,
  month: `ARRAY[to_char(start_time AT TIME ZONE $3, 'YYYY-MM')]`,
  operator_name: 'ARRAY[lower(operator_name)]',
  operator_group_name: 'ARRAY[lower(operator_group_name)]',
  segment_type: 'ARRAY[segment_type]',
  language: 'ARRAY[language]',
  status: 'ARRAY[status]',
  topic: 'topics',
  resolution: 'ARRAY[resolution]',
  scorecard: 'ARRAY[scorecard]',
  question: 'points_of',
};

/** The same numbers by plain SQL over the catalogue, for calls that a plain filter chooses. */
async function plainly(firmUuid: string, groupBy: Grouping, calls: readonly Call[], filter: Filter, tz: string) {
  const uuids = modelled(calls, filter, NEWEST);
  const facts = calls.map(({ uuid, facts: known }) => ({
    uuid,
    has: known !== null,
    failed: known?.autoFailed ?? false,
    open: known?.needsReview ?? 0,
    silence: known?.silence ?? null,
    topics: known === null || known.topics.length === 0 ? [null] : known.topics,
    resolution: known?.resolution ?? null,
    points_of: (known?.points ?? []).filter(([, points]) => points !== null).map(([question]) => question),
  }));
  const rows = await service.db.query<Record<string, number | string | null>>(
    `WITH facts AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS f (uuid uuid, has boolean, failed boolean, open int, silence float8,
       topics text[], resolution text, points_of text[])),
     chosen AS (SELECT call.*, facts.*, CASE WHEN has THEN '00000000-0000-7000-8000-00000000aaaa' END AS scorecard
       FROM call JOIN facts USING (uuid) WHERE firm_uuid = $1 AND call.uuid = ANY($4)),
     keyed AS (SELECT chosen.*, key FROM chosen CROSS JOIN LATERAL unnest(
       CASE WHEN cardinality(${KEYS[groupBy]}) = 0 THEN ARRAY[NULL] ELSE ${KEYS[groupBy]} END) AS key)
     SELECT key, count(*) AS calls, count(score) AS scored, round(avg(round(score * 10)::numeric) / 10, 1)::float8 AS average,
       percentile_cont(0.1) WITHIN GROUP (ORDER BY score) AS p10, percentile_cont(0.5) WITHIN GROUP (ORDER BY score) AS p50,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY score) AS p90,
       count(*) FILTER (WHERE failed) AS auto_failed, count(*) FILTER (WHERE open > 0) AS needs_review,
       count(*) FILTER (WHERE reviewed_at IS NOT NULL) AS reviewed, round(avg(duration::numeric), 1)::float8 AS duration_average,
       round(avg(silence::numeric), 3)::float8 AS silence_ratio
     FROM keyed WHERE $3::text IS NOT NULL GROUP BY key`,
    [firmUuid, JSON.stringify(facts), tz, uuids].slice(0, 4),
  );
  return rows;
}

const folded = (groupBy: Grouping, key: string | null) =>
  groupBy === 'operator_name' || groupBy === 'operator_group_name' ? (key?.toLowerCase() ?? null) : key;

async function expectExact(firmUuid: string, calls: readonly Call[], groupBy: Grouping, filter: Filter, tz: string) {
  const [found, plain] = await Promise.all([
    read(firmUuid, groupBy, filter, tz),
    plainly(firmUuid, groupBy, calls, filter, tz),
  ]);
  const got = new Map(found.items.map((item: Statistics['items'][number]) => [folded(groupBy, item.key), item]));
  expect([...got.keys()].toSorted()).toEqual(plain.map(({ key }) => key).toSorted());
  for (const row of plain) {
    const item = got.get(row['key'] as string | null)!;
    for (const name of [
      'calls',
      'scored',
      'auto_failed',
      'needs_review',
      'reviewed',
      'duration_average',
      'silence_ratio',
    ] as const)
      expect([groupBy, row['key'], name, item[name]]).toEqual([groupBy, row['key'], name, row[name]]);
    expect(item.score.average).toBe(row['average']);
    for (const name of ['p10', 'p50', 'p90'] as const) {
      if (row[name] === null) expect(item.score[name]).toBeNull();
      // PostgreSQL interpolates in binary fractions, so a tie may be rounded either way.
      else expect(Math.abs(item.score[name]! - (row[name] as number))).toBeLessThanOrEqual(0.0501);
    }
  }
  expect(found.total.calls).toBe(modelled(calls, filter, NEWEST).length);
}

it('equals plain SQL after any history of completion, review, re-analysis and erasure, however far it is added up', async () => {
  const firmUuid = randomUUID();
  let calls = sampleCalls(120, 5);
  await listing.add(firmUuid, calls);
  const random = fc.sample(
    fc.record({
      action: fc.constantFrom('review', 'analyze', 'erase', 'complete', 'add up', 'add up'),
      which: fc.nat(),
      groupBy: fc.constantFrom(...GROUPINGS),
      filter: fc.oneof(
        fc.constant(NO_FILTER),
        fc
          .record({ from: fc.integer({ min: -1, max: 12 }), days: fc.integer({ min: 0, max: 60 }) })
          .map(({ from, days }) => ({
            ...NO_FILTER,
            started_from: new Date(BEGIN + (from * DAY) / 3).toISOString(),
            started_to: new Date(BEGIN + from * DAY + days * DAY).toISOString(),
          })),
        fc.constantFrom(...ONE_VALUE).map((value) => ({ ...NO_FILTER, ...value })),
        anyFilter,
      ),
      tz: fc.constantFrom('UTC', 'Asia/Tashkent', 'Asia/Kathmandu', 'America/St_Johns', 'America/New_York'),
    }),
    { numRuns: 60, seed: 3 },
  );
  for (const { action, which, groupBy, filter, tz } of random) {
    const call = calls[which % calls.length]!;
    if (action === 'add up') {
      await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 2 });
    }
    if (action === 'erase') {
      await service.db.query('DELETE FROM call WHERE uuid = $1', [call.uuid]);
      calls = calls.filter((each) => each !== call);
    }
    if (action === 'review' && call.facts !== null) {
      call.reviewed = !call.reviewed;
      call.score = 33.3;
      await service.db.query(
        'UPDATE call SET score = 33.3, reviewed_at = CASE WHEN $2 THEN now() END, needs_review = $3 WHERE uuid = $1',
        [call.uuid, call.reviewed, which % 7],
      );
      await service.db.query('UPDATE analysis SET body = $2 WHERE call_uuid = $1', [call.uuid, bodyOf(call.facts)]);
      await service.db.transaction((tx) => insertReviews(tx, firmUuid, [call]));
    }
    if ((action === 'analyze' || action === 'complete') && call.outcome !== 'no_speech') {
      Object.assign(call, { status: 'completed', outcome: 'scored', score: (which % 1001) / 10, reviewed: false });
      call.facts = {
        needsReview: which % 3,
        autoFailed: which % 2 === 0,
        suspected: which % 3 === 0,
        topics: ['price'],
        resolution: 'resolved',
        silence: 0.25,
        // No question applies to some.
        points: [
          ['00000000-0000-7000-8000-000000000001', which % 4 === 0 ? null : 1, 1],
          ['00000000-0000-7000-8000-000000000002', which % 4 === 0 ? null : 0.5, 2],
        ],
      };
      await service.db.query(
        `INSERT INTO analysis (uuid, firm_uuid, call_uuid, body, created_at) VALUES (gen_random_uuid(), $1, $2, $3, now() + interval '1 day' * $4)`,
        [firmUuid, call.uuid, bodyOf(call.facts), (which % 100) + 1],
      );
      await service.db.query(
        'DELETE FROM analysis WHERE call_uuid = $1 AND created_at < (SELECT max(created_at) FROM analysis WHERE call_uuid = $1)',
        [call.uuid],
      );
      await service.db.query(
        `UPDATE call SET status = 'completed', outcome = 'scored', score = $2, reviewed_at = NULL, needs_review = $3, duration = coalesce(duration, 0.5) + 1 WHERE uuid = $1`,
        [call.uuid, call.score, which % 3],
      );
      call.duration = (call.duration ?? 0.5) + 1;
      await service.db.transaction((tx) => judge(tx, firmUuid, call));
    }
    await expectExact(firmUuid, calls, groupBy, filter, tz);
  }
  for (let run = 0; run < 3; run += 1) await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 2 });
  const [stored] = await service.db.query<{ days: number; changes: number }>(
    'SELECT (SELECT count(*) FROM statistic_day) AS days, (SELECT count(*) FROM statistic_change) AS changes',
  );
  expect(stored!.days).toBeGreaterThan(5);
  expect(stored!.changes).toBe(0);
  // Days of Tashkent, New York and Kathmandu, of which some parts of UTC's days are added and others subtracted.
  const inZone = (hours: number) => ({
    ...NO_FILTER,
    started_from: new Date(BEGIN + 2 * DAY + hours * HOUR).toISOString(),
    started_to: new Date(BEGIN + 33 * DAY + hours * HOUR).toISOString(),
  });
  for (const groupBy of GROUPINGS) {
    for (const tz of ['UTC', 'Asia/Kathmandu']) await expectExact(firmUuid, calls, groupBy, NO_FILTER, tz);
    for (const hours of [-5, 4, -5.75]) await expectExact(firmUuid, calls, groupBy, inZone(hours), 'UTC');
    for (const value of ONE_VALUE)
      await expectExact(firmUuid, calls, groupBy, { ...inZone(5), ...value }, 'Asia/Tashkent');
  }
});

it('reads no calls where a filter by one property has a value that was frequent on all days', async () => {
  const firmUuid = randomUUID();
  const calls = sampleCalls(40, 6).map((call, index): Call => ({
    ...call,
    start: BEGIN + (index % 4) * DAY + index * 60_000,
    operator: index % 3 === 0 ? 'AZIZA' : 'Aziza',
    team: 'Day',
    segment: 'sales',
    language: 'en',
  }));
  await listing.add(firmUuid, calls);
  const { statistics } = service.deps;
  const add = () => Promise.reject(new Error('reads calls'));
  const stored = { ...service.deps, statistics: { ...statistics, add } };
  const one = { language: 'en' as const };
  const ask = (groupBy: Grouping, value: Partial<Filter>) =>
    readStatistics(stored, firmUuid, {
      groupBy,
      filter: { ...NO_FILTER, ...value },
      tz: 'UTC',
      sort: null,
      limit: 1000,
    });
  await expect(ask('day', one)).rejects.toThrow('reads calls');
  await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 11 });
  await expect(ask('day', one)).rejects.toThrow('reads calls');
  await service.db.query('UPDATE listed_call SET score = score WHERE firm_uuid = $1', [firmUuid]);
  await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 10 });
  for (const groupBy of GROUPINGS) {
    for (const value of [{ operator_name: 'aziza' }, { operator_group_name: 'DAY' }, { segment_type: ['sales'] }, one])
      expect(await ask(groupBy, value)).toMatchObject({ total: { calls: calls.length } });
  }
});

it('equals plain SQL after calls have changed while they were added up', async () => {
  const firmUuid = randomUUID();
  const calls = sampleCalls(60, 9);
  await listing.add(firmUuid, calls);
  const random = fc.sample(fc.nat(), { numRuns: 150, seed: 4 });
  const change = async () => {
    for (const which of random) {
      await service.db.query('UPDATE call SET duration = coalesce(duration, 0) + $2 WHERE uuid = $1', [
        calls[which % calls.length]!.uuid,
        1 + (which % 5),
      ]);
    }
  };
  const over = new AbortController();
  const maintain = async () => {
    while (!over.signal.aborted) await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 2 });
  };
  await Promise.all([change().finally(() => over.abort()), maintain(), maintain()]);
  // What was discarded is not added up again here: what is left must be right.
  for (const groupBy of GROUPINGS) await expectExact(firmUuid, calls, groupBy, NO_FILTER, 'Asia/Tashkent');
  await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 2 });
  for (const groupBy of GROUPINGS) await expectExact(firmUuid, calls, groupBy, NO_FILTER, 'Asia/Tashkent');
});

it('counts the calls of December 9999, which stands for an unknown time, once they are added up', async () => {
  const firmUuid = randomUUID();
  const calls = sampleCalls(12, 5).map((call, index) => ({ ...call, start: Date.UTC(9999, 11, 20 + index, 23) }));
  await listing.add(firmUuid, calls);
  await maintainStatistics(service.deps, { ...AT_ONCE, frequentCalls: 2 });
  for (const groupBy of ['month', 'segment_type'] as const)
    await expectExact(firmUuid, calls, groupBy, NO_FILTER, 'UTC');
});

it('has no groups for a firm without calls, and refuses a time zone that is not known', async () => {
  const nothing = await read(randomUUID(), 'day', NO_FILTER, 'UTC');
  expect(nothing).toMatchObject({ items: [], total: { calls: 0, score: { p50: null } } });
  // PostgreSQL alone has Factory.
  for (const zone of ['Mars/Olympus', 'Factory'])
    await expect(read(randomUUID(), 'day', NO_FILTER, zone)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'tz', code: 'INVALID' }] },
    });
});
