import { Readable } from 'node:stream';
import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { StartFault } from '@call-analysis/runtime';
import { CompressionTypes, type Kafka as Client, type Producer } from 'kafkajs';
import { largeBodyKey } from '../large-bodies.ts';
import type { Log } from '../../queue/queues.ts';
import type { Kafka } from '../config.ts';
import { explain } from '../connection/explain.ts';
import type { KnownTopics } from '../topics/known-topics.ts';
import { type Message, toMessage, withDataRef } from '../message.ts';
import { eventsOf, headersOf, OVERFLOW_BYTES, type OutboxRow } from './outbox.ts';
import { LARGEST_BATCH_BYTES, topicOf } from '../topics/topics.ts';
import { within } from '../connection/within.ts';

// What a request holds beside keys, values and headers, generously.
const perHeader = 8;
const perMessage = 64;
const perBatch = 1_024;
/** The relay itself tries again; the client only bridges a change of leaders. */
const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 4 };
const requestTimeoutMs = 10_000;
/** A link that swallows what is sent would otherwise be found out after minutes. */
const attemptWithinMs = 20_000;
const leaveWithinMs = 2_000;
/** How long something that Kafka takes no message of stands aside. */
const asideMs = 30_000;
/** What stood aside so long ago without being sent again does not wait any more: it was forgotten meanwhile. */
const doubtfulMs = 2 * asideMs;

/** Sends the outbox's rows to their topics. */
export interface Sender {
  /** Topics that stand aside, because Kafka took nothing for them a short while ago. */
  aside(): string[];
  /** Why Kafka takes nothing for a topic, when that is so of any: what waits for it waits although Kafka answers. */
  readonly refusal: Error | undefined;
  /**
   * Sends in order, topics apart, and says which rows Kafka has acknowledged. Rejects when Kafka is away: then any of
   * them may have been sent.
   */
  send(rows: readonly OutboxRow[]): Promise<OutboxRow[]>;
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly client: Client;
  readonly kafka: Kafka;
  readonly topics: KnownTopics;
  readonly log: Log;
  /** Where bodies lie that are too large for a message. */
  readonly overflow: Objects | undefined;
}

/** Rows of one topic with their messages. */
interface Load {
  readonly topic: string;
  readonly rows: OutboxRow[];
  readonly messages: Message[];
}

export function createSender({ client, kafka, topics, log, overflow }: SenderOptions): Sender {
  const refused = new Map<string, { readonly at: number; readonly error: Error }>();
  let connected: Promise<Producer> | undefined;

  async function connect(): Promise<Producer> {
    // Retries of the client cannot change the order, and what came twice by them is thrown away by the brokers.
    const producer = client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      retry,
    });
    try {
      await producer.connect();
    } catch (error) {
      void producer.disconnect().catch(() => {});
      throw error;
    }
    return producer;
  }

  /** A producer that has failed may have lost count of what the brokers have: another one begins anew. */
  async function renew(): Promise<void> {
    const before = connected;
    connected = undefined;
    topics.doubt();
    if (before === undefined) return;
    await within(
      leaveWithinMs,
      before.then((producer) => producer.disconnect()),
    ).catch(() => {});
  }

  function standAside(topic: string, error: unknown): void {
    refused.set(topic, { at: Date.now(), error: error instanceof Error ? error : new Error(String(error)) });
    log.error({ topic, err: error }, 'Kafka takes nothing for a topic; what waits for it stays in the outbox.');
  }

  const attempt = (loads: readonly Load[]) => within(attemptWithinMs, sendAll(loads));

  async function sendAll(loads: readonly Load[]): Promise<void> {
    await topics.have(loads.map(({ topic }) => topic));
    const producer = await (connected ??= connect());
    for (const topicMessages of requestsOf(loads, kafka)) {
      await producer.sendBatch({
        topicMessages,
        acks: -1,
        timeout: requestTimeoutMs,
        compression: CompressionTypes.None,
      });
    }
  }

  /** Finds what it is that Kafka does not take, lets that stand aside and sends the rest. */
  async function sendApart(loads: readonly Load[], failure: unknown): Promise<OutboxRow[]> {
    const acknowledged: OutboxRow[] = [];
    for (const load of loads) {
      if (loads.length === 1) {
        standAside(load.topic, failure);
        continue;
      }
      try {
        await attempt([load]);
        acknowledged.push(...sent([load]));
      } catch (error) {
        await renew();
        if (!isRefusal(error)) throw error;
        standAside(load.topic, explain(error, kafka));
      }
    }
    return acknowledged;
  }

  function aside(): string[] {
    const now = Date.now();
    for (const [topic, { at }] of refused) if (at + doubtfulMs <= now) refused.delete(topic);
    return [...refused].flatMap(([topic, { at }]) => (now < at + asideMs ? [topic] : []));
  }

  function sent(loads: readonly Load[]): OutboxRow[] {
    for (const { topic } of loads) refused.delete(topic);
    return loads.flatMap(({ rows }) => rows);
  }

  return {
    aside,
    get refusal() {
      aside();
      return [...refused.values()][0]?.error;
    },
    async send(rows) {
      const waiting = new Set(aside());
      const loads = await loadsOf(
        rows.filter(({ topic }) => !waiting.has(topic)),
        overflow,
      );
      try {
        await attempt(loads);
        return sent(loads);
      } catch (error) {
        await renew();
        if (!isRefusal(error)) throw explain(error, kafka);
        return sendApart(loads, explain(error, kafka));
      }
    },
    close: renew,
  };
}

