import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { schema } from '@call-analysis/ingest';
import { type Database, databaseUrl as databaseUrlOf, openDatabase } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { Client } from 'pg';
import { newFirm } from '../../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../../deploy/standalone/test/system/service-process.ts';
import { openStores } from '../../../services/ingest/deps.ts';
import { type CallFilter, NO_FILTER, type Sort } from '../../../services/ingest/listing/call-filter.ts';
import { listCalls } from '../../../services/ingest/listing/list-calls.ts';
import { atMost, type Figure, median, noted, quantile } from '../../harness/figure.ts';
import { load, timed } from './ingest-database.ts';

/** Of the first page without a filter or with one of these, and of the next page of a walk, however many calls there are. */
const LIMIT_MS = 50;
const LIMITED = ['no filter', 'status', 'operator_name', 'batch', 'period'];
/** Of any two filters with any sort: at rest, while calls are processed, and at rest among ten million. */
const PAIR_LIMIT_MS = 100;
const BUSY_PAIR_LIMIT_MS = 250;
const LARGE_PAIR_LIMIT_MS = 1_000;
const CALLS_PER_BATCH = 10_000;
const PROCESSED_AT_ONCE = 500;
const MOST_PROCESSED = 100_000;
const DAY_MS = 86_400_000;
/** The calls are spread over two years. */
const BEGIN = Date.UTC(2024, 9, 1);
const END = Date.UTC(2026, 9, 1);

/** A filter of this kind, different in each round. */
type Filter = (round: number) => Partial<CallFilter>;

/** Any two of these are asked for together. */
const filters = {
  status: (round) => ({ status: [(['completed', 'failed', 'queued'] as const)[round % 3]!] }),
  segment_type: (round) => ({ segment_type: [`segment ${round % 10}`] }),
  direction: (round) => ({ direction: [round % 2 === 0 ? 'inbound' : 'outbound'] }),
  operator_name: (round) => ({ operator_name: `Operator ${round % 100}` }),
  operator_group_name: (round) => ({ operator_group_name: `Team ${round % 20}` }),
  batch: (round) => ({ batch: batchUuid(round % 20) }),
  source: (round) => ({ source: round % 2 === 0 ? 'audio' : 'transcription' }),
  period: (round) => ({
    started_from: new Date(BEGIN + (round % 23) * 30 * DAY_MS + 3_600_000).toISOString(),
    started_to: new Date(BEGIN + ((round % 23) + 1) * 30 * DAY_MS).toISOString(),
  }),
  score: (round) => ({ score_min: (round % 8) * 10, score_max: (round % 8) * 10 + 20 }),
  needs_review: () => ({ needs_review: true }),
  reviewed: () => ({ reviewed: true }),
  client_phone_number: (round) => ({ client_phone_number: `+99890${1_000_000 + round * 7}` }),
  language: (round) => ({ language: (['en', 'ru', 'uz'] as const)[round % 3]! }),
  topic: (round) => ({ topic: `topic ${round % 32}` }),
  resolution: (round) => ({ resolution: (['resolved', 'unresolved'] as const)[round % 2]! }),
  auto_failed: () => ({ auto_failed: true }),
  duration: (round) => ({ duration_min: 60 + (round % 10), duration_max: 90 + (round % 10) }),
} satisfies Record<string, Filter>;

const word: Filter = (round) => ({ q: `word${round % 20}` });

