import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseUrl } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';
import { Client } from 'pg';
import type { DistributedSystem } from '../../deploy/distributed/test/system.ts';
import type { ApiClient } from '../../deploy/standalone/api-client.ts';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { type Bytes, grown, indexed } from '../harness/database-bytes.ts';
import { atMost, type Figure, noted, quantile } from '../harness/figure.ts';
import { resetPeak, peakMiB } from '../harness/memory.ts';
import { processorSeconds } from '../harness/processor.ts';
import { writeRows } from '../harness/rows.ts';
import { writeConversations } from './conversations.ts';
import { processBatch } from './process-batch.ts';
import { openServers, type Servers } from './servers.ts';
import { measureDatabases, measureObjects, measureTopics } from './storage.ts';
import { minus, newFirmOf, secondsOfParts, SERVICES, startSix, total } from './system.ts';

const WARM_UP = 500;
/** A conversation of five minutes, at 140 words a minute. */
const CHARACTERS = 4_000;

interface Passage {
  readonly perSecond: number;
  /** Until the search index has the calls too; and the processor time by part until then. */
  readonly settledSeconds: number;
  readonly seconds: Record<string, number>;
}

/**
 * A batch of short transcripts from its acceptance to the completion of its last call, on six processes and before that
 * on one; and what a call costs and stores in each part.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const calls = quick ? 5_000 : 100_000;
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-rows-'));
  const csv = join(directory, 'calls.csv');
  const warmUp = join(directory, 'warm-up.csv');
  try {
    await writeRows(csv, calls, 'batch');
    await writeRows(warmUp, WARM_UP, 'warm-up');
    const idleSeconds = quick ? 5 : 20;
    const alone = await standalone(csv, warmUp, calls, idleSeconds);
    const servers = await openServers();
    const system = await startSix(servers);
    try {
      const firm = await newFirmOf(system);
      await processBatch(firm, warmUp);
      const short = await measured(system, servers, firm, csv, calls);
      const peaks = SERVICES.map((service) => ({ service, value: peakMiB(system.replicas(service)[0]!.pid) }));
      const longCalls = quick ? 1_000 : 10_000;
      await writeConversations(csv, longCalls, CHARACTERS, 'long');
      const long = await measured(system, servers, firm, csv, longCalls);
      const idle = await idleCost(system, servers, idleSeconds);
      const waits = await startDelays(system, servers, firm, directory, quick ? 20 : 200);
      return [
        noted({
          name: `batch of ${calls.toLocaleString('en')} calls, accepted to completed`,
          value: short.passage.perSecond,
          unit: 'calls/s',
          yardstick: { name: 'standalone', value: alone.perSecond },
        }),
        atMost(1, {
          name: 'idle, accepted to analysis begun, p99',
          value: quantile(waits, 0.99),
          unit: 'ms',
          yardstick: { name: 'limit, ms', value: 100 },
        }),
        noted({
          name: 'idle, accepted to analysis begun, median',
          value: quantile(waits, 0.5),
          unit: 'ms',
          yardstick: { name: 'limit, ms', value: 100 },
        }),
        noted({
          name: 'processor time of a call',
          value: perCall(total(short.passage.seconds), calls),
          unit: 'µs',
          yardstick: { name: 'standalone', value: perCall(total(alone.seconds), calls) },
        }),
        ...costs('a call', short.passage, calls),
        ...growths('a call', short, calls),
        noted({
          name: `batch of ${longCalls.toLocaleString('en')} calls of ${CHARACTERS.toLocaleString('en')} characters, accepted to completed`,
          value: long.passage.perSecond,
          unit: 'calls/s',
          yardstick: { name: 'short calls', value: short.passage.perSecond },
        }),
        noted({
          name: 'processor time of a long call',
          value: perCall(total(long.passage.seconds), longCalls),
          unit: 'µs',
          yardstick: { name: 'of a short one', value: perCall(total(short.passage.seconds), calls) },
        }),
        ...costs('a long call', long.passage, longCalls),
        ...growths('a long call', long, longCalls),
        ...idle.map(([part, share]) =>
          noted({
            name: `idle: ${part}`,
            value: share * 100,
            unit: '% of a core',
            yardstick: { name: 'standalone with PostgreSQL', value: alone.idle * 100 },
          }),
        ),
        ...peaks.map(({ service, value }) =>
          noted({
            name: `highest memory: ${service}`,
            value,
            unit: 'MiB',
            yardstick: { name: 'standalone', value: alone.peakMiB },
          }),
        ),
      ];
    } finally {
      await system.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function standalone(
  csv: string,
  warmUp: string,
  calls: number,
  idleSeconds: number,
): Promise<Passage & { readonly peakMiB: number; readonly idle: number }> {
  const service = await startService();
  try {
    const firm = await newFirm(service, { segmentTypes: ['support'] });
    await processBatch(firm, warmUp);
    resetPeak(service.pid);
    // The server is running, so this only returns its URL.
    const { adminUrl } = await startServer({ directory: join(service.directory, 'postgres'), log: () => {} });
    const [postmaster] = readFileSync(join(service.directory, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n');
    const seconds = () => ({
      service: processorSeconds(service.pid),
      PostgreSQL: processorSeconds(Number(postmaster)),
    });
    const passage = await pass(firm, csv, calls, {
      seconds,
      settled: () => indexed(databaseUrl(adminUrl, 'call_analysis')),
    });
    const before = seconds();
    await pause(idleSeconds * 1000);
    const idle = total(minus(seconds(), before)) / idleSeconds;
    return { ...passage, idle, peakMiB: peakMiB(service.pid) };
  } finally {
    await service.stop();
  }
}

async function pass(
  firm: ApiClient,
  csv: string,
  calls: number,
  { seconds, settled }: { seconds(): Record<string, number>; settled(): Promise<void> },
): Promise<Passage> {
  const [began, before] = [performance.now(), seconds()];
  const elapsedSeconds = (await processBatch(firm, csv)) / 1000;
  await settled();
  const taken = minus(seconds(), before);
  return { perSecond: calls / elapsedSeconds, settledSeconds: (performance.now() - began) / 1000, seconds: taken };
}

/** The shares of a core that the idle parts take: in total, then for each part. */
async function idleCost(system: DistributedSystem, servers: Servers, seconds: number): Promise<[string, number][]> {
  const before = secondsOfParts(system, servers);
  await pause(seconds * 1000);
  const taken = minus(secondsOfParts(system, servers), before);
  const shares = Object.entries(taken).map(([part, value]): [string, number] => [part, value / seconds]);
  const largest = shares.toSorted(([, one], [, other]) => other - one).filter(([, share]) => share >= 0.005);
  return [['all', total(taken) / seconds], ...largest];
}

