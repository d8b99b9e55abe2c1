import { Readable } from 'node:stream';
import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { StartFault } from '@call-analysis/runtime';
import { CompressionTypes, type Kafka as Client, type Producer } from 'kafkajs';
import type { Log, Kafka } from '../../config.ts';
import { listsOf } from '../../queue/event-batch.ts';
import { explain, failuresIn, within } from '../connection/explain.ts';
import { LARGE_BODY_BYTES, largeBodyKey } from '../large-bodies.ts';
import { type Message, toMessage, withDataRef } from '../message.ts';
import type { KnownTopics } from '../topics/known-topics.ts';
import { LARGEST_BATCH_BYTES, topicOf } from '../topics/topic.ts';
import type { OutboxRow } from './outbox-store.ts';
import { eventsOf, headersOf } from './outbox.ts';

// Generous bounds for the bytes of a request besides keys, values and headers.
const HEADER_OVERHEAD = 8;
const MESSAGE_OVERHEAD = 64;
const BATCH_OVERHEAD = 1_024;
/** The relay itself retries; the client only bridges a change of leaders. */
const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 4 };
const REQUEST_TIMEOUT_MS = 10_000;
/** Notices a link that drops everything, which would otherwise take minutes. */
const ATTEMPT_WITHIN_MS = 20_000;
const DISCONNECT_WITHIN_MS = 2_000;
/** How long a topic is suspended after Kafka refused a message for it. */
const SUSPEND_MS = 30_000;
/** A topic that was suspended this long ago and not sent to since has no more events: they were removed meanwhile. */
const FORGET_AFTER_MS = 2 * SUSPEND_MS;

export type Sender = ReturnType<typeof createSender>;

interface SenderOptions {
  readonly client: Client;
  readonly kafka: Kafka;
  readonly topics: KnownTopics;
  readonly log: Log;
  /** Keeps bodies that are too large for a message. */
  readonly overflow: Objects | undefined;
}

/** The rows for one topic and their messages. */
interface TopicLoad {
  readonly topic: string;
  readonly rows: OutboxRow[];
  readonly messages: Message[];
}