function batchUuid(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

interface Question {
  readonly filter?: Filter;
  readonly sort?: string;
  readonly size?: number;
  readonly page?: number;
}

const questions: Readonly<Record<string, Question>> = {
  'no filter': {},
  'no filter, a page of 100': { size: 100 },
  ...Object.fromEntries(Object.entries(filters).map(([name, filter]) => [name, { filter }])),
  operator_id: { filter: (round) => ({ operator_id: `id-${round % 100}` }) },
  partner_call_id: { filter: (round) => ({ partner_call_id: `crm-${round * 100}` }) },
  'sorted by start_time': { sort: '-start_time' },
  'sorted by score, lowest first': { sort: 'score' },
  'page 1,000 of a status': { filter: () => ({ status: ['completed'] }), page: 1_000 },
  'q, a word in 1 %': { filter: word },
  'q, a word in 1 %, a page of 100': { filter: word, size: 100 },
  'q, a rare word': { filter: (round) => ({ q: `rare${round}` }) },
  'q and operator': { filter: (round) => ({ ...word(round), ...filters.operator_name(round) }) },
};

/** The p95 of lists with their counts over HTTP in a firm with a million calls, beside the same SQL by bare `pg` behind express. */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  return withFirm(quick ? 200_000 : 1_000_000, async (firm) => {
    const rounds = quick ? 20 : 50;
    const rest = [
      ...(await singles(firm, rounds, PAIR_LIMIT_MS)),
      ...(await walks(firm, rounds)),
      ...(await pairs(firm, 'two filters, any sort', PAIR_LIMIT_MS)),
    ];
    const processing = processCalls(firm.databaseUrl, firm.uuid);
    const busy = await pairs(firm, 'two filters, any sort, while calls are processed', BUSY_PAIR_LIMIT_MS);
    const { calls, seconds } = await processing.stop();
    const yardstick = { name: 'in all', value: calls };
    return [
      ...rest,
      ...busy,
      noted({ name: 'calls processed meanwhile', value: calls / seconds, unit: 'calls/s', yardstick }),
    ];
  });
}

/** The same at rest in a firm with ten million calls. To fill it takes half an hour and 20 GB. */
export async function runTenMillion({ quick }: { quick: boolean }): Promise<Figure[]> {
  return withFirm(quick ? 500_000 : 10_000_000, async (firm) => [
    ...(await singles(firm, 20, LARGE_PAIR_LIMIT_MS)),
    ...(await walks(firm, 20)),
    ...(await pairs(firm, 'two filters, any sort', LARGE_PAIR_LIMIT_MS)),
  ]);
}

interface Firm {
  readonly uuid: string;
  readonly databaseUrl: string;
  /** Milliseconds of a list of the service, or of the peer with the same statements. */
  list(query: Query): Promise<{ ms: number; nextCursor: string | null }>;
  peer(query: Query): Promise<number>;
}

type Query = Partial<CallFilter> & {
  sort?: string | undefined;
  page?: number | undefined;
  cursor?: string;
  size?: number | undefined;
};

