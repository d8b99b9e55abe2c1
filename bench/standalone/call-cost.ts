import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseUrl } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { Client } from 'pg';
import type { ApiClient } from '../../deploy/standalone/test/client/api-client.ts';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { type ServiceProcess, startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, median, noted } from '../harness/figure.ts';
import { processBatch } from '../harness/process-batch.ts';
import { processorSeconds, proportionalMiB, watchDatabase } from '../harness/processes.ts';
import { rowsOf, writeCsv } from '../harness/rows.ts';

/** The utterances of the samples with their role tags, in five languages. */
const lines = readFileSync(new URL('../../samples/transcripts.csv', import.meta.url), 'utf8')
  .split(/(?=<[^<>\n]+>)/)
  .flatMap((piece) => /^<[^<>]+>[^"\n<]+/.exec(piece)?.[0] ?? []);

/**
 * Rows of calls of about `characters` each, made of passages of the samples, the same ones in every run. Unlike one repeated
 * dialogue, they compress only as well as speech.
 */
function* conversations(calls: number, characters: number, prefix: string): Generator<string> {
  let seed = 1;
  for (let call = 0; call < calls; call++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    let said = '';
    // Consecutive utterances almost always have the same language.
    for (let line = seed >>> 8; said.length < characters; line++) said += lines[line % lines.length]!;
    yield `+99890${String(1_000_000 + (call % 9_000_000))},Ann,300,"${said}",2026-10-01T09:00:00,support,${prefix}-${call},inbound\n`;
  }
}

/** Of a call of five minutes. */
const CHARACTERS = 4_000;
const SIZE = `${CHARACTERS.toLocaleString('en')} characters`;
const WARM_UP = 2_000;
/** What a short call may leave in the database and in its log; a row of its CSV has 483 bytes. */
const SHORT_BYTES = 4_500;
const SHORT_LOG_BYTES = 12_000;

/** The cost of one batch, until its last call was in the search index. */
interface Passage {
  readonly calls: number;
  /** Of the CSV, for each call. */
  readonly rowBytes: number;
  readonly perSecond: number;
  /** Of processor time for each call, from the upload of the CSV. */
  readonly microseconds: number;
  readonly byPart: Record<string, number>;
  readonly logBytes: number;
}

/**
 * The cost of a call with `npm start`, measured from outside: processor time, bytes in the database and its log; and
 * the cost of idling.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-cost-'));
  const service = await startService();
  const server = await serverOf(service);
  try {
    const firm = await newFirm(service, { segmentTypes: ['support'] });
    const csv = join(directory, 'calls.csv');
    await writeCsv(csv, rowsOf(WARM_UP, 'warm-up'));
    await processBatch(firm, csv);
    await indexed(server.url);
    const short = { name: 'short', calls: quick ? 5_000 : 20_000, rows: rowsOf, passages: [] as Passage[] };
    const long = {
      name: 'long',
      calls: quick ? 1_000 : 4_000,
      rows: (calls: number, name: string) => conversations(calls, CHARACTERS, name),
      passages: [] as Passage[],
    };
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      for (const { name, calls, rows, passages } of [short, long]) {
        await writeCsv(csv, rows(calls, `${name}-${round}`));
        passages.push(await passage(service, server, firm, csv, calls));
      }
    }
    const kept: Bytes[] = [];
    for (const { name, calls, rows } of [short, long]) {
      await writeCsv(csv, rows(calls, `${name}-kept`));
      kept.push(await keptBytes(server.url, calls, () => processBatch(firm, csv)));
    }
    return [
      ...figuresOf('short call', 'short calls', short.passages, { microseconds: 1_100, perSecond: 3_500 }),
      ...figuresOf(`call of ${SIZE}`, `calls of ${SIZE}`, long.passages, { microseconds: 4_000, perSecond: 600 }),
      ...bytesOf('short call', kept[0]!, short.passages, { tables: SHORT_BYTES / 483, log: SHORT_LOG_BYTES / 483 }),
      ...bytesOf(`call of ${SIZE}`, kept[1]!, long.passages, { tables: 2.2, log: 3 }),
      ...(await idleFigures(service, server, quick ? 30 : 60)),
    ];
  } finally {
    server.watch.stop();
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function serverOf({ directory }: ServiceProcess) {
  const [pid] = readFileSync(join(directory, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n');
  const adminUrl = await findServer(join(directory, 'postgres'));
  return { url: databaseUrl(adminUrl!, 'call_analysis'), watch: watchDatabase(Number(pid)), pid: Number(pid) };
}

type Server = Awaited<ReturnType<typeof serverOf>>;

/** Seconds of processor time so far: of the service, and of the database by the role of its connections. */
function seconds(service: ServiceProcess, { watch }: Server): Record<string, number> {
  const byRole = watch.seconds();
  const named = Object.entries(byRole).map(([role, value]) => [`PostgreSQL, ${role}`, value]);
  // PostgreSQL is a child of the service.
  return { service: processorSeconds(service.pid) - total(byRole), ...Object.fromEntries(named) };
}

async function passage(
  service: ServiceProcess,
  server: Server,
  firm: ApiClient,
  csv: string,
  calls: number,
): Promise<Passage> {
  const [log, before] = [await logBytes(server.url), seconds(service, server)];
  const milliseconds = await processBatch(firm, csv, 100);
  await indexed(server.url);
  const byPart = minus(seconds(service, server), before);
  return {
    calls,
    rowBytes: statSync(csv).size / calls,
    perSecond: (calls * 1_000) / milliseconds,
    microseconds: (total(byPart) * 1e6) / calls,
    byPart,
    logBytes: ((await logBytes(server.url)) - log) / calls,
  };
}

/**
 * The growth of the tables for each of the calls that `work` processes, once the space of former versions of rows is free for the
 * next calls: before and after, without waiting for autovacuum.
 */
async function keptBytes(url: string, calls: number, work: () => Promise<unknown>): Promise<Bytes> {
  await asked(url, 'VACUUM');
  const before = await tableBytes(url);
  await work();
  await indexed(url);
  await asked(url, 'VACUUM');
  return grown(await tableBytes(url), before, calls);
}

function figuresOf(
  call: string,
  calls: string,
  passages: readonly Passage[],
  goal: { microseconds: number; perSecond: number },
): Figure[] {
  const [{ calls: count }] = passages as [Passage, ...Passage[]];
  const of = (read: (each: Passage) => number) => median(passages.map(read));
  const all = of(({ microseconds }) => microseconds);
  const parts = Object.keys(passages[0]!.byPart)
    .map((part) => [part, of(({ byPart }) => ((byPart[part] ?? 0) * 1e6) / count)] as const)
    .filter(([, each]) => each >= 1)
    .toSorted(([, one], [, other]) => other - one);
  return [
    atMost(1, {
      name: `processor time of a ${call}, indexed for search`,
      value: all,
      unit: 'µs',
      yardstick: { name: 'goal, µs', value: goal.microseconds },
      ratios: passages.map(({ microseconds }) => microseconds / goal.microseconds),
    }),
    ...parts.map(([part, value]) =>
      noted({ name: `${call}: ${part}`, value, unit: 'µs', yardstick: { name: 'in all, µs', value: all } }),
    ),
    atLeast(1, {
      name: `${calls}, accepted to completed`,
      value: of(({ perSecond }) => perSecond),
      unit: 'calls/s',
      yardstick: { name: 'goal, calls/s', value: goal.perSecond },
      ratios: passages.map(({ perSecond }) => perSecond / goal.perSecond),
    }),
  ];
}

/** Tables of queues. Their space is used again. */
const PASSING = /\(queues\)|_change|queued_words/;

function bytesOf(
  call: string,
  tables: Bytes,
  passages: readonly Passage[],
  goal: { readonly tables: number; readonly log: number },
): Figure[] {
  const of = (read: (each: Passage) => number) => median(passages.map(read));
  const yardstick = { name: 'row of the CSV, bytes', value: of(({ rowBytes }) => rowBytes) };
  const kept = Object.entries(tables).filter(([name]) => !PASSING.test(name));
  const largest = kept.filter(([, bytes]) => bytes >= 10).toSorted(([, one], [, other]) => other - one);
  return [
    atMost(goal.tables, {
      name: `${call} in the database`,
      value: total(Object.fromEntries(kept)),
      unit: 'bytes',
      yardstick,
    }),
    ...largest.map(([name, value]) => noted({ name: `${call} in ${name}`, value, unit: 'bytes', yardstick })),
    atMost(goal.log, {
      name: `${call} in the log of the database`,
      value: of((each) => each.logBytes),
      unit: 'bytes',
      yardstick,
    }),
  ];
}

/** For what follows a load: vacuuming, adding up its days, giving memory back. */
const SETTLING_SECONDS = 60;

async function idleFigures(service: ServiceProcess, server: Server, idleSeconds: number): Promise<Figure[]> {
  await pause(SETTLING_SECONDS * 1_000);
  while ((await asked(server.url, `SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'`)).length > 0)
    await pause(1_000);
  const before = seconds(service, server);
  await pause(idleSeconds * 1_000);
  const taken = minus(seconds(service, server), before);
  return [
    atMost(1, {
      name: 'idle, with PostgreSQL',
      value: (total(taken) / idleSeconds) * 100,
      unit: '% of a core',
      yardstick: { name: 'goal, %', value: 3 },
    }),
    atMost(1, {
      name: 'memory after these calls (PSS), PostgreSQL apart',
      value: proportionalMiB(service.pid, server.pid),
      unit: 'MiB',
      yardstick: { name: 'goal, MiB', value: 200 },
    }),
  ];
}

function minus(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([part, value]) => [part, value - (before[part] ?? 0)]));
}

