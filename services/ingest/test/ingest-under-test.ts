import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Bus, migrateBus, openBus, route } from '@call-analysis/bus';
import {
  type BodyOf,
  CallAnalyzed,
  CallFailed,
  createEvent,
  type Event,
  type EventType,
  TranscriptReady,
} from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import { type Objects, openObjects } from '@call-analysis/objects';
import { type Database, migrate, openDatabase } from '@call-analysis/postgres';
import { ingest, keyManagement } from '@call-analysis/proto';
import { dial, serve } from '@call-analysis/rpc';
import { Closing, createLog } from '@call-analysis/runtime';
import { freshDatabase } from '@call-analysis/testing';
import { afterAll, beforeAll, jest } from '@jest/globals';
import AdmZip from 'adm-zip';
import { v7 as uuidv7 } from 'uuid';
import type { Firm, Firms } from '../firms.ts';
import { processUpload, type ProcessUploadRequest } from '../intake/process-upload.ts';
import { type Config, defaultLimits, migrations, schema, start } from '../start.ts';
import { type Batch, openStore, type Store, type StoredRecording } from '../store/index.ts';
import type { Owner } from '../store/uploads.ts';
import { openUpload } from '../uploads/open-upload.ts';

// A machine that has other things to do too may take ten times as long as usual.
jest.setTimeout(180_000);

export type Client = ReturnType<typeof dialIngest>;

function dialIngest(address: string) {
  return dial(ingest, address, { name: 'ingest', deadlineMs: 60_000 });
}

export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: Firms;
  readonly limits: Config['limits'];
}

interface Opened {
  readonly parts: Parts;
  readonly db: Database;
  readonly config: Config;
  close(): Promise<void>;
}

const log = createLog({ name: 'ingest', level: 'silent' });

/**
 * The service's parts over a database, a bus and a disk of their own, for the tests of one file; with `serving`, the
 * whole service over gRPC as well. Firms are made up by the tests, one or more for each.
 */
export class IngestUnderTest {
  readonly #firms = new Map<string, Firm>();
  #opened: Opened | undefined;
  #served: { readonly client: Client; readonly address: string } | undefined;

