import { randomUUID } from 'node:crypto';
import { schema } from '@call-analysis/ingest';
import { openDatabase } from '@call-analysis/postgres';
import { Client } from 'pg';
import { openStores, type Stores } from '../../../services/ingest/deps.ts';
import { type CallFilter, NO_FILTER } from '../../../services/ingest/listing/call-filter.ts';
import { GROUPINGS, type Grouping } from '../../../services/ingest/statistics/groupings.ts';
import { maintainStatistics } from '../../../services/ingest/statistics/maintain-statistics.ts';
import { readStatistics } from '../../../services/ingest/statistics/read-statistics.ts';
import { atMost, type Figure, quantile } from '../../harness/figure.ts';
import { load, timed, withIngestDatabase } from './ingest-database.ts';

const DAY_MS = 86_400_000;
/** The calls are spread over a year and a day, so that a year in any time zone is within them. */
const DAYS = 367;
const END = Date.UTC(2026, 9, 1);
const BEGIN = END - DAYS * DAY_MS;
/** Calls of one INSERT: the triggers keep its rows. */
const ROWS_PER_INSERT = 500_000;

const HOUR_MS = DAY_MS / 24;

interface Zone {
  readonly tz: string;
  /** Ahead of UTC. */
  readonly hours: number;
}

/** Requests alternate between these. Only in UTC do periods begin and end with days whose sums are stored. */
const ZONES: readonly Zone[] = [
  { tz: 'UTC', hours: 0 },
  { tz: 'Asia/Tashkent', hours: 5 },
  { tz: 'Asia/Kathmandu', hours: 5.75 },
  { tz: 'America/New_York', hours: -4 },
];

/** Those of the dashboard, and a topic. */
const FILTERS: readonly (readonly [string, Partial<CallFilter>])[] = [
  ['an operator', { operator_name: 'operator 7' }],
  ['a group', { operator_group_name: 'team 7' }],
  ['a segment type', { segment_type: ['segment 0'] }],
  ['a language', { language: 'en' }],
  ['a topic', { topic: 'topic 7' }],
];
const FILTER_LIMIT_MS = 1_000;

const PERIODS = [
  { name: '31 days', days: 31, limitMs: 300 },
  { name: 'a year', days: 365, limitMs: 1_000 },
];

/**
 * The 95th percentile of the time of statistics in a firm with ten million calls, for every grouping. The yardstick is one
 * plain aggregate of the same calls by operator in SQL. A call of the last day has just changed, so that its calls are added up.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const perDay = Math.ceil((quick ? 100_000 : 10_000_000) / DAYS);
  const calls = perDay * DAYS;
  return withIngestDatabase(async (url) => {
    const firmUuid = randomUUID();
    await timed(`${calls.toLocaleString('en')} calls made`, () => fill(url, firmUuid, perDay));
    const db = openDatabase({ url, schema });
    const stores = openStores(db, url);
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(`SET search_path = ${schema}`);
      await timed('all days added up', () => addUp(stores, client));
      await client.query(
        `UPDATE listed_call SET score = score WHERE start_time >= $1 AND uuid = (SELECT max(uuid::text)::uuid FROM listed_call WHERE start_time >= $1)`,
        [new Date(END - DAY_MS)],
      );
      return await measure(stores, client, firmUuid, quick ? 5 : 20);
    } finally {
      await client.end();
      await stores.close();
      await db.close();
    }
  });
}

/** Adds up one day, whose sums are copied to the others, because all days have the same calls. */
async function addUp(stores: Stores, client: Client): Promise<void> {
  const model = new Date(BEGIN);
  await client.query(
    'CREATE TEMPORARY TABLE other AS SELECT DISTINCT firm_uuid, begins_at AS day FROM statistic_change WHERE begins_at <> $1',
    [model],
  );
  await client.query('DELETE FROM statistic_change WHERE begins_at <> $1', [model]);
  await maintain(stores, client);
  await client.query(
    `INSERT INTO statistic_sum SELECT firm_uuid, period, begins_at + (day - $1::timestamptz), kind, key, amounts, scores
     FROM other JOIN statistic_sum AS added USING (firm_uuid) ORDER BY day, period, kind, key`,
    [model],
  );
  await client.query('INSERT INTO statistic_day SELECT firm_uuid, day FROM other');
  for (const table of ['statistic_sum', 'statistic_day', 'statistic_change'])
    await client.query(`VACUUM ANALYZE ${table}`);
}

/** As the schedule does, without waiting until days are quiet. */
async function maintain(stores: Stores, client: Client): Promise<void> {
  for (;;) {
    await maintainStatistics(stores, { quietMs: 0 });
    const { rows } = await client.query<{ left: number }>('SELECT count(*)::int AS left FROM statistic_change');
    if (rows[0]!.left === 0) return;
  }
}