/** Sends rows of the outbox to their topics. */
export function createSender({ client, kafka, topics, log, overflow }: SenderOptions) {
  const refused = new Map<string, { readonly at: number; readonly error: Error }>();
  let connected: Promise<Producer> | undefined;

  async function connect(): Promise<Producer> {
    // Idempotent with one request in flight: retries by the client change no order, and brokers drop their duplicates.
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

  /** Discards a producer that failed: its sequence numbers may no longer match those of the brokers. */
  async function disconnect(): Promise<void> {
    const before = connected;
    connected = undefined;
    topics.reset();
    if (before === undefined) return;
    await within(
      DISCONNECT_WITHIN_MS,
      before.then((producer) => producer.disconnect()),
    ).catch(() => {});
  }

  function suspend(topic: string, error: Error): void {
    refused.set(topic, { at: Date.now(), error });
    log.error({ topic, err: error }, 'Kafka refuses the messages for a topic. Its events wait in the outbox.');
  }

  const attempt = (loads: readonly TopicLoad[]) => within(ATTEMPT_WITHIN_MS, sendAll(loads));

  async function sendAll(loads: readonly TopicLoad[]): Promise<void> {
    await topics.ensure(loads.map(({ topic }) => topic));
    const producer = await (connected ??= connect());
    for (const topicMessages of requestsOf(loads, kafka)) {
      await producer.sendBatch({
        topicMessages,
        acks: -1,
        timeout: REQUEST_TIMEOUT_MS,
        compression: CompressionTypes.ZSTD,
      });
    }
  }

  /** Sends each topic by itself and suspends those that Kafka refuses. */
  async function sendSeparately(loads: readonly TopicLoad[], failure: Error): Promise<OutboxRow[]> {
    const acknowledged: OutboxRow[] = [];
    for (const load of loads) {
      if (loads.length === 1) {
        suspend(load.topic, failure);
        continue;
      }
      try {
        await attempt([load]);
        acknowledged.push(...sent([load]));
      } catch (error) {
        await disconnect();
        if (!isRefusal(error)) throw error;
        suspend(load.topic, explain(error, kafka));
      }
    }
    return acknowledged;
  }

  /** Topics that get nothing for now, because Kafka refused their messages a short while ago. */
  function suspendedTopics(): string[] {
    const now = Date.now();
    for (const [topic, { at }] of refused) if (at + FORGET_AFTER_MS <= now) refused.delete(topic);
    return [...refused].flatMap(([topic, { at }]) => (now < at + SUSPEND_MS ? [topic] : []));
  }

  function sent(loads: readonly TopicLoad[]): OutboxRow[] {
    for (const { topic } of loads) refused.delete(topic);
    return loads.flatMap(({ rows }) => rows);
  }

  return {
    suspendedTopics,
    /** Why Kafka refuses the messages of a topic; undefined if it refuses none. Their events wait although Kafka answers. */
    get refusal(): Error | undefined {
      suspendedTopics();
      return [...refused.values()][0]?.error;
    },
    /**
     * Sends rows, in order within each topic, and returns those that Kafka acknowledged. Rejects when Kafka is away; any of the
     * rows may have been sent then.
     */
    async send(rows: readonly OutboxRow[]): Promise<OutboxRow[]> {
      const suspended = new Set(suspendedTopics());
      const loads = await loadsOf(
        rows.filter(({ topic }) => !suspended.has(topic)),
        overflow,
      );
      try {
        await attempt(loads);
        return sent(loads);
      } catch (error) {
        await disconnect();
        if (!isRefusal(error)) throw explain(error, kafka);
        return sendSeparately(loads, explain(error, kafka));
      }
    },
    close: disconnect,
  };
}

async function loadsOf(rows: readonly OutboxRow[], overflow: Objects | undefined): Promise<TopicLoad[]> {
  const loads = new Map<string, TopicLoad>();
  for (const row of rows) {
    const load = loads.get(row.topic) ?? { topic: row.topic, rows: [], messages: [] };
    loads.set(row.topic, load);
    load.rows.push(row);
    const headers = headersOf(row);
    for (const event of eventsOf(row)) {
      const message = await messageFor(event, overflow);
      load.messages.push({ ...message, headers: { ...message.headers, ...headers } });
    }
  }
  return [...loads.values()];
}

/** The event's message. A body that is too large for one is first put into the object store. */
async function messageFor(event: Event, overflow: Objects | undefined): Promise<Message> {
  const message = toMessage(event);
  if (overflow === undefined || message.value === null || message.value.length <= LARGE_BODY_BYTES) return message;
  const key = largeBodyKey(event);
  await overflow.put(key, Readable.from([message.value]));
  return withDataRef(message, key);
}

type Request = { topic: string; messages: Pick<Message, 'key' | 'value' | 'headers'>[] }[];

/** Splits messages, in order, into requests that send no topic more than a broker takes in one batch. */
function* requestsOf(loads: readonly TopicLoad[], kafka: Kafka): Generator<Request> {
  const bounds = { sizeOf: bytesOf, total: LARGEST_BATCH_BYTES - BATCH_OVERHEAD };
  const open = loads.map(({ topic, messages }) => ({
    topic: topicOf(kafka, topic),
    batches: listsOf(messages, bounds),
  }));
  for (;;) {
    const request: Request = [];
    for (const { topic, batches } of open) {
      const batch = batches.next();
      if (batch.done !== true) request.push({ topic, messages: batch.value });
    }
    if (request.length === 0) return;
    yield request;
  }
}

function bytesOf({ key, value, headers }: Message): number {
  let bytes = MESSAGE_OVERHEAD + Buffer.byteLength(key) + (value?.length ?? 0);
  for (const [name, text] of Object.entries(headers)) bytes += HEADER_OVERHEAD + name.length + Buffer.byteLength(text);
  return bytes;
}

/** Errors about one topic or message, after which Kafka may still take others. */
const REFUSAL =
  /_AUTHORIZATION_FAILED$|^MESSAGE_TOO_LARGE$|^RECORD_LIST_TOO_LARGE$|^INVALID_TOPIC|^INVALID_RECORD$|^POLICY_VIOLATION$/;

/** A StartFault is one too: it is about missing topics. */
function isRefusal(error: unknown): boolean {
  return error instanceof StartFault || failuresIn(error).some(({ type = '' }) => REFUSAL.test(type));
}
