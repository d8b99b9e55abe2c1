import { randomUUID } from 'node:crypto';
import type {
  Delivery,
  DeliveryPage,
  Replay,
  Webhook,
  WebhookPage,
  WebhookWithSecret,
} from '@call-analysis/api/webhooks';
import { type Bus, openBus } from '@call-analysis/bus';
import { type BodyOf, CallEnded, CallErased, createEvent, type Event, type EventType } from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { webhooks } from '@call-analysis/proto';
import { dial } from '@call-analysis/rpc';
import { Closing, createLog } from '@call-analysis/runtime';
import { serviceDatabase } from '@call-analysis/service/test';
import { type ApiClient, apiClient } from '@call-analysis/service/test/api-client';
import { afterAll, beforeAll } from '@jest/globals';
import type { z } from 'zod';
import { type Config, migrations, schema, start } from '../start.ts';
import { openSink, type Sink } from './sink.ts';

type Replacements = Omit<Parameters<typeof start>[1], 'log' | 'left'>;

interface Answers {
  readonly createWebhook: z.output<typeof WebhookWithSecret>;
  readonly listWebhooks: z.output<typeof WebhookPage>;
  readonly getWebhook: z.output<typeof Webhook>;
  readonly changeWebhook: z.output<typeof Webhook>;
  readonly deleteWebhook: undefined;
  readonly rotateSecret: z.output<typeof WebhookWithSecret>;
  readonly testWebhook: z.output<typeof Delivery>;
  readonly listDeliveries: z.output<typeof DeliveryPage>;
  readonly retryDelivery: z.output<typeof Delivery>;
  readonly replay: z.output<typeof Replay>;
}

/** The running service of one test file, on a database of its own, with a sink to which it may send. */
export class WebhooksUnderTest {
  readonly lines: Record<string, unknown>[] = [];
  readonly #settings: Partial<Config>;
  readonly #replacements: Replacements;
  readonly #closing = new Closing();
  config!: Config;
  db!: Database;
  bus!: Bus;
  sink!: Sink;
  client!: ApiClient<Answers>;

  constructor(settings: Partial<Config> = {}, replacements: Replacements = {}) {
    this.#settings = settings;
    this.#replacements = replacements;
    beforeAll(() => this.#open());
    afterAll(() => this.#closing.close());
  }

  async #open(): Promise<void> {
    const database = await serviceDatabase(schema, migrations);
    this.#closing.add('database', () => database.drop());
    const bus = { transport: 'embedded' as const, url: database.url('bus'), schema: 'bus' };
    const databaseUrl = database.url(schema);
    this.config = { databaseUrl, bus, listen: '127.0.0.1:0', allowPrivate: true, ...this.#settings };
    this.db = openDatabase({ url: databaseUrl, schema });
    this.#closing.add('pool', () => this.db.close());
    const log = createLog({ name: 'test', level: 'silent' });
    this.bus = await openBus(bus, { name: 'test', log });
    this.#closing.add('bus', () => this.bus.close());
    this.sink = await openSink();
    this.#closing.add('sink', () => this.sink.close());
    const first = await this.startReplica();
    const client = dial(webhooks, first.address, { name: 'webhooks', deadlineMs: 60_000 });
    this.#closing.add('client', () => client.close());
    this.client = apiClient<Answers>(client, ['webhook_uuid', 'delivery_uuid']);
  }

  /** Starts the service once more on the same database. */
  async startReplica(replacements: Replacements = {}) {
    const destination = { write: (line: string) => void this.lines.push(JSON.parse(line) as Record<string, unknown>) };
    const log = createLog({ name: 'webhooks', destination });
    const service = await start(this.config, { log, ...this.#replacements, ...replacements });
    this.#closing.add('service', () => service.close());
    return service;
  }

  /** A webhook of a new firm, or of the given one, at its own path of the sink. */
  async webhook(given: { firmUuid?: string; events?: string[]; url?: string; path?: string } = {}) {
    const firmUuid = given.firmUuid ?? randomUUID();
    const caller = { firm_uuid: firmUuid, user_uuid: randomUUID(), address: '192.0.2.1' };
    const path = given.path ?? `/${randomUUID()}`;
    const url = given.url ?? this.sink.url + path;
    const events = given.events ?? ['call.completed', 'call.failed', 'call.erased'];
    const { uuid, secret } = await this.client.createWebhook({ caller, url, events });
    return { firmUuid, caller, path, secret, uuid, received: () => this.sink.of(path) };
  }

  async deliveries({ caller, uuid }: { caller: object; uuid: string }, status: string[] = []) {
    return this.client.listDeliveries({ caller, webhook_uuid: uuid, status, page: 1, size: 100 });
  }

  async publish(...events: Event[]): Promise<void> {
    // The schema of the tests' own tables does not matter to the bus.
    await this.db.transaction((tx) => this.bus.publish(tx, events));
  }

  /** The number of its events that wait or are being handled. */
  async pendingEvents(): Promise<number> {
    const depths = await this.bus.depths();
    return depths.reduce((sum, { waiting, active }) => sum + waiting + active, 0);
  }
}

export function eventOf<Body>(
  type: EventType<Body>,
  firmuuid: string,
  data: Body,
  subject: string = randomUUID(),
): Event<Body> {
  return createEvent('ingest', type, subject, { firmuuid }, data);
}

export const completed: BodyOf<typeof CallEnded> = {
  status: 'completed',
  outcome: 'scored',
  score: 71.4,
  segment_type: 'support',
  partner_call_id: 'crm-1',
  batch_uuid: null,
  campaign_uuid: null,
  failure: null,
};

export const callCompleted = (firmUuid: string, subject?: string) => eventOf(CallEnded, firmUuid, completed, subject);

export const callErased = (firmUuid: string, subject: string) =>
  eventOf(CallErased, firmUuid, { erased_at: new Date().toISOString() }, subject);