async function measure(stores: Stores, client: Client, firmUuid: string, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  const ask = (groupBy: Grouping, { tz, hours }: Zone, days: number, before = 0, filter: Partial<CallFilter> = {}) => {
    const endMs = END - before * DAY_MS - hours * HOUR_MS;
    const period = {
      started_from: new Date(endMs - days * DAY_MS).toISOString(),
      started_to: new Date(endMs).toISOString(),
    };
    const request = { groupBy, filter: { ...NO_FILTER, ...filter, ...period }, tz, sort: null, limit: 1_000 };
    return readStatistics(stores, firmUuid, request);
  };
  for (const { name, days, limitMs } of PERIODS) {
    const plainMs = await plainAggregate(client, new Date(END - days * DAY_MS));
    const limitName = `limit (plain SQL takes ${Math.round(plainMs).toLocaleString('en')}), ms`;
    const limit = (value: number) => ({ name: limitName, value });
    const yardstick = limit(limitMs);
    const add = async (what: string, work: (zone: Zone) => Promise<unknown>, most = yardstick) => {
      const times: number[] = [];
      // The first request has its pages neither in the memory of PostgreSQL nor of its connections.
      for (let round = -1; round < rounds; round++) {
        const began = performance.now();
        await work(ZONES[(round + ZONES.length) % ZONES.length]!);
        if (round >= 0) times.push(performance.now() - began);
      }
      const value = quantile(times, 0.95);
      figures.push(atMost(1, { name: `statistics of ${name} ${what}, p95`, value, unit: 'ms', yardstick: most }));
    };
    for (const groupBy of GROUPINGS) await add(`by ${groupBy}`, (zone) => ask(groupBy, zone, days));
    if (days < 100) {
      for (const groupBy of ['day', 'operator_name', 'question'] as const) {
        await add(`by ${groupBy} and those before`, (zone) =>
          Promise.all([ask(groupBy, zone, days), ask(groupBy, zone, days, days)]),
        );
      }
      for (const [what, filter] of FILTERS) {
        for (const groupBy of ['day', 'question'] as const)
          await add(`of ${what} by ${groupBy}`, (zone) => ask(groupBy, zone, days, 0, filter), limit(FILTER_LIMIT_MS));
      }
    }
  }
  return figures;
}

/** The second of two runs, in milliseconds. */
async function plainAggregate(client: Client, from: Date): Promise<number> {
  let tookMs = 0;
  for (let round = 0; round < 2; round++) {
    const began = performance.now();
    await client.query(
      `SELECT operator_name, count(*), avg(score) FILTER (WHERE score >= 0), avg(duration), avg(silence)
       FROM listed_call WHERE start_time >= $1 AND start_time < $2 GROUP BY operator_name`,
      [from, new Date(END)],
    );
    tookMs = performance.now() - began;
  }
  return tookMs;
}

/** Writes rows for lists, of 200 operators, with analyses of ten questions. All days have the same calls. */
async function fill(url: string, firmUuid: string, perDay: number): Promise<void> {
  const calls = perDay * DAYS;
  const insert = async (client: Client) => {
    const share = (seed: number) => `(hashint8extended(place, ${seed}) & 1048575) / 1048576.0::float8`;
    for (let from = 0; from < calls; from += ROWS_PER_INSERT) {
      await client.query(
        `INSERT INTO listed_call (firm_uuid, uuid, start_time, score, status, outcome, source, direction, segment_type, operator_name,
           operator_group_name, client_phone, language, resolution, scorecard_uuid, topics, needs_review, is_reviewed, auto_failed, duration,
           operator_talk, silence, interruptions, client_sentiment)
         SELECT '${firmUuid}', uuid, to_timestamp(at), CASE WHEN one < 0.97 THEN round(1000 * sqrt(other)) ELSE -1 END,
           CASE WHEN one < 0.99 THEN 'completed' ELSE 'failed' END,
           CASE WHEN one < 0.97 THEN 'scored' WHEN one < 0.99 THEN 'no_speech' END,
           (ARRAY['audio', 'transcription'])[1 + place % 2], (ARRAY['inbound', 'outbound'])[1 + place / 2 % 2],
           'segment ' || floor(10 * other * other)::int, 'operator ' || (place * 7919::bigint / 13 % 200)::int,
           'team ' || (place * 7919::bigint / 13 % 20)::int, '99890' || n % 10000000, (ARRAY['en', 'ru', 'uz'])[1 + place % 3],
           'resolution ' || place % 4, ('00000000-0000-7000-8000-00000000000' || place % 2)::uuid,
           ARRAY['topic ' || floor(20 * one)::int, 'topic ' || 20 + floor(20 * other)::int], CASE WHEN other < 0.2 THEN 1 ELSE 0 END,
           other > 0.9, one < 0.02, round(600000 * one), round(600000 * other), round(400000 * one), floor(6 * one), round(100 * other) - 50
         FROM (
           SELECT n, place, ${share(1)} AS one, ${share(2)} AS other, ${BEGIN / 1000} + day * 86400 + place * 86400.0 / ${perDay} AS at,
             (lpad(to_hex(${BEGIN} + day * ${DAY_MS} + place * ${DAY_MS} / ${perDay}), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid AS uuid
           FROM (SELECT n, n / ${perDay} AS day, n % ${perDay} AS place
             FROM generate_series(${from}::bigint, ${Math.min(from + ROWS_PER_INSERT, calls) - 1}) AS n) AS numbered) AS made`,
      );
    }
    await client.query(
      `INSERT INTO listed_points (firm_uuid, uuid, questions, points, max_points)
       SELECT firm_uuid, uuid, ARRAY(SELECT ('00000000-0000-7000-8000-0000000001' || to_char(n, 'FM00'))::uuid FROM generate_series(1, 10) AS n),
         ARRAY[1000, 0, 1000, 500, 1000, score, 0, 1000, 2000, 0], ARRAY[1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 2000, 1000]
       FROM listed_call WHERE score >= 0 ORDER BY uuid`,
    );
  };
  await load(url, ['listed_call'], insert, ['listed_points', 'statistic_change']);
}