  /** `retries` of an event that cannot be handled yet. */
  constructor({ serving = false, retries = 1 }: { serving?: boolean; retries?: number } = {}) {
    beforeAll(async () => {
      this.#opened = await this.#open(serving, retries);
    });
    afterAll(() => this.#opened?.close());
  }

  get parts(): Parts {
    return there(this.#opened).parts;
  }

  get config(): Config {
    return there(this.#opened).config;
  }

  /** As the service's own role, past the service. */
  get db(): Database {
    return there(this.#opened).db;
  }

  get client(): Client {
    return there(this.#served).client;
  }

  get address(): string {
    return there(this.#served).address;
  }

  newOwner(firm: Partial<Firm> = {}): Owner {
    const uuid = randomUUID();
    this.#firms.set(uuid, { uuid, country: 'UZ', segmentTypes: new Set(['support']), ...firm });
    return { firmUuid: uuid, userUuid: randomUUID() };
  }

  /** Opens an upload and puts the bytes. Returns the storage key. */
  async put(owner: Owner, bytes: string | Buffer, filename = 'calls.csv'): Promise<string> {
    const { metadata } = await this.openUpload(owner, filename);
    await this.putAt(metadata.key, bytes);
    return metadata.key;
  }

  openUpload(owner: Owner, filename = 'calls.csv', audios: string | null = null, campaignUuid: string | null = null) {
    return openUpload(this.parts, owner, { metadata: filename, audios, campaignUuid });
  }

  /** Opens an upload with recordings and puts both files. */
  async putBatch(
    owner: Owner,
    csv: string,
    archive: Buffer,
    filename = 'calls.csv',
  ): Promise<{ metadataKey: string; audiosKey: string }> {
    const { metadata, audios } = await this.openUpload(owner, filename, 'calls.zip');
    await this.putAt(metadata.key, csv);
    await this.putAt(there(audios ?? undefined).key, archive);
    return { metadataKey: metadata.key, audiosKey: there(audios ?? undefined).key };
  }

  /** Uploads a batch of recordings and processes it. */
  async uploadBatch(owner: Owner, csv: string, archive: Buffer, onError: 'reject' | 'skip' = 'reject'): Promise<Batch> {
    const { metadataKey, audiosKey } = await this.putBatch(owner, csv, archive);
    return this.process(owner, metadataKey, { audiosKey, onError });
  }

  async putAt(key: string, bytes: string | Buffer): Promise<void> {
    await this.parts.objects.put(key, Readable.from([bytes]));
  }

  /** Processes an upload by the use case alone, `changed` standing in for some of its parts. */
  process(
    owner: Owner,
    metadataKey: string,
    request: Partial<ProcessUploadRequest> = {},
    changed: Partial<Parts> = {},
  ): Promise<Batch> {
    const whole = { metadataKey, audiosKey: null, onError: 'reject' as const, campaignUuid: null, ...request };
    return processUpload({ ...this.parts, ...changed }, { ...owner, address: '192.0.2.7' }, whole);
  }

  /** Uploads a CSV and processes it. */
  async upload(owner: Owner, csv: string | Buffer, onError: 'reject' | 'skip' = 'reject'): Promise<Batch> {
    return this.process(owner, await this.put(owner, csv), { onError });
  }

  /** The hour of this upload is over. */
  async expire(metadataKey: string): Promise<void> {
    await this.db.query(
      `UPDATE upload_session SET created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours'
       WHERE metadata_key = $1`,
      [metadataKey],
    );
  }

  /** The firm's calls, in the order of their uuids. */
  async callsOf(owner: Owner): Promise<{ uuid: string; id: string | null; operator: string; batch: string }[]> {
    return this.db.query(
      `SELECT uuid, partner_call_id AS id, operator_name AS operator, batch_uuid AS batch
       FROM call WHERE firm_uuid = $1 ORDER BY uuid`,
      [owner.firmUuid],
    );
  }

  /** What the service has put for this firm besides what was uploaded. */
  async objectsOf(owner: Owner): Promise<string[]> {
    const keys: string[] = [];
    for (const place of ['frozen', 'rejected']) {
      for await (const { key } of this.parts.objects.list(`${place}/${owner.firmUuid}/`)) keys.push(key);
    }
    return keys;
  }

  /** Everything that processing can leave behind for a firm. */
  async tracesOf({ firmUuid }: Owner): Promise<Record<string, number>> {
    const [rows] = await this.db.query<Record<string, number>>(
      `SELECT (SELECT count(*) FROM call WHERE firm_uuid = $1)::int AS calls,
              (SELECT count(*) FROM recording WHERE firm_uuid = $1)::int AS recordings,
              (SELECT count(*) FROM batch WHERE firm_uuid = $1)::int AS batches,
              (SELECT count(*) FROM rejected_file WHERE firm_uuid = $1)::int AS rejected_files`,
      [firmUuid],
    );
    const objects = await this.objectsOf({ firmUuid, userUuid: firmUuid });
    return { ...rows, objects: objects.length };
  }

  /** Hears all facts of one kind from now on. */
  async hear<Body>(event: EventType<Body>): Promise<Event<Body>[]> {
    const heard: Event<Body>[] = [];
    await this.parts.bus.subscribe({
      consumer: `test.${randomUUID()}`,
      batchSize: 500,
      routes: [route({ event, handle: async (events) => void heard.push(...events) })],
    });
    return heard;
  }

  async publish(...events: Event[]): Promise<void> {
    await this.db.transaction((tx) => this.parts.bus.publish(tx, events));
  }

  async #open(serving: boolean, retries: number): Promise<Opened> {
    const closing = new Closing();
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-ingest-'));
    closing.add('directory', () => rm(directory, { recursive: true, force: true }));
    const database = await freshDatabase();
    closing.add('database', () => database.drop());
    const databaseUrl = database.url(schema);
    const config: Config = {
      databaseUrl,
      bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      objects: { store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' },
      listen: '127.0.0.1:0',
      keyManagement: '127.0.0.1:1',
      limits: defaultLimits,
      retries,
    };
    await migrateBus(config.bus);
    await migrate({ url: databaseUrl, schema, folder: migrations });
    const db = openDatabase({ url: databaseUrl, schema });
    closing.add('pool', () => db.close());
    const store = openStore(db, databaseUrl);
    closing.add('store', () => store.close());
    const bus = await openBus(config.bus, { name: 'test', log });
    closing.add('bus', () => bus.close());
    const find = async (uuid: string) => {
      const firm = this.#firms.get(uuid);
      if (firm === undefined) throw notFound('firm');
      return firm;
    };
    const objects = await openObjects(config.objects);
    if (serving) await this.#serve(config, find, closing);
    const parts = { store, bus, objects, firms: { find, close() {} }, limits: config.limits };
    return { parts, db, config, close: () => closing.close() };
  }

  async #serve(config: Config, find: (uuid: string) => Promise<Firm>, closing: Closing): Promise<void> {
    const findFirm = async ({ firm_uuid }: { firm_uuid: string }) => {
      const { uuid, country, segmentTypes } = await find(firm_uuid);
      return { firm: { uuid, name: 'Firm', country, segment_types: [...segmentTypes] } };
    };
    const { FindFirm } = keyManagement;
    const firms = await serve({
      address: '127.0.0.1:0',
      services: [{ service: { FindFirm }, handlers: { findFirm } }],
      log,
    });
    closing.add('key-management', () => firms.stop());
    const service = await start({ ...config, keyManagement: firms.address }, { log });
    closing.add('service', () => service.close());
    const client = dialIngest(service.address);
    closing.add('client', () => client.close());
    this.#served = { client, address: service.address };
  }
}

/** An object store that differs from another one in some deeds. */
export function objectsBut(objects: Objects, changed: Partial<Objects>): Objects {
  return new Proxy(objects, {
    get(target, name) {
      const deed: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name);
      return typeof deed === 'function' ? deed.bind(target) : deed;
    },
  });
}

const columns = [
  'partner_call_id',
  'client_phone_number',
  'operator_name',
  'duration',
  'anonymized_text',
  'start_time',
  'segment_type',
] as const;

export type CsvRow = Partial<Record<(typeof columns)[number], string>>;

const good: CsvRow = {
  client_phone_number: '+998901234567',
  operator_name: 'Aziza',
  duration: '60',
  anonymized_text: '<operator>Hello<client>Hi',
  start_time: '2026-01-02T03:04:05',
  segment_type: 'support',
};

/** A CSV of rows that are good in all that they leave unsaid. Values must not need quotes. */
export function csvOf(rows: readonly CsvRow[]): string {
  const lines = rows.map((row) => columns.map((name) => row[name] ?? good[name] ?? '').join(','));
  return [columns.join(','), ...lines, ''].join('\n');
}

const audioColumns = [
  'audio_file_name',
  'client_phone_number',
  'operator_name',
  'start_time',
  'segment_type',
  'right_channel',
  'left_channel',
  'partner_call_id',
] as const;

export type AudioRow = Partial<Record<(typeof audioColumns)[number], string>>;

export const goodAudio = {
  audio_file_name: 'call.wav',
  client_phone_number: '+998901234567',
  operator_name: 'Aziza',
  start_time: '2026-01-02T03:04:05',
  segment_type: 'support',
  right_channel: 'client',
  left_channel: 'operator',
};

/** A CSV of recordings, each row good in all that it leaves unsaid. Values must not need quotes. */
export function audioCsvOf(rows: readonly AudioRow[]): string {
  const whole = rows.map((row): AudioRow => ({ ...goodAudio, ...row }));
  const lines = whole.map((row) => audioColumns.map((name) => row[name] ?? '').join(','));
  return [audioColumns.join(','), ...lines, ''].join('\n');
}

/** A ZIP with a file of each name in its root. What is in them is nobody's business here. */
export function zipOf(names: readonly string[]): Buffer {
  const zip = new AdmZip();
  for (const name of names) zip.addFile(name, Buffer.from(`bytes of ${name}`));
  return zip.toBuffer();
}

/** `call-0.wav` and so on. */
export function fileNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `call-${index}.wav`);
}

export function recordingOf(change: Partial<StoredRecording> = {}): StoredRecording {
  return {
    objectKey: `recordings/${randomUUID()}.wav`,
    format: 'wav',
    codec: 'pcm_s16le',
    channels: 2,
    sampleRate: 8000,
    duration: 61.25,
    sizeBytes: 1_960_044,
    sha256: randomBytes(32),
    ...change,
  };
}

/** The same row that many times; without one, good rows without a partner_call_id. */
export function rowsOf(count: number, row: CsvRow = {}): CsvRow[] {
  return Array.from({ length: count }, () => row);
}

export interface Call {
  readonly owner: Owner;
  readonly uuid: string;
}

/** As whom a request is made over gRPC. */
export function callerOf({ firmUuid, userUuid }: Owner) {
  return { caller: { firm_uuid: firmUuid, user_uuid: userUuid } };
}

/** A fact about a call from beyond this service, which does not hear its own transcripts. */
export function factOf<Body>(type: EventType<Body>, { owner, uuid }: Call, data: Body): Event<Body> {
  return { ...createEvent('transcription', type, uuid, { firmuuid: owner.firmUuid, priority: 0 }, data) };
}

export const analysis: NonNullable<BodyOf<typeof CallAnalyzed>['analysis']> = {
  scorecard: { uuid: randomUUID(), name: 'Scorecard', revision: 1 },
  analyst: { name: 'rules', version: '1' },
  score: 87.5,
  auto_failed: false,
  sections: [],
  summary: 'A call.',
  topics: [],
  sentiment: { operator: 0, client: 0 },
  metrics: {
    talk_ratio: { operator: 0.5, client: 0.5, silence: null },
    interruptions: null,
    longest_monologue: { operator: 1, client: 1 },
    words: { operator: 1, client: 1 },
    questions_asked: 0,
  },
  created_at: '2026-01-02T03:04:05.000Z',
};

export function callAnalyzed(call: Call, change: Partial<BodyOf<typeof CallAnalyzed>> = {}) {
  const body = { analysis_uuid: uuidv7(), outcome: 'scored' as const, language: 'en' as const, analysis };
  return factOf(CallAnalyzed, call, { attempt: 1, ...body, ...change });
}

/** Of a conversation in which nobody spoke. */
export const noSpeech = { outcome: 'no_speech' as const, language: null, analysis: null };

export const failure = {
  stage: 'analysis' as const,
  code: 'TOO_HARD',
  message: 'It was too hard.',
  retryable: true,
  attempts: 6,
};

export function callFailed(call: Call, change: Partial<BodyOf<typeof CallFailed>> = {}) {
  return factOf(CallFailed, call, { attempt: 1, ...failure, ...change });
}

type Transcribed = BodyOf<typeof TranscriptReady>;

/** That the recording of a call has been heard. */
export function transcriptReady(call: Call, change: Partial<Transcribed> = {}) {
  return factOf<Transcribed>(TranscriptReady, call, {
    attempt: 1,
    source: 'audio',
    duration: 60,
    language: 'en',
    tags: [],
    segment_type: 'support',
    transcript: { utterances: [{ role: 'client', text: 'Hi', start: 0, end: 1 }] },
    ...change,
  });
}

/** The Fault that it is refused with. */
export async function faultOf(refused: Promise<unknown>): Promise<Fault> {
  try {
    await refused;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('This is not open.');
  return part;
}
