import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { AnalysisEstimate } from '@call-analysis/api/jobs';
import type { Budget, Usage } from '@call-analysis/api/money';
import type { DefaultScorecard } from '@call-analysis/api/scorecards';
import { type Bus, type ConsumerDepth, openBus, route } from '@call-analysis/bus';
import {
  type Analysis,
  AnalysisWaiting,
  type BodyOf,
  BudgetSpent,
  CallAnalyzed,
  CallErased,
  CallFailed,
  createEvent,
  type Event,
  TranscriptReady,
} from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import { openObjects } from '@call-analysis/objects';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { analysis, keyManagement } from '@call-analysis/proto';
import { dial, serve } from '@call-analysis/rpc';
import { Closing, createLog, type Readiness } from '@call-analysis/runtime';
import { serviceDatabase } from '@call-analysis/service/test';
import { type ApiClient, apiClient } from '@call-analysis/service/test/api-client';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll } from '@jest/globals';
import type { z } from 'zod';
import type { Analyst } from '../analysts/analyst.ts';
import { type Config, migrations, schema, start } from '../start.ts';

export type TranscriptReadyEvent = Event<BodyOf<typeof TranscriptReady>>;
export type CallAnalyzedEvent = Event<BodyOf<typeof CallAnalyzed>>;
type CallFailedEvent = Event<BodyOf<typeof CallFailed>>;

interface Answers {
  readonly getBudget: z.output<typeof Budget>;
  readonly setBudget: z.output<typeof Budget>;
  readonly listUsage: z.output<typeof Usage>;
  readonly getDefaultScorecard: z.output<typeof DefaultScorecard>;
  readonly estimateAnalyses: z.output<typeof AnalysisEstimate>;
  readonly tryScorecard: Analysis;
}

type Client = Omit<ReturnType<typeof dialAnalysis>, keyof Answers> & ApiClient<Answers>;