function total(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, each) => sum + each, 0);
}

/** Bytes by where they are stored. */
type Bytes = Record<string, number>;

/**
 * The present sizes in one database: each table with its TOAST data as `<schema>.<table>`, its indexes as
 * `<schema>.<table> indexes`, and the tables of a service's queues together.
 */
async function tableBytes(url: string): Promise<Bytes> {
  const tables: Bytes = {};
  const found = await asked<{ schema: string; name: string; bytes: string; index_bytes: string }>(
    url,
    `SELECT nspname AS schema, relname AS name, pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS index_bytes
       FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)'`,
  );
  for (const { schema, name, bytes, index_bytes } of found) {
    const isQueue = /(^|_)bus$/.test(schema);
    const key = isQueue ? `${schema} (queues)` : `${schema}.${name}`;
    const indexes = isQueue ? key : `${key} indexes`;
    tables[key] = (tables[key] ?? 0) + Number(bytes);
    tables[indexes] = (tables[indexes] ?? 0) + Number(index_bytes);
  }
  return tables;
}

/** The bytes that PostgreSQL has written to its log (WAL) so far. */
async function logBytes(url: string): Promise<number> {
  const [row] = await asked<{ bytes: string }>(url, `SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes`);
  return Number(row!.bytes);
}

/** Resolves when the search index of ingest is up to date. */
async function indexed(url: string): Promise<void> {
  for (;;) {
    const [row] = await asked<{ waits: boolean }>(url, 'SELECT EXISTS (SELECT FROM ingest.queued_words) AS waits');
    if (row?.waits === false) return;
    await pause(200);
  }
}

/** The growth of each for each call, without growth of less than a byte. */
function grown(after: Bytes, before: Bytes, calls: number): Bytes {
  const growth = Object.entries(minus(after, before)).map(([name, bytes]) => [name, bytes / calls] as const);
  return Object.fromEntries(growth.filter(([, perCall]) => perCall >= 1));
}

/** The rows of one query. */
async function asked<Row>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
