import { randomUUID } from 'node:crypto';
import { schema } from '@call-analysis/ingest';
import { openDatabase } from '@call-analysis/postgres';
import { Client } from 'pg';
import { openStores, type Stores } from '../../../services/ingest/deps.ts';
import { type CallFilter, NO_FILTER, type Sort } from '../../../services/ingest/listing/call-filter.ts';
import { listCalls, type ListCallsRequest } from '../../../services/ingest/listing/list-calls.ts';
import { atMost, type Figure, noted, quantile } from '../../harness/figure.ts';
import { processorMs } from '../../harness/processes.ts';
import { load, timed, withIngestDatabase } from './ingest-database.ts';

const LIMIT_MS = 50;
/** Of two filters with any sort: at rest, and while calls are processed. */
const PAIR_LIMIT_MS = 100;
const BUSY_PAIR_LIMIT_MS = 250;
const CALLS_PER_BATCH = 10_000;
const PROCESSED_AT_ONCE = 500;
const MOST_PROCESSED = 100_000;
const DAY_MS = 86_400_000;
/** The calls are spread over two years. */
const BEGIN = Date.UTC(2024, 9, 1);
const END = Date.UTC(2026, 9, 1);

interface Asked {
  readonly name: string;
  /** A filter of this kind, different in each round. */
  readonly filter: (round: number) => Partial<CallFilter>;
  readonly sort?: Sort;
  readonly size?: number;
  readonly page?: number;
}

const operator = (round: number) => ({ operator_name: `Operator ${round % 100}` });
const month = (round: number) => ({
  started_from: new Date(BEGIN + (round % 23) * 30 * DAY_MS + 3_600_000).toISOString(),
  started_to: new Date(BEGIN + ((round % 23) + 1) * 30 * DAY_MS).toISOString(),
});
const segment = (round: number) => ({ segment_type: [`segment ${round % 10}`] });
const status = (round: number) => ({ status: [(['completed', 'failed', 'queued'] as const)[round % 3]!] });
const scores = (round: number) => ({ score_min: (round % 8) * 10, score_max: (round % 8) * 10 + 20 });
const team = (round: number) => ({ operator_group_name: `Team ${round % 20}` });
const direction = (round: number) => ({ direction: [round % 2 === 0 ? ('inbound' as const) : ('outbound' as const)] });
const topic = (round: number) => ({ topic: `topic ${round % 32}` });
const lengths = (round: number) => ({ duration_min: 60 + (round % 10), duration_max: 90 + (round % 10) });
const word = (round: number) => ({ q: `word${round % 20}` });
const batch = (round: number) => ({ batch: batchUuid(round % 20) });

