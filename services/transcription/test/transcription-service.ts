import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Bus, openBus, route } from '@call-analysis/bus';
import {
  AudioStored,
  type BodyOf,
  CallFailed,
  type Event,
  TranscriptionProgressed,
  TranscriptionWaiting,
  TranscriptReady,
} from '@call-analysis/events';
import { type Objects, openObjects } from '@call-analysis/objects';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { Closing, createLog } from '@call-analysis/runtime';
import { serviceDatabase } from '@call-analysis/service/test';
import { waitUntil, wavHeader } from '@call-analysis/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { type Config, migrations, schema, start } from '../start.ts';
import type { WorkerPoolOptions } from '../workers/worker-pool.ts';

export type AudioStoredEvent = Event<BodyOf<typeof AudioStored>>;
type ReadyEvent = Event<BodyOf<typeof TranscriptReady>>;
type FailedEvent = Event<BodyOf<typeof CallFailed>>;
type ProgressedEvent = Event<BodyOf<typeof TranscriptionProgressed>>;

interface Opened {
  readonly config: Config;
  readonly db: Database;
  readonly bus: Bus;
  readonly objects: Objects;
  close(): Promise<void>;
}

/** Opening a service is slow on a machine that is busy with other tests. */
const OPEN_WITHIN_MS = 180_000;

/** The service with its own database, bus and object store for the tests of one file. Collects the published events. */
export class TranscriptionTestService {
  readonly ready: ReadyEvent[] = [];
  readonly failed: FailedEvent[] = [];
  readonly progressed: ProgressedEvent[] = [];
  readonly waiting: Event<BodyOf<typeof TranscriptionWaiting>>[] = [];
  /** The service's log, as JSON lines. */
  readonly lines: string[] = [];
  readonly #workerPool: Partial<WorkerPoolOptions>;
  readonly #services: { close(): Promise<void> }[] = [];
  #opened: Opened | undefined;

  /** `workerPool` replaces options of the pool. */
  constructor(workerPool: Partial<WorkerPoolOptions> = {}, replicas = 1) {
    this.#workerPool = workerPool;
    beforeAll(async () => {
      this.#opened = await this.#open();
      for (let replica = 0; replica < replicas; replica++) await this.start();
    }, OPEN_WITHIN_MS);
    afterAll(async () => {
      await this.stop();
      await this.#opened?.close();
    }, OPEN_WITHIN_MS);
  }

  async start(
    change: Partial<Config> = {},
    workerPool: Partial<WorkerPoolOptions> = {},
    longestEnginePauseMs = 1_000,
  ): Promise<void> {
    const log = createLog({ name: 'transcription', destination: { write: (line) => void this.lines.push(line) } });
    this.#services.push(
      await start(
        { ...this.#current.config, ...change },
        { log, workerPool: { ...this.#workerPool, ...workerPool }, longestEnginePauseMs },
      ),
    );
  }

  /** Stops all replicas. */
  async stop(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => service.close()));
  }

  async put(key: string, bytes: Buffer): Promise<void> {
    await this.#current.objects.put(key, Readable.from([bytes]));
  }