/** The service with a firm that has so many calls, and the peer on the same database. */
async function withFirm(calls: number, work: (firm: Firm) => Promise<Figure[]>): Promise<Figure[]> {
  const service = await startService();
  try {
    const { token, firmUuid: uuid } = await newFirm(service);
    const databaseUrl = databaseUrlOf((await findServer(join(service.directory, 'postgres')))!, 'call_analysis');
    await timed(`${calls.toLocaleString('en')} calls made`, () => fill(databaseUrl, uuid, calls));
    const statements = recorder(databaseUrl, uuid);
    const peer = fork(fileURLToPath(new URL('./peer-server.ts', import.meta.url)), [databaseUrl]);
    try {
      const [peerUrl] = (await once(peer, 'message')) as [string];
      return await work({
        uuid,
        databaseUrl,
        async list(query) {
          const given = Object.entries(query).flatMap(([name, value]) =>
            [value].flat().map((each) => [name, `${each}`] as [string, string]),
          );
          const headers = { authorization: `Bearer ${token}` };
          const { ms, body } = await ask(`${service.url}/api/v1/calls?${new URLSearchParams(given)}`, { headers });
          return { ms, nextCursor: (body as { next_cursor: string | null }).next_cursor };
        },
        async peer(query) {
          const body = JSON.stringify(await statements.of(query));
          return (await ask(peerUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).ms;
        },
      });
    } finally {
      peer.disconnect();
      await statements.close();
    }
  } finally {
    await service.stop();
  }
}

async function ask(url: string, init: RequestInit): Promise<{ ms: number; body: unknown }> {
  const began = performance.now();
  const response = await fetch(url, init);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(body)}`);
  return { ms: performance.now() - began, body };
}

/** Runs lists in this process to learn their statements. */
function recorder(url: string, firmUuid: string) {
  const db = openDatabase({ url, schema, poolSize: 1 });
  let statements: { text: string; values: readonly unknown[] }[] = [];
  const recording: Database = {
    ...db,
    query(text: string, values: readonly unknown[] = []) {
      statements.push({ text, values });
      return db.query(text, values);
    },
  };
  const stores = openStores(recording, url);
  return {
    async of({ sort = '-created_at', page = 1, size = 10, ...filter }: Query) {
      statements = [];
      const by = sort.replace('-', '') as Sort['by'];
      const request = { sort: { by, isDescending: sort.startsWith('-') }, page, cursor: null, size };
      await listCalls(stores, firmUuid, { ...request, filter: { ...NO_FILTER, ...filter } });
      return statements;
    },
    async close() {
      await stores.close();
      await db.close();
    },
  };
}

/** Each question and, now and then, the peer by turns, and how the medians of all compare. */
async function singles(firm: Firm, rounds: number, limitMs: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  const medians: { ours: number; peer: number }[] = [];
  for (const [name, { filter, ...rest }] of Object.entries(questions)) {
    const ours: number[] = [];
    const peer: number[] = [];
    // The first lists have neither open connections nor index pages in memory.
    for (let round = -2; round < rounds; round++) {
      const query = { ...filter?.(Math.abs(round)), ...rest };
      const { ms } = await firm.list(query);
      if (round >= 0) ours.push(ms);
      if (round >= 0 && round % 5 === 0) peer.push(await firm.peer(query));
    }
    figures.push(p95(name, ours, LIMITED.includes(name) ? LIMIT_MS : limitMs));
    medians.push({ ours: median(ours), peer: median(peer) });
  }
  const all = noted({
    name: 'these lists, median',
    value: median(medians.map(({ ours }) => ours)),
    unit: 'ms',
    yardstick: { name: 'the same SQL by bare pg behind express, ms', value: median(medians.map(({ peer }) => peer)) },
    ratios: medians.map(({ ours, peer }) => ours / peer),
  });
  return [...figures, all];
}

/** A cursor costs the same at any position, so it begins beyond the last page. */
async function walks(firm: Firm, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const by of ['created_at', 'start_time', 'score']) {
    const times: number[] = [];
    const query: Query = { status: ['completed'], sort: `-${by}`, size: 100 };
    let { nextCursor } = await firm.list({ ...query, page: 100 });
    for (let round = 0; round < rounds && nextCursor !== null; round++) {
      const list = await firm.list({ ...query, cursor: nextCursor });
      times.push(list.ms);
      ({ nextCursor } = list);
    }
    figures.push(p95(`deep cursor by ${by}, pages of 100`, times, LIMIT_MS));
  }
  return figures;
}

/** Every two filters with every sort. */
async function pairs(firm: Firm, name: string, limitMs: number): Promise<Figure[]> {
  const lists: { name: string; ms: number }[] = [];
  const kinds = Object.entries<Filter>(filters);
  for (const [at, [one, first]] of kinds.entries()) {
    for (const [other, second] of kinds.slice(at + 1)) {
      for (const by of ['created_at', 'start_time', 'score']) {
        for (let round = -1; round < 4; round++) {
          const { ms } = await firm.list({ ...first(Math.abs(round)), ...second(Math.abs(round)), sort: `-${by}` });
          if (round >= 0) lists.push({ name: `${one}, ${other} by ${by}`, ms });
        }
      }
    }
  }
  const yardstick = { name: 'limit, ms', value: limitMs };
  const times = lists.map(({ ms }) => ms);
  const slowest = lists.toSorted((one, other) => other.ms - one.ms)[0]!;
  return [
    noted({ name: `${name}, median`, value: median(times), unit: 'ms', yardstick }),
    p95(name, times, limitMs),
    noted({ name: `${name}, slowest: ${slowest.name}`, value: slowest.ms, unit: 'ms', yardstick }),
  ];
}

function p95(name: string, times: readonly number[], limitMs: number): Figure {
  const yardstick = { name: 'limit, ms', value: limitMs };
  return atMost(1, { name: `${name}, p95`, value: quantile(times, 0.95), unit: 'ms', yardstick });
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
    // Without their days being added up, which would go on beside the lists.
    const tables = ['call', 'listed_call'];
    for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
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
    for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  };
  await load(url, ['call', 'listed_call', 'call_text'], insert);
}
