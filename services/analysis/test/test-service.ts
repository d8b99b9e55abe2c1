import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Bus, type ConsumerDepth, migrateBus, openBus, route } from '@call-analysis/bus';
import { type BodyOf, CallAnalyzed, CallFailed, type Event, TranscriptReady } from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { type Database, migrate, openDatabase } from '@call-analysis/postgres';
import { analysis, keyManagement } from '@call-analysis/proto';
import { dial, serve } from '@call-analysis/rpc';
import { Closing, createLog } from '@call-analysis/runtime';
import { freshDatabase, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Analyst } from '../analysts/analyst.ts';
import { type Config, migrations, schema, start } from '../start.ts';

// A machine that has other things to do too may take ten times as long as usual.
jest.setTimeout(180_000);

export type Ready = Event<BodyOf<typeof TranscriptReady>>;
export type Analyzed = Event<BodyOf<typeof CallAnalyzed>>;
export type Failed = Event<BodyOf<typeof CallFailed>>;

type Scorecards = ReturnType<typeof dialAnalysis>;

interface Opened {
  readonly scorecards: Scorecards;
  readonly config: Config;
  readonly db: Database;
  readonly bus: Bus;
  put(key: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * The whole service over a database, a bus and a disk of its own, for the tests of one file, and what it says.
 * Several can run at the same time, as replicas.
 */
export class AnalysisUnderTest {
  readonly analyzed: Analyzed[] = [];
  readonly failed: Failed[] = [];
  /** What the service has logged, as JSON lines. */
  readonly lines: string[] = [];
  #opened: Opened | undefined;

  /** Of every firm. */
  readonly segmentTypes = ['support', 'sales'];

  constructor(analyst: Analyst, replicas: number) {
    beforeAll(async () => {
      this.#opened = await this.#open(analyst, replicas);
    });
    afterAll(() => this.#opened?.close());
  }

  /** As the service's own role, past the service. */
  get db(): Database {
    return there(this.#opened).db;
  }

  /** What the first replica serves. */
  get scorecards(): Scorecards {
    return there(this.#opened).scorecards;
  }

  put(key: string, text: string): Promise<void> {
    return there(this.#opened).put(key, text);
  }

  async publish(...events: Event[]): Promise<void> {
    const { db, bus } = there(this.#opened);
    await db.transaction((tx) => bus.publish(tx, events));
  }

  /** As if a worker that died a moment ago had it in hand, in its last try. */
  async publishAsLost(event: Event): Promise<void> {
    const { db, bus } = there(this.#opened);
    await db.transaction(async (tx) => {
      await bus.publish(tx, [event]);
      await tx.query(
        `UPDATE bus.job SET state = 'active', retry_count = retry_limit, started_on = now(),
           heartbeat_on = now() - (heartbeat_seconds - 5) * interval '1 second' WHERE id = $1`,
        [event.id],
      );
    });
  }

  verdictOn(event: Event): Promise<Analyzed> {
    return waitUntil(() => this.analyzed.find(({ subject }) => subject === event.subject));
  }

  failureOf(event: Event): Promise<Failed> {
    return waitUntil(() => this.failed.find(({ subject }) => subject === event.subject));
  }

  async depth(): Promise<ConsumerDepth> {
    const depths = await there(this.#opened).bus.depths();
    return there(depths.find(({ consumer }) => consumer === 'analysis'));
  }

  /** Nothing waits, here or with whoever hears what the service says. */
  async settled(): Promise<void> {
    const { bus } = there(this.#opened);
    await waitUntil(async () => (await bus.depths()).every(({ waiting, active }) => waiting + active === 0));
  }

  async #open(analyst: Analyst, replicas: number): Promise<Opened> {
    const log = createLog({ name: 'analysis', destination: { write: (line) => void this.lines.push(line) } });
    const closing = new Closing();
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-analysis-'));
    closing.add('directory', () => rm(directory, { recursive: true, force: true }));
    const database = await freshDatabase();
    closing.add('database', () => database.drop());
    const databaseUrl = database.url(schema);
    const { FindFirm } = keyManagement;
    const findFirm = async ({ firm_uuid }: { firm_uuid: string }) => ({
      firm: { uuid: firm_uuid, name: 'Firm', country: 'UZ', segment_types: this.segmentTypes },
    });
    const keys = await serve({
      address: '127.0.0.1:0',
      services: [{ service: { FindFirm }, handlers: { findFirm } }],
      log,
    });
    closing.add('key-management', () => keys.stop());
    const config: Config = {
      databaseUrl,
      bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      objects: { store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' },
      listen: '127.0.0.1:0',
      keyManagement: keys.address,
      retries: 1,
    };
    await migrateBus(config.bus);
    await migrate({ url: databaseUrl, schema, folder: migrations });
    const db = openDatabase({ url: databaseUrl, schema });
    closing.add('pool', () => db.close());
    const bus = await openBus(config.bus, { name: 'test', log });
    closing.add('bus', () => bus.close());
    const objects = await openObjects(config.objects);
    const addresses: string[] = [];
    for (let replica = 0; replica < replicas; replica++) {
      const service = await start(config, { log, analyst });
      closing.add('service', () => service.close());
      addresses.push(service.address);
    }
    const scorecards = dialAnalysis(there(addresses[0]));
    closing.add('client', () => scorecards.close());
    await bus.subscribe({
      consumer: 'test.catalogue',
      batchSize: 200,
      routes: [
        route({ event: CallAnalyzed, handle: async (events) => void this.analyzed.push(...events) }),
        route({ event: CallFailed, handle: async (events) => void this.failed.push(...events) }),
      ],
    });
    const put = async (key: string, text: string) => void (await objects.put(key, Readable.from([text])));
    return { config, scorecards, db, bus, put, close: () => closing.close() };
  }
}

function dialAnalysis(address: string) {
  return dial(analysis, address, { name: 'analysis', deadlineMs: 60_000 });
}

type Line = readonly [role: 'operator' | 'client', text: string];

/** The news that a call's transcript is ready: these words, or what stands at an object key. */
export function ready(
  said: readonly Line[] | { key: string },
  change: Partial<Omit<Ready, 'data'> & Ready['data']> = {},
): Ready {
  const { id, time, subject, firmuuid, priority, ...data } = change;
  const transcript = 'key' in said ? said : { utterances: utterancesOf(said) };
  return {
    id: id ?? randomUUID(),
    source: 'test',
    type: TranscriptReady.type,
    time: time ?? new Date().toISOString(),
    subject: subject ?? randomUUID(),
    firmuuid: firmuuid ?? randomUUID(),
    priority: priority ?? 0,
    data: {
      attempt: 1,
      source: 'transcription',
      duration: 60,
      language: null,
      tags: ['operator', 'client'],
      segment_type: 'support',
      transcript,
      ...data,
    },
  };
}

export function utterancesOf(said: readonly Line[]) {
  return said.map(([role, text]) => ({ role, text, start: null, end: null }));
}

function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('This is not there.');
  return part;
}