/**
 * The time from the creation of a call in the catalogue to the start of its analysis, by the database's clock. One call
 * at a time.
 */
async function startDelays(
  system: DistributedSystem,
  servers: Servers,
  firm: ApiClient,
  directory: string,
  calls: number,
): Promise<number[]> {
  const of = (service: string) => {
    const { pathname } = new URL(system.databaseUrls[service]!);
    return new Client({ connectionString: databaseUrl(servers.postgres.adminUrl, pathname.slice(1)) });
  };
  const [ingest, analysis] = [of('ingest'), of('analysis')];
  await Promise.all([ingest.connect(), analysis.connect()]);
  try {
    const waits: number[] = [];
    const file = join(directory, 'one.csv');
    for (let number = 0; number < calls; number++) {
      await writeRows(file, 1, `single${number}`);
      await processBatch(firm, file, 10);
      const accepted = await ingest.query('SELECT uuid, created_at FROM ingest.call ORDER BY created_at DESC LIMIT 1');
      const [call] = accepted.rows as { uuid: string; created_at: Date }[];
      const begun = await analysis.query('SELECT created_at FROM analysis.analysis WHERE call_uuid = $1', [call!.uuid]);
      const [found] = begun.rows as { created_at: Date }[];
      waits.push(found!.created_at.getTime() - call!.created_at.getTime());
    }
    return waits;
  } finally {
    await Promise.all([ingest.end(), analysis.end()]);
  }
}

interface Measured {
  readonly passage: Passage;
  readonly before: Holdings;
  readonly after: Holdings;
  /** Bytes of the CSV for each call. */
  readonly rowBytes: number;
}

async function measured(
  system: DistributedSystem,
  servers: Servers,
  firm: ApiClient,
  csv: string,
  calls: number,
): Promise<Measured> {
  const ingest = databaseUrl(servers.postgres.adminUrl, new URL(system.databaseUrls['ingest']!).pathname.slice(1));
  await indexed(ingest);
  const before = await measureAll(system, servers);
  for (const { pid } of SERVICES.flatMap((each) => system.replicas(each))) resetPeak(pid);
  const passage = await pass(firm, csv, calls, {
    seconds: () => secondsOfParts(system, servers),
    settled: () => indexed(ingest),
  });
  return { passage, before, after: await measureAll(system, servers), rowBytes: statSync(csv).size / calls };
}

type Holdings = Record<'tables' | 'log' | 'topics' | 'objects', Bytes>;

async function measureAll(system: DistributedSystem, servers: Servers): Promise<Holdings> {
  return {
    ...(await measureDatabases(system, servers)),
    topics: measureTopics(servers, `${system.store.bucket}.`),
    objects: await measureObjects(system),
  };
}

/** The processor time of a call by part, and the average number of busy cores. */
function costs(call: string, { seconds, settledSeconds }: Passage, calls: number): Figure[] {
  const all = perCall(total(seconds), calls);
  const parts = Object.entries(seconds).toSorted(([, one], [, other]) => other - one);
  return [
    ...parts.map(([part, each]) =>
      noted({
        name: `${call} in ${part}`,
        value: perCall(each, calls),
        unit: 'µs',
        yardstick: { name: 'in all', value: all },
      }),
    ),
    noted({
      name: `${call}: cores at work on average`,
      value: total(seconds) / settledSeconds,
      unit: 'cores',
      yardstick: { name: 'of the machine', value: availableParallelism() },
    }),
  ];
}

/** Microseconds. */
function perCall(seconds: number, calls: number): number {
  return (seconds * 1e6) / calls;
}

/** Tables of queues. Their space is used again. */
const PASSING = /\(queues\)|_change/;

/** The bytes that a call stores permanently, or until Kafka's retention ends. */
function growths(call: string, { before, after, rowBytes }: Measured, calls: number): Figure[] {
  const places: [string, keyof Holdings][] = [
    ['in the database', 'tables'],
    ['in its log', 'log'],
    ['in Kafka, one copy', 'topics'],
    ['in objects', 'objects'],
  ];
  return places.flatMap(([place, holding]) => {
    const parts = grown(after[holding], before[holding], calls);
    const kept = parts.filter(([name]) => !PASSING.test(name));
    const all: [string, number] = ['all', kept.reduce((sum, [, bytes]) => sum + bytes, 0)];
    return (parts.length === 1 ? [all] : [all, ...parts]).map(([name, bytes]) =>
      noted({
        name: `${call} leaves ${place}: ${name}`,
        value: bytes,
        unit: 'bytes',
        yardstick: { name: 'row of the CSV', value: rowBytes },
      }),
    );
  });
}
