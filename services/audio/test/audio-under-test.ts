import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, type ConsumerDepth, migrateBus, openBus, route } from '@call-analysis/bus';
import { type BodyOf, CallFailed, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { type Objects, openObjects } from '@call-analysis/objects';
import { type Database, migrate, openDatabase } from '@call-analysis/postgres';
import { audio, ingest } from '@call-analysis/proto';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import type { RecordAudioRequest } from '@call-analysis/proto/ingest/v1/RecordAudioRequest';
import type { RegisterCallRequest } from '@call-analysis/proto/ingest/v1/RegisterCallRequest';
import { type CallOptions, dial, type Handlers, serve } from '@call-analysis/rpc';
import { Closing, createLog } from '@call-analysis/runtime';
import { freshDatabase, waitUntil, wavHeader } from '@call-analysis/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { type Config, migrations, schema, start } from '../start.ts';

export type Failed = Event<BodyOf<typeof CallFailed>>;
type Catalogue = Pick<Handlers<typeof ingest>, 'registerCall' | 'recordAudio' | 'findCalls'>;

interface Opened {
  readonly config: Config;
  readonly db: Database;
  readonly bus: Bus;
  readonly objects: Objects;
  /** Where the objects lie. */
  readonly directory: string;
  readonly client: ReturnType<typeof dialAudio>;
  close(): Promise<void>;
}

const PATIENCE = { timeoutMs: 50_000 };
/** A machine that is busy with other tests takes its time to open all this. */
const OPEN_WITHIN_MS = 180_000;

function dialAudio(address: string) {
  return dial(audio, address, { name: 'audio', deadlineMs: PATIENCE.timeoutMs });
}

/** The whole service over a database, a bus and a disk of its own, beside a catalogue that answers as the test says. */
export class AudioUnderTest {
  readonly failed: Failed[] = [];
  /** What the service has logged, as JSON lines. */
  readonly lines: string[] = [];
  /** What the catalogue was told. */
  readonly registered: RegisterCallRequest[] = [];
  readonly recorded: RecordAudioRequest[] = [];
  /** Replaced by tests. */
  readonly catalogue: Catalogue = { ...obliging };
  #opened: Opened | undefined;

  constructor(change: Partial<Config> = {}) {
    beforeAll(async () => {
      this.#opened = await this.#open(change);
    }, OPEN_WITHIN_MS);
    afterAll(() => this.#opened?.close(), OPEN_WITHIN_MS);
  }

  get objects(): Objects {
    return there(this.#opened).objects;
  }

  get config(): Config {
    return there(this.#opened).config;
  }

  /** As the service's own role, past the service. */
  get db(): Database {
    return there(this.#opened).db;
  }

  /** Forgets what the catalogue was told, and makes it oblige again. */
  forget(): void {
    Object.assign(this.catalogue, obliging);
    this.registered.length = 0;
    this.recorded.length = 0;
  }

  upload(
    requests: Iterable<UploadRecordingRequestInit> | AsyncIterable<UploadRecordingRequestInit>,
    options?: CallOptions,
  ) {
    return there(this.#opened).client.uploadRecording(stream(requests), options);
  }

  /** The keys of everything that is stored. */
  async stored(): Promise<string[]> {
    const keys: string[] = [];
    for (const place of ['recordings/', 'uploading/']) {
      for await (const { key } of this.objects.list(place)) keys.push(key);
    }
    return keys;
  }

  /** Makes what marks an upload as old as if it had begun then. */
  async markSince(callUuid: string, begun: Date): Promise<void> {
    const { directory } = there(this.#opened);
    for (const path of await readdir(directory, { recursive: true })) {
      if (path.startsWith('uploading') && path.includes(callUuid)) await utimes(join(directory, path), begun, begun);
    }
  }

  async publish(...events: Event[]): Promise<void> {
    const { db, bus } = there(this.#opened);
    await db.transaction((tx) => bus.publish(tx, events));
  }

  failureOf(event: Event): Promise<Failed> {
    return waitUntil(() => this.failed.find(({ subject }) => subject === event.subject), PATIENCE);
  }

  recordedOf(event: Event): Promise<RecordAudioRequest> {
    return waitUntil(() => this.recorded.find(({ call_uuid }) => call_uuid === event.subject), PATIENCE);
  }

  async depth(): Promise<ConsumerDepth> {
    const depths = await there(this.#opened).bus.depths();
    return there(depths.find(({ consumer }) => consumer === 'audio.extract'));
  }

  /** Nothing waits any more. */
  async settled(): Promise<void> {
    await waitUntil(async () => {
      const { waiting, active } = await this.depth();
      return waiting + active === 0;
    }, PATIENCE);
  }

  async #open(change: Partial<Config>): Promise<Opened> {
    const log = createLog({ name: 'audio', destination: { write: (line) => void this.lines.push(line) } });
    const closing = new Closing();
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-audio-'));
    closing.add('directory', () => rm(directory, { recursive: true, force: true }));
    const database = await freshDatabase();
    closing.add('database', () => database.drop());
    const { RegisterCall, RecordAudio, FindCalls } = ingest;
    const behind = await serve({
      address: '127.0.0.1:0',
      services: [
        {
          service: { RegisterCall, RecordAudio, FindCalls },
          handlers: {
            registerCall: (...given: Parameters<Catalogue['registerCall']>) => {
              this.registered.push(given[0]);
              return this.catalogue.registerCall(...given);
            },
            recordAudio: (...given: Parameters<Catalogue['recordAudio']>) => {
              this.recorded.push(given[0]);
              return this.catalogue.recordAudio(...given);
            },
            findCalls: (...given: Parameters<Catalogue['findCalls']>) => this.catalogue.findCalls(...given),
          },
        },
      ],
      log: createLog({ name: 'behind', level: 'silent' }),
    });
    closing.add('catalogue', () => behind.stop(0));
    const config: Config = {
      databaseUrl: database.url(schema),
      bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      objects: { store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' },
      listen: '127.0.0.1:0',
      ingest: behind.address,
      retries: 1,
      ...change,
    };
    await migrateBus(config.bus);
    await migrate({ url: config.databaseUrl, schema, folder: migrations });
    const db = openDatabase({ url: config.databaseUrl, schema });
    closing.add('pool', () => db.close());
    const bus = await openBus(config.bus, { name: 'test', log });
    closing.add('bus', () => bus.close());
    const objects = await openObjects(config.objects);
    const service = await start(config, { log });
    closing.add('service', () => service.close());
    const client = dialAudio(service.address);
    closing.add('client', () => client.close());
    await bus.subscribe({
      consumer: 'test.catalogue',
      routes: [route({ event: CallFailed, handle: async (events) => void this.failed.push(...events) })],
    });
    return { config, db, bus, objects, directory, client, close: () => closing.close() };
  }
}

const obliging: Catalogue = {
  registerCall: async ({ call_uuid, fault }) => {
    if (fault) throw new Fault('invalid', fault.code, fault.message);
    return { call_uuid, ignored_fields: [] };
  },
  recordAudio: async () => ({}),
  findCalls: async () => ({ call_uuids: [] }),
};

export const firmUuid = randomUUID();

/** What a gateway sends of a good form, `changed` in parts; null leaves a part out. */
export function upload(
  bytes: Uint8Array,
  {
    fileName = 'a.wav',
    metadata = '{}',
    pieceBytes = 10_000,
  }: { fileName?: string; metadata?: string | null; pieceBytes?: number } = {},
): UploadRecordingRequestInit[] {
  const pieces: UploadRecordingRequestInit[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push({ chunk: bytes.subarray(at, at + pieceBytes) });
  return [
    { uploader: { firm_uuid: firmUuid, user_uuid: randomUUID() } },
    { file_name: fileName },
    ...pieces,
    ...(metadata === null ? [] : [{ metadata }]),
  ];
}

/** A WAV file of 16-bit PCM at 8 kHz. */
export function wavOf({ seconds = 1, channels = 2 }: { seconds?: number; channels?: number } = {}): Buffer {
  const frameBytes = 2 * channels;
  const data = Buffer.alloc(Math.round(seconds * 8000) * frameBytes);
  for (let at = 0; at + 1 < data.length; at += 2) data.writeInt16LE(((at * 7919) % 20_000) - 10_000, at);
  return Buffer.concat([wavHeader({ channels, dataBytes: data.length }), data]);
}

async function* stream<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('This is not there.');
  return part;
}