async function loadsOf(rows: readonly OutboxRow[], overflow: Objects | undefined): Promise<Load[]> {
  const loads = new Map<string, Load>();
  for (const row of rows) {
    const load = loads.get(row.topic) ?? { topic: row.topic, rows: [], messages: [] };
    loads.set(row.topic, load);
    load.rows.push(row);
    const more = headersOf(row);
    for (const event of eventsOf(row)) {
      const message = await fitting(event, overflow);
      load.messages.push({ ...message, headers: { ...message.headers, ...more } });
    }
  }
  return [...loads.values()];
}

/** The event's message; a body that is too large for one is put into the object store before. */
async function fitting(event: Event, overflow: Objects | undefined): Promise<Message> {
  const message = toMessage(event);
  if (overflow === undefined || message.value === null || message.value.length <= OVERFLOW_BYTES) return message;
  const key = largeBodyKey(event);
  await overflow.put(key, Readable.from([message.value]));
  return withDataRef(message, key);
}

type Request = { topic: string; messages: Pick<Message, 'key' | 'value' | 'headers'>[] }[];

/** In order, and no topic with more in one request than a broker takes at once for one partition. */
function* requestsOf(loads: readonly Load[], kafka: Kafka): Generator<Request> {
  const open = loads.map(({ topic, messages }) => ({ topic: topicOf(kafka, topic), parts: partsOf(messages) }));
  for (;;) {
    const request: Request = [];
    for (const { topic, parts } of open) {
      const part = parts.next();
      if (part.done !== true) request.push({ topic, messages: part.value });
    }
    if (request.length === 0) return;
    yield request;
  }
}

function* partsOf(messages: readonly Message[]): Generator<Message[]> {
  let part: Message[] = [];
  let room = LARGEST_BATCH_BYTES - perBatch;
  for (const message of messages) {
    const bytes = bytesOf(message);
    if (part.length > 0 && bytes > room) {
      yield part;
      part = [];
      room = LARGEST_BATCH_BYTES - perBatch;
    }
    part.push(message);
    room -= bytes;
  }
  if (part.length > 0) yield part;
}

function bytesOf({ key, value, headers }: Message): number {
  let bytes = perMessage + Buffer.byteLength(key) + (value?.length ?? 0);
  for (const [name, text] of Object.entries(headers)) bytes += perHeader + name.length + Buffer.byteLength(text);
  return bytes;
}

/** What Kafka says of one topic or message while it takes others; a StartFault is about topics that are missing. */
const refusal =
  /_AUTHORIZATION_FAILED$|^MESSAGE_TOO_LARGE$|^RECORD_LIST_TOO_LARGE$|^INVALID_TOPIC|^INVALID_RECORD$|^POLICY_VIOLATION$/;

function isRefusal(error: unknown): boolean {
  return error instanceof StartFault || typesIn(error).some((type) => refusal.test(type));
}

function typesIn(error: unknown): string[] {
  const types: string[] = [];
  for (let each = error; typeof each === 'object' && each !== null; each = (each as { cause?: unknown }).cause) {
    const { type } = each as { type?: unknown };
    if (typeof type === 'string') types.push(type);
    if (types.length > 10) break;
  }
  return types;
}
