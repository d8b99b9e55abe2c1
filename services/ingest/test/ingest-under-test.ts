import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { route } from '@call-analysis/bus';
import type { Event, EventType } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Firm } from '@call-analysis/service/firms';
import { afterAll, beforeAll } from '@jest/globals';
import type { Batch } from '../batches/batch-store.ts';
import { openUpload } from '../intake/open-upload.ts';
import { processUpload, type ProcessUploadRequest } from '../intake/process-upload.ts';
import type { Owner } from '../intake/upload-store.ts';
import type { Config } from '../start.ts';
import { type Client, type Deps, type Served, type StartedIngest, startIngest } from './start-ingest.ts';

/**
 * The service of one test file: its dependencies on a database, a bus and a disk of their own, and with `serving` the running
 * service over gRPC as well. Each test creates the firms it needs.
 */
export class IngestUnderTest {
  readonly #firms = new Map<string, Firm>();
  #started: StartedIngest | undefined;

  /** `retries`: how often an event that fails is redelivered. */
  constructor({ serving = false, retries = 1 }: { serving?: boolean; retries?: number } = {}) {
    beforeAll(async () => {
      const findFirm = async (uuid: string) => {
        const firm = this.#firms.get(uuid);
        if (firm === undefined) throw notFound('firm');
        return firm;
      };
      this.#started = await startIngest({ serving, retries, findFirm });
    });
    afterAll(() => this.#started?.close());
  }

  get deps(): Deps {
    return present(this.#started).deps;
  }

  get config(): Config {
    return present(this.#started).config;
  }

  /** A connection under the service's database role that bypasses the service. */
  get db(): Database {
    return present(this.#started).db;
  }

  get client(): Client {
    return this.#served.client;
  }

  get address(): string {
    return this.#served.address;
  }

  get #served(): Served {
    return present(present(this.#started).served);
  }

  /** A user of a new firm. */
  newOwner(firm: Partial<Firm> = {}): Owner {
    const uuid = randomUUID();
    this.#firms.set(uuid, {
      uuid,
      name: 'Firm',
      country: 'UZ',
      segmentTypes: new Set(['support']),
      language: 'en',
      timeZone: 'UTC',
      redaction: 'none',
      audioDays: null,
      transcriptDays: null,
      callsDays: null,
      ...firm,
    });
    return { firmUuid: uuid, userUuid: randomUUID() };
  }

  openUpload(owner: Owner, filename = 'calls.csv', audios: string | null = null, campaignUuid: string | null = null) {
    return openUpload(this.deps, owner, { metadata: filename, audios, campaignUuid });
  }

  /** Opens an upload session and stores the file. Returns the storage key. */
  async put(owner: Owner, bytes: string | Buffer, filename = 'calls.csv'): Promise<string> {
    const { metadata_key } = await this.openUpload(owner, filename);
    await this.putAt(metadata_key, bytes);
    return metadata_key;
  }

  async putAt(key: string, bytes: string | Buffer): Promise<void> {
    await this.deps.objects.put(key, Readable.from([bytes]));
  }

  /** Opens an upload session with recordings and stores both files. */
  async putBatch(
    owner: Owner,
    csv: string,
    archive: Buffer,
    filename = 'calls.csv',
  ): Promise<{ metadataKey: string; audiosKey: string }> {
    const session = await this.openUpload(owner, filename, 'calls.zip');
    const metadataKey = session.metadata_key;
    const audiosKey = present(session.audio_key);
    await this.putAt(metadataKey, csv);
    await this.putAt(audiosKey, archive);
    return { metadataKey, audiosKey };
  }

  /** Processes an upload by the use case alone; `replaced` dependencies replace the service's own. */
  process(
    owner: Owner,
    metadataKey: string,
    request: Partial<ProcessUploadRequest> = {},
    replaced: Partial<Deps> = {},
  ): Promise<Batch> {
    const complete = { metadataKey, audiosKey: null, onError: 'reject' as const, campaignUuid: null, ...request };
    return processUpload({ ...this.deps, ...replaced }, { ...owner, address: '192.0.2.7' }, complete);
  }

  /** Uploads a CSV of transcripts and processes it. */
  async upload(owner: Owner, csv: string | Buffer, onError: 'reject' | 'skip' = 'reject'): Promise<Batch> {
    return this.process(owner, await this.put(owner, csv), { onError });
  }

  /** Uploads a CSV with its ZIP of recordings and processes them. */
  async uploadBatch(owner: Owner, csv: string, archive: Buffer, onError: 'reject' | 'skip' = 'reject'): Promise<Batch> {
    const { metadataKey, audiosKey } = await this.putBatch(owner, csv, archive);
    return this.process(owner, metadataKey, { audiosKey, onError });
  }

  /** Makes the upload session two hours older, so that it has expired. */
  async expire(metadataKey: string): Promise<void> {
    await this.db.query(
      `UPDATE upload_session SET created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours'
       WHERE metadata_key = $1`,
      [metadataKey],
    );
  }

  /** The firm's calls in the order of their uuids. */
  async callsOf(owner: Owner): Promise<{ uuid: string; id: string | null; operator: string; batch: string }[]> {
    return this.db.query(
      `SELECT uuid, partner_call_id AS id, operator_name AS operator, batch_uuid AS batch
       FROM call WHERE firm_uuid = $1 ORDER BY uuid`,
      [owner.firmUuid],
    );
  }

  /** The keys of the objects that the service wrote for this firm. Uploaded files are not among them. */
  async objectsOf(owner: Owner): Promise<string[]> {
    const keys: string[] = [];
    for (const folder of ['frozen', 'rejected']) {
      for await (const { key } of this.deps.objects.list(`${folder}/${owner.firmUuid}/`)) keys.push(key);
    }
    return keys;
  }

  /** Counts everything that processing can store for a firm. */
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

  /** Subscribes to one event type. The array grows as events are delivered. */
  async collect<Body>(event: EventType<Body>): Promise<Event<Body>[]> {
    const collected: Event<Body>[] = [];
    await this.deps.bus.subscribe({
      consumer: `test.${randomUUID()}`,
      batchSize: 500,
      routes: [route({ event, handle: async (events) => void collected.push(...events) })],
    });
    return collected;
  }

  async publish(...events: Event[]): Promise<void> {
    await this.db.transaction((tx) => this.deps.bus.publish(tx, events));
  }
}

function present<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('This part was not started.');
  return part;
}
