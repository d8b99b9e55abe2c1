import { mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, type ConsumerDepth, openBus, route } from '@call-analysis/bus';
import { type BodyOf, CallFailed, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { type Objects, openObjects } from '@call-analysis/objects';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { audio, ingest } from '@call-analysis/proto';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import type { RecordAudioRequest } from '@call-analysis/proto/ingest/v1/RecordAudioRequest';
import type { RegisterCallRequest } from '@call-analysis/proto/ingest/v1/RegisterCallRequest';
import { type CallOptions, dial, type Handlers, serve } from '@call-analysis/rpc';
import { Closing, createLog, currentContext } from '@call-analysis/runtime';
import { serviceDatabase } from '@call-analysis/service/test';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { type Config, migrations, schema, start } from '../start.ts';
import { firmUuid } from './recordings.ts';

type Failed = Event<BodyOf<typeof CallFailed>>;
type Catalogue = Pick<Handlers<typeof ingest>, 'registerCall' | 'recordAudio' | 'findCalls'>;

interface Opened {
  readonly config: Config;
  readonly db: Database;
  readonly bus: Bus;
  readonly objects: Objects;
  /** The directory of the disk store. */
  readonly directory: string;
  readonly client: ReturnType<typeof dialAudio>;
  close(): Promise<void>;
}

const DEADLINE_MS = 240_000;
/** A machine that is busy with other tests may take long to start all this. */
const START_WITHIN_MS = 180_000;

function dialAudio(address: string) {
  return dial(audio, address, { name: 'audio', deadlineMs: DEADLINE_MS });
}

/** The running service of one test file, on its own database, bus and disk store, with a call catalogue made by the test. */
export class AudioUnderTest {
  readonly failed: Failed[] = [];
  /** The log of the service as JSON lines. */
  readonly lines: string[] = [];
  /** The requests that the catalogue received. */
  readonly registered: RegisterCallRequest[] = [];
  /** Requests, with the spans that they arrived in. */
  readonly recorded: (RecordAudioRequest & { readonly traceparent: string | undefined })[] = [];
  /** The handlers of the catalogue. Tests replace them. */
  readonly catalogue: Catalogue = { ...accepting };
  #opened: Opened | undefined;

  constructor(change: Partial<Config> = {}) {
    beforeAll(async () => {
      this.#opened = await this.#open(change);
    }, START_WITHIN_MS);
    afterAll(() => this.#opened?.close(), START_WITHIN_MS);
  }

  get objects(): Objects {
    return present(this.#opened).objects;
  }

  get config(): Config {
    return present(this.#opened).config;
  }

  /** A connection under the service's database role that bypasses the service. */
  get db(): Database {
    return present(this.#opened).db;
  }

  /** Clears the received requests and restores the handlers of the catalogue. */
  reset(): void {
    Object.assign(this.catalogue, accepting);
    this.registered.length = 0;
    this.recorded.length = 0;
  }

  upload(
    requests: Iterable<UploadRecordingRequestInit> | AsyncIterable<UploadRecordingRequestInit>,
    options?: CallOptions,
  ) {
    return present(this.#opened).client.uploadRecording(stream(requests), options);
  }

  playback(callUuid: string) {
    return present(this.#opened).client.getPlayback({ firm_uuid: firmUuid, call_uuid: callUuid });
  }

  /** The keys of all stored recordings and markers. */
  async stored(): Promise<string[]> {
    const keys: string[] = [];
    for (const folder of ['recordings/', 'uploading/']) {
      for await (const { key } of this.objects.list(folder)) keys.push(key);
    }
    return keys;
  }

  /** Backdates the marker of an upload. */
  async backdateMarker(callUuid: string, begun: Date): Promise<void> {
    const { directory } = present(this.#opened);
    for (const path of await readdir(directory, { recursive: true })) {
      if (path.startsWith('uploading') && path.includes(callUuid)) await utimes(join(directory, path), begun, begun);
    }
  }

  async setStoreAway(isAway: boolean): Promise<void> {
    const { directory } = present(this.#opened);
    const elsewhere = `${directory}-away`;
    await (isAway ? rename(directory, elsewhere) : rename(elsewhere, directory));
  }

  async publish(...events: Event[]): Promise<void> {
    const { db, bus } = present(this.#opened);
    await db.transaction((tx) => bus.publish(tx, events));
  }

  failureOf(event: Event): Promise<Failed> {
    return waitUntil(() => this.failed.find(({ subject }) => subject === event.subject));
  }

  recordedOf(event: Event): Promise<AudioUnderTest['recorded'][number]> {
    return waitUntil(() => this.recorded.find(({ call_uuid }) => call_uuid === event.subject));
  }

  async depth(): Promise<ConsumerDepth> {
    const depths = await present(this.#opened).bus.depths();
    return present(depths.find(({ consumer }) => consumer === 'audio.extract'));
  }

  /** Waits until no extraction is pending. */
  async settled(): Promise<void> {
    await waitUntil(async () => {
      const { waiting, active } = await this.depth();
      return waiting + active === 0;
    });
  }

  async #open(change: Partial<Config>): Promise<Opened> {
    const log = createLog({ name: 'audio', destination: { write: (line) => void this.lines.push(line) } });
    const closing = new Closing();
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-audio-'));
    closing.add('directory', () => rm(directory, { recursive: true, force: true }));
    const database = await serviceDatabase(schema, migrations);
    closing.add('database', () => database.drop());
    const { RegisterCall, RecordAudio, FindCalls } = ingest;
    const catalogue = await serve({
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
              this.recorded.push({ ...given[0], traceparent: currentContext()?.traceparent });
              return this.catalogue.recordAudio(...given);
            },
            findCalls: (...given: Parameters<Catalogue['findCalls']>) => this.catalogue.findCalls(...given),
          },
        },
      ],
      log: createLog({ name: 'catalogue', level: 'silent' }),
    });
    closing.add('catalogue', () => catalogue.stop(0));
    const config: Config = {
      databaseUrl: database.url(schema),
      bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      objects: { store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' },
      listen: '127.0.0.1:0',
      ingest: catalogue.address,
      retries: 1,
      ...change,
    };
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

const accepting: Catalogue = {
  registerCall: async ({ call_uuid, fault }) => {
    if (fault) throw new Fault('invalid', fault.code, fault.message);
    return { call_uuid, ignored_fields: [] };
  },
  recordAudio: async () => ({}),
  findCalls: async () => ({ call_uuids: [] }),
};

async function* stream<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

function present<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('This part was not started.');
  return part;
}