interface Opened {
  readonly client: Client;
  readonly config: Config;
  readonly db: Database;
  readonly bus: Bus;
  readonly readiness: readonly Readiness[];
  /** The directory of the object store. */
  readonly directory: string;
  put(key: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * The complete service, as one or several replicas, for the tests of one file. It has a database, a bus and a disk of its
 * own, and records the events that the service publishes.
 */
export class TestService {
  readonly analyzed: CallAnalyzedEvent[] = [];
  readonly failed: CallFailedEvent[] = [];
  readonly waiting: Event<BodyOf<typeof AnalysisWaiting>>[] = [];
  readonly spent: Event<BodyOf<typeof BudgetSpent>>[] = [];
  /** The log of the service, as JSON lines. */
  readonly logLines: string[] = [];
  #opened: Opened | undefined;

  /** The segment types of every firm. */
  readonly segmentTypes = ['support', 'sales'];
  /** The languages of firms; those of the others are unknown. */
  readonly languages = new Map<string, string>();
  readonly redactions = new Map<string, string>();

  /** Key-management does not answer about these. */
  readonly unknownFirms = new Set<string>();

  constructor(analyst: Analyst, replicas: number, change: Partial<Config> = {}) {
    beforeAll(async () => {
      this.#opened = await this.#open(analyst, replicas, change);
    });
    afterAll(() => this.#opened?.close());
  }

  /** Direct access to the service's database, in the role of the service. */
  get db(): Database {
    return required(this.#opened).db;
  }

  /** A client of the first replica. */
  get client(): Client {
    return required(this.#opened).client;
  }

  put(key: string, text: string): Promise<void> {
    return required(this.#opened).put(key, text);
  }

  /** As while the directory of the object store is not mounted. */
  async setStoreAway(isAway: boolean): Promise<void> {
    const { directory } = required(this.#opened);
    const elsewhere = `${directory}-away`;
    await (isAway ? rename(directory, elsewhere) : rename(elsewhere, directory));
  }

  async publish(...events: Event[]): Promise<void> {
    const { db, bus } = required(this.#opened);
    await db.transaction((tx) => bus.publish(tx, events));
  }

  /** Publishes an event whose last try was running in a worker that has just died. */
  async publishWithDeadWorker(event: Event): Promise<void> {
    const { db, bus } = required(this.#opened);
    await db.transaction(async (tx) => {
      await bus.publish(tx, [event]);
      await tx.query(
        `UPDATE bus.job SET state = 'active', retry_count = retry_limit, started_on = now(),
           heartbeat_on = now() - (heartbeat_seconds - 5) * interval '1 second' WHERE id = $1`,
        [event.id],
      );
    });
  }

  analysisOf(event: Event): Promise<CallAnalyzedEvent> {
    return waitUntil(() => this.analyzed.find(({ subject }) => subject === event.subject));
  }

  failureOf(event: Event): Promise<CallFailedEvent> {
    return waitUntil(() => this.failed.find(({ subject }) => subject === event.subject));
  }

  async queueDepth(): Promise<ConsumerDepth> {
    const depths = await required(this.#opened).bus.depths();
    return required(depths.find(({ consumer }) => consumer === 'analysis'));
  }

  async erase(event: Event): Promise<void> {
    await this.publish(
      createEvent('ingest', CallErased, event.subject, event, { erased_at: new Date().toISOString() }),
    );
  }

  /** The parts that a replica reports as missing, without which it does less. */
  async notReady(): Promise<readonly string[]> {
    const missing = await Promise.all(required(this.#opened).readiness.map((each) => each.missing()));
    return missing.flatMap(({ others }) => others);
  }

  /** Waits until every queue is empty, including that of the test's own consumer. */
  async waitUntilIdle(): Promise<void> {
    const { bus } = required(this.#opened);
    await waitUntil(async () => (await bus.depths()).every(({ waiting, active }) => waiting + active === 0));
  }

  async #open(analyst: Analyst, replicas: number, change: Partial<Config>): Promise<Opened> {
    const log = createLog({ name: 'analysis', destination: { write: (line) => void this.logLines.push(line) } });
    const closing = new Closing();
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-analysis-'));
    closing.add('directory', () => rm(directory, { recursive: true, force: true }));
    const database = await serviceDatabase(schema, migrations);
    closing.add('database', () => database.drop());
    const databaseUrl = database.url(schema);
    const { FindFirm } = keyManagement;
    const findFirm = async ({ firm_uuid }: { firm_uuid: string }) => {
      if (this.unknownFirms.has(firm_uuid)) throw unavailable('The database');
      return {
        firm: {
          uuid: firm_uuid,
          name: 'Firm',
          country: 'UZ',
          segment_types: this.segmentTypes,
          language: this.languages.get(firm_uuid) ?? '',
          redaction: this.redactions.get(firm_uuid) ?? '',
        },
      };
    };
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
      ...change,
    };
    const db = openDatabase({ url: databaseUrl, schema });
    closing.add('pool', () => db.close());
    const bus = await openBus(config.bus, { name: 'test', log });
    closing.add('bus', () => bus.close());
    const objects = await openObjects(config.objects);
    const addresses: string[] = [];
    const readiness: Readiness[] = [];
    for (let replica = 0; replica < replicas; replica++) {
      const service = await start(config, { log, analyst });
      closing.add('service', () => service.close());
      addresses.push(service.address);
      readiness.push(service.readiness);
    }
    const dialled = dialAnalysis(required(addresses[0]));
    closing.add('client', () => dialled.close());
    const { getBudget, setBudget, listUsage, getDefaultScorecard, estimateAnalyses } = dialled;
    const client = {
      ...dialled,
      ...apiClient({ getBudget, setBudget, listUsage, getDefaultScorecard, estimateAnalyses }, []),
      ...apiClient({ tryScorecard: dialled.tryScorecard }, ['scorecard_uuid']),
    } as Client;
    await bus.subscribe({
      consumer: 'test.catalogue',
      batchSize: 200,
      routes: [
        route({ event: CallAnalyzed, handle: async (events) => void this.analyzed.push(...events) }),
        route({ event: AnalysisWaiting, handle: async (events) => void this.waiting.push(...events) }),
        route({ event: BudgetSpent, handle: async (events) => void this.spent.push(...events) }),
        route({ event: CallFailed, handle: async (events) => void this.failed.push(...events) }),
      ],
    });
    const put = async (key: string, text: string) => void (await objects.put(key, Readable.from([text])));
    return { config, client, db, bus, readiness, directory, put, close: () => closing.close() };
  }
}

function dialAnalysis(address: string) {
  return dial(analysis, address, { name: 'analysis', deadlineMs: 60_000 });
}

type Line = readonly [role: 'operator' | 'client', text: string];

/** An event `transcript.ready.v1` with these lines as the transcript, or with an object key. */
export function transcriptReady(
  lines: readonly Line[] | { key: string },
  change: Partial<Omit<TranscriptReadyEvent, 'data'> & TranscriptReadyEvent['data']> = {},
): TranscriptReadyEvent {
  const { id, time, subject, firmuuid, priority, ...data } = change;
  const transcript = 'key' in lines ? lines : { utterances: toUtterances(lines) };
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

export function toUtterances(lines: readonly Line[]) {
  return lines.map(([role, text]) => ({ role, text, start: null, end: null }));
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The service is not running.');
  return value;
}