  async get(key: string): Promise<string> {
    return Buffer.concat(await (await this.#current.objects.open(key)).toArray()).toString('utf8');
  }

  /** As while the directory of the object store is not mounted. */
  async setStoreAway(isAway: boolean): Promise<void> {
    const { objects } = this.#current.config;
    if (objects.store !== 'disk') throw new Error('The store is not on disk.');
    const elsewhere = `${objects.directory}-away`;
    await (isAway ? rename(objects.directory, elsewhere) : rename(elsewhere, objects.directory));
  }

  async publish(...events: Event[]): Promise<void> {
    const { db, bus } = this.#current;
    await db.transaction((tx) => bus.publish(tx, events));
  }

  /** Stores a recording and publishes its event. */
  async store(
    bytes: Buffer,
    change: Partial<AudioStoredEvent['data']> = {},
    at = new Date(),
  ): Promise<AudioStoredEvent> {
    const event = { ...audioStored(change), time: at.toISOString() };
    await this.put(event.data.key, bytes);
    await this.publish(event);
    return event;
  }

  transcriptOf(event: Event): Promise<ReadyEvent> {
    return waitUntil(() => this.ready.find(({ subject }) => subject === event.subject));
  }

  failureOf(event: Event): Promise<FailedEvent> {
    return waitUntil(() => this.failed.find(({ subject }) => subject === event.subject));
  }

  /** The first progress event. */
  progressOf(event: Event): Promise<ProgressedEvent> {
    return waitUntil(() => this.progressed.find(({ subject }) => subject === event.subject));
  }

  /** Has the outage of the engine begun so long ago. */
  async setOutageBack(seconds: number): Promise<void> {
    await this.#current.db.query(`UPDATE engine_outage SET since = now() - $1 * interval '1 second'`, [seconds]);
  }

  async settled(): Promise<void> {
    const { bus } = this.#current;
    await waitUntil(async () => (await bus.depths()).every(({ waiting, active }) => waiting + active === 0));
  }

  async deadLetters(): Promise<number> {
    const depths = await this.#current.bus.depths();
    return depths.reduce((sum, { dead }) => sum + dead, 0);
  }

  /** The number of recordings in the work directory. */
  async recordingsInProgress(): Promise<number> {
    const entries = await readdir(this.#current.config.workDirectory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile() && entry.parentPath.includes('hearing-')).length;
  }

  get #current(): Opened {
    if (this.#opened === undefined) throw new Error('The service is not open before the tests begin.');
    return this.#opened;
  }

  async #open(): Promise<Opened> {
    const log = createLog({ name: 'test', level: 'silent' });
    const closing = new Closing();
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-transcription-'));
    closing.add('directory', () => rm(directory, { recursive: true, force: true }));
    const database = await serviceDatabase(schema, migrations);
    closing.add('database', () => database.drop());
    const databaseUrl = database.url(schema);
    const config: Config = {
      databaseUrl,
      bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      objects: {
        store: 'disk',
        directory: join(directory, 'objects'),
        secret: 'a secret of at least thirty-two bytes',
      },
      workDirectory: join(directory, 'work'),
      engine: { kind: 'local', workers: 2 },
      retries: 1,
    };
    const db = openDatabase({ url: databaseUrl, schema });
    closing.add('pool', () => db.close());
    const bus = await openBus(config.bus, { name: 'test', log });
    closing.add('bus', () => bus.close());
    const objects = await openObjects(config.objects);
    await bus.subscribe({
      consumer: 'test.catalogue',
      batchSize: 200,
      routes: [
        route({ event: TranscriptReady, handle: async (events) => void this.ready.push(...events) }),
        route({ event: CallFailed, handle: async (events) => void this.failed.push(...events) }),
        route({ event: TranscriptionProgressed, handle: async (events) => void this.progressed.push(...events) }),
        route({ event: TranscriptionWaiting, handle: async (events) => void this.waiting.push(...events) }),
      ],
    });
    return { config, db, bus, objects, close: () => closing.close() };
  }
}

/** The event for a new call with a recording. */
export function audioStored(change: Partial<AudioStoredEvent['data']> = {}): AudioStoredEvent {
  const call = randomUUID();
  return {
    id: randomUUID(),
    source: 'test',
    type: AudioStored.type,
    time: new Date().toISOString(),
    subject: call,
    firmuuid: randomUUID(),
    priority: 3,
    data: {
      attempt: 1,
      key: `recordings/${call}.wav`,
      format: 'wav',
      channels: 2,
      sample_rate: 8000,
      duration: 10,
      size_bytes: 1000,
      left: 'operator',
      right: 'client',
      segment_type: 'support',
      ...change,
    },
  };
}

/** A stereo WAV file with 16-bit PCM at 8 kHz. */
export function wavOf(left: ArrayLike<number>, right: ArrayLike<number>): Buffer {
  const samples = Buffer.alloc(4 * left.length);
  for (let at = 0; at < left.length; at++) {
    samples.writeInt16LE(Math.round(32_767 * left[at]!), 4 * at);
    samples.writeInt16LE(Math.round(32_767 * right[at]!), 4 * at + 2);
  }
  return Buffer.concat([wavHeader({ channels: 2, dataBytes: samples.length }), samples]);
}