function batchUuid(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** Any two of these are asked for together. */
const paired: readonly (readonly [string, (round: number) => Partial<CallFilter>])[] = [
  ['status', status],
  ['segment_type', segment],
  ['direction', direction],
  ['operator_name', operator],
  ['operator_group_name', team],
  ['batch', batch],
  ['source', (round) => ({ source: round % 2 === 0 ? 'audio' : 'transcription' })],
  ['period', month],
  ['score', scores],
  ['needs_review', () => ({ needs_review: true })],
  ['reviewed', () => ({ reviewed: true })],
  ['client_phone_number', (round) => ({ client_phone_number: `+99890${1_000_000 + round * 7}` })],
  ['language', (round) => ({ language: (['en', 'ru', 'uz'] as const)[round % 3]! })],
  ['topic', topic],
  ['resolution', (round) => ({ resolution: (['resolved', 'unresolved'] as const)[round % 2]! })],
  ['auto_failed', () => ({ auto_failed: true })],
  ['duration', lengths],
];

const questions: readonly Asked[] = [
  { name: 'no filter', filter: () => ({}) },
  { name: 'no filter, a page of 100', filter: () => ({}), size: 100 },
  { name: 'status', filter: status },
  { name: 'outcome', filter: (round) => ({ outcome: [round % 2 === 0 ? 'scored' : 'no_speech'] }) },
  { name: 'segment_type', filter: segment },
  { name: 'direction', filter: direction },
  { name: 'operator_name', filter: operator },
  { name: 'operator_group_name', filter: team },
  { name: 'batch', filter: batch },
  { name: 'source', filter: (round) => ({ source: round % 2 === 0 ? 'audio' : 'transcription' }) },
  { name: 'started_from, started_to', filter: month },
  { name: 'score_min, score_max', filter: scores },
  { name: 'partner_call_id', filter: (round) => ({ partner_call_id: `crm-${round * 100}` }) },
  { name: 'status and a month', filter: (round) => ({ ...status(round), ...month(round) }) },
  { name: 'operator and a month', filter: (round) => ({ ...operator(round), ...month(round) }) },
  { name: 'segment and status', filter: (round) => ({ ...segment(round), ...status(round) }) },
  { name: 'scores and segment', filter: (round) => ({ ...scores(round), ...segment(round) }) },
  { name: 'direction and group', filter: (round) => ({ ...direction(round), ...team(round) }) },
  { name: 'operator of 1 %, failed 0.1 %', filter: (round) => ({ ...operator(round), status: ['failed'] }) },
  { name: 'sorted by start_time', filter: () => ({}), sort: { by: 'start_time', isDescending: true } },
  { name: 'sorted by score, lowest first', filter: () => ({}), sort: { by: 'score', isDescending: false } },
  { name: 'operator, sorted by score', filter: operator, sort: { by: 'score', isDescending: true } },
  { name: 'needs_review, not reviewed', filter: () => ({ needs_review: true, reviewed: false }) },
  { name: 'reviewed', filter: () => ({ reviewed: true }) },
  { name: 'operator_id', filter: (round) => ({ operator_id: `id-${round % 100}` }) },
  { name: 'client_phone_number', filter: (round) => ({ client_phone_number: `+99890${1_000_000 + round * 7}` }) },
  { name: 'language', filter: (round) => ({ language: (['en', 'ru', 'uz'] as const)[round % 3]! }) },
  { name: 'topic', filter: topic },
  { name: 'resolution', filter: (round) => ({ resolution: (['resolved', 'unresolved'] as const)[round % 2]! }) },
  { name: 'auto_failed', filter: () => ({ auto_failed: true }) },
  { name: 'duration_min, duration_max', filter: lengths },
  { name: 'topic and a month', filter: (round) => ({ ...topic(round), ...month(round) }) },
  { name: 'operator_id and duration', filter: (round) => ({ operator_id: `id-${round % 100}`, ...lengths(round) }) },
  { name: 'topic, sorted by start_time', filter: topic, sort: { by: 'start_time', isDescending: true } },
  { name: 'page 1,000 of a status', filter: () => ({ status: ['completed'] }), page: 1_000 },
  { name: 'q, a word in 1 %', filter: word },
  { name: 'q, a word in 1 %, a page of 100', filter: word, size: 100 },
  { name: 'q, a rare word', filter: (round) => ({ q: `rare${round}` }) },
  { name: 'q and operator', filter: (round) => ({ ...word(round), ...operator(round) }) },
];

/**
 * The 95th percentile of the time of a list with its count, in a firm with a million calls.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const calls = quick ? 200_000 : 1_000_000;
  return withIngestDatabase(async (url) => {
    const firmUuid = randomUUID();
    await timed(`${calls.toLocaleString('en')} calls made`, () => fill(url, firmUuid, calls));
    // One connection without parallel workers: its processor time is that of the lists.
    const options = new URLSearchParams({ options: '-c max_parallel_workers_per_gather=0' });
    const db = openDatabase({ url: `${url}&${options}`, schema, poolSize: 1 });
    const stores = openStores(db, url);
    try {
      const [backend] = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const processor = () => processorMs(backend!.pid);
      return [
        ...(await measure(stores, firmUuid, quick ? 20 : 50)),
        ...(await measurePairs(stores, url, firmUuid, processor)),
      ];
    } finally {
      await stores.close();
      await db.close();
    }
  });
}

function lister(stores: Stores, firmUuid: string) {
  return (request: Partial<ListCallsRequest>) =>
    listCalls(stores, firmUuid, {
      filter: NO_FILTER,
      sort: { by: 'created_at', isDescending: true },
      page: 1,
      cursor: null,
      size: 10,
      ...request,
    });
}

async function measure(stores: Stores, firmUuid: string, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  const list = lister(stores, firmUuid);
  const add = (name: string, times: readonly number[]) => {
    const value = quantile(times, 0.95);
    figures.push(
      atMost(1, { name: `${name}, p95`, value, unit: 'ms', yardstick: { name: 'limit, ms', value: LIMIT_MS } }),
    );
  };
  for (const { name, filter, ...rest } of questions) {
    const times: number[] = [];
    // The first listings have neither open connections nor index pages in memory.
    for (let round = -2; round < rounds; round++) {
      const began = performance.now();
      await list({ filter: { ...NO_FILTER, ...filter(Math.abs(round)) }, ...rest });
      if (round >= 0) times.push(performance.now() - began);
    }
    add(name, times);
  }
  for (const by of ['created_at', 'start_time', 'score'] as const) {
    const times: number[] = [];
    const filter: CallFilter = { ...NO_FILTER, status: ['completed'] };
    const sort = { by, isDescending: true };
    // A cursor costs the same at any position, so it begins beyond the last page.
    let { nextCursor: cursor } = await list({ filter, sort, page: 100, size: 100 });
    for (let round = 0; round < rounds && cursor !== null; round++) {
      const began = performance.now();
      ({ nextCursor: cursor } = await list({ filter, sort, cursor, size: 100 }));
      times.push(performance.now() - began);
    }
    add(`deep cursor by ${by}, pages of 100`, times);
  }
  return figures;
}

/** Every two filters with every sort, first at rest, then while other calls are added and completed. */
async function measurePairs(stores: Stores, url: string, firmUuid: string, processor: () => number): Promise<Figure[]> {
  const list = lister(stores, firmUuid);
  const rest = await pairFigures(list, processor, 'two filters, any sort', PAIR_LIMIT_MS);
  const processing = processCalls(url, firmUuid);
  const name = 'two filters, any sort, while calls are processed';
  const busy = await pairFigures(list, processor, name, BUSY_PAIR_LIMIT_MS);
  const { calls, seconds } = await processing.stop();
  return [
    ...rest,
    ...busy,
    noted({
      name: 'calls processed meanwhile',
      value: calls / seconds,
      unit: 'calls/s',
      yardstick: { name: 'in all', value: calls },
    }),
  ];
}

/** `processor`: milliseconds of processor time of PostgreSQL so far. Unlike the time of a list, it hardly depends on what else runs. */
async function pairFigures(
  list: ReturnType<typeof lister>,
  processor: () => number,
  name: string,
  limitMs: number,
): Promise<Figure[]> {
  const lists: { name: string; ms: number; processorMs: number }[] = [];
  for (const [at, [one, first]] of paired.entries()) {
    for (const [other, second] of paired.slice(at + 1)) {
      for (const by of ['created_at', 'start_time', 'score'] as const) {
        for (let round = -1; round < 4; round++) {
          const filter = { ...NO_FILTER, ...first(Math.abs(round)), ...second(Math.abs(round)) };
          const [began, before] = [performance.now(), processor()];
          await list({ filter, sort: { by, isDescending: true } });
          if (round < 0) continue;
          lists.push({
            name: `${one}, ${other} by ${by}`,
            ms: performance.now() - began,
            processorMs: processor() - before,
          });
        }
      }
    }
  }
  const yardstick = { name: 'limit, ms', value: limitMs };
  const ms = lists.map((each) => each.ms);
  const busyMs = lists.map((each) => each.processorMs);
  const slowest = lists.toSorted((one, other) => other.processorMs - one.processorMs)[0]!;
  return [
    noted({ name: `${name}, median`, value: quantile(ms, 0.5), unit: 'ms', yardstick }),
    atMost(1, { name: `${name}, p95`, value: quantile(ms, 0.95), unit: 'ms', yardstick }),
    noted({ name: `${name}, processor time, median`, value: quantile(busyMs, 0.5), unit: 'ms', yardstick }),
    atMost(1, { name: `${name}, processor time, p95`, value: quantile(busyMs, 0.95), unit: 'ms', yardstick }),
    noted({
      name: `${name}, most processor time: ${slowest.name}`,
      value: slowest.processorMs,
      unit: 'ms',
      yardstick,
    }),
  ];
}

/** Adds calls and completes them, without what else the service does for them, until it is stopped or there are many. */
function processCalls(url: string, firmUuid: string) {
  const began = performance.now();
  const stopping = new AbortController();
  async function run() {
    const client = new Client({ connectionString: url });
    await client.connect();
    let calls = 0;
    try {
      await client.query(`SET search_path = ${schema}`);
      while (!stopping.signal.aborted && calls < MOST_PROCESSED) {
        const { rows } = await client.query<{ uuid: string }>(
          `INSERT INTO call (firm_uuid, uuid, source, partner_call_id, client_phone_number, operator_name, operator_group_name, direction,
             segment_type, start_time, duration, batch_uuid, tagged_text)
           SELECT $1, uuidv7(), 'transcription', 'new-' || $2::int + number, '+99890' || 1000000 + number, 'Operator ' || number % 100,
             'Team ' || number % 20, 'inbound', 'segment ' || number % 10, now(), 60, $3, '<operator>Hello'
           FROM generate_series(1, ${PROCESSED_AT_ONCE}) AS number RETURNING uuid`,
          [firmUuid, calls, batchUuid(1_000_000)],
        );
        await client.query(
          `UPDATE call SET status = 'completed', outcome = 'scored', score = 50, language = 'en', updated_at = now()
           WHERE firm_uuid = $1 AND uuid = ANY($2)`,
          [firmUuid, rows.map(({ uuid }) => uuid)],
        );
        calls += rows.length;
      }
      return { calls, seconds: (performance.now() - began) / 1_000 };
    } finally {
      await client.end();
    }
  }
  const running = run();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}

/** Inserts many calls, their rows for lists and their documents. The indexes are built after the rows are inserted. */
async function fill(url: string, firmUuid: string, calls: number): Promise<void> {
  const insert = async (client: Client) => {
    await client.query('ALTER TABLE call DISABLE TRIGGER USER');
    await client.query(
      `INSERT INTO call (firm_uuid, uuid, source, status, outcome, partner_call_id, client_phone_number, operator_name,
         operator_group_name, direction, segment_type, start_time, score, tagged_text, created_at, operator_id, duration, language,
         needs_review, reviewed_at, batch_uuid)
       SELECT '${firmUuid}', uuid, source, status, CASE WHEN status <> 'completed' THEN NULL WHEN chance < 0.02 THEN 'no_speech' ELSE 'scored' END,
         'crm-' || number, '+99890' || 1000000 + number % 9000000, 'Operator ' || number * 7919 / 13 % 100, 'Team ' || number * 7919 / 13 % 20,
         CASE WHEN chance < 0.6 THEN 'inbound' ELSE 'outbound' END, 'segment ' || floor(10 * chance * chance), created_at - interval '1 hour' * (number % 9),
         CASE WHEN status = 'completed' AND chance >= 0.02 THEN round((100 * sqrt(other))::numeric, 1) END, '<operator>Hello', created_at,
         'id-' || number * 7919 / 13 % 100, 10 + number % 600, (ARRAY['en', 'ru', 'uz'])[1 + number % 3],
         CASE WHEN status = 'completed' THEN (chance > 0.9)::int END, CASE WHEN status = 'completed' AND other > 0.98 THEN now() END,
         ('00000000-0000-7000-8000-' || lpad(to_hex(number / ${CALLS_PER_BATCH}), 12, '0'))::uuid
       FROM (
         SELECT number, chance, other, CASE WHEN number % 3 = 0 THEN 'audio' ELSE 'transcription' END AS source,
           CASE WHEN number > ${calls} * 0.98 THEN 'queued' WHEN other < 0.001 THEN 'failed' ELSE 'completed' END AS status,
           to_timestamp(${BEGIN / 1000} + number * ${(END - BEGIN) / 1000 / calls}) AS created_at,
           (lpad(to_hex((${BEGIN} + number * ${(END - BEGIN) / calls})::bigint), 12, '0') || '70008' || left(md5(number::text), 15))::uuid AS uuid
         FROM (SELECT number, random() AS chance, random() AS other FROM generate_series(0::bigint, ${calls - 1}) AS number) AS made) AS made`,
    );
    await client.query(
      `INSERT INTO listed_call (firm_uuid, uuid, start_time, duration, score, needs_review, is_reviewed, auto_failed, source, status, outcome,
         direction, segment_type, operator_name, operator_id, operator_group_name, client_phone, language, batch_uuid, resolution, topics)
       SELECT firm_uuid, uuid, start_time, listed_duration(duration), listed_score(score), coalesce(needs_review, 0), reviewed_at IS NOT NULL,
         coalesce(outcome = 'scored' AND score < 10, false), source, status, outcome, direction, segment_type, operator_name, operator_id,
         operator_group_name, phone_digits(client_phone_number), language, batch_uuid,
         CASE WHEN outcome = 'scored' THEN CASE WHEN score > 50 THEN 'resolved' ELSE 'unresolved' END END,
         CASE WHEN outcome = 'scored' THEN ARRAY['topic ' || (hashtext(call.uuid::text) & 31)] END
       FROM call ORDER BY uuid`,
    );
    await client.query(`INSERT INTO firm_number (firm_uuid) VALUES ('${firmUuid}')`);
    // Each of twenty words is in one conversation of a hundred; a rare word is in a few conversations.
    await client.query(
      `INSERT INTO call_text (firm, uuid, language, words)
       SELECT firm_number.number, uuid, 'en', array_to_tsvector(ARRAY['#english', '#' || firm_number.number, 'word' || place * 31 % 100,
           'rare' || place % (${calls} / 5)]) || said
       FROM (SELECT uuid, row_number() OVER (ORDER BY uuid) - 1 AS place FROM listed_call) AS c
         CROSS JOIN firm_number
         JOIN (SELECT number, to_tsvector('english', string_agg('w' || (number * 131 + other * other * 17) % 3000, ' ')) AS said
           FROM generate_series(0, 999) AS number, generate_series(1, 20) AS other GROUP BY number) AS sample
           ON sample.number = place % 1000
       ORDER BY uuid`,
    );
    await client.query('ALTER TABLE call ENABLE TRIGGER USER');
  };
  await load(url, ['listed_call', 'call_text'], insert, ['call']);
}
