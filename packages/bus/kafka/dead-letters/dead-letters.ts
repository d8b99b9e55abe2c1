import { randomUUID } from 'node:crypto';
import { Envelope } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import {
  type Admin,
  type Consumer,
  type Kafka as Client,
  type KafkaMessage,
  Partitioners,
  type Producer,
} from 'kafkajs';
import type { BusOptions, Log, Kafka } from '../../config.ts';
import {
  type ChooseReplayAction,
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetters,
  REDELIVER,
  type ReplayAction,
  type ReplayResult,
} from '../../port.ts';
import { connect } from '../connection/client.ts';
import { explain } from '../connection/explain.ts';
import {
  deadLetterTopic,
  fromMessage,
  headerOf,
  isDeadLetterTopic,
  readDeadLetterHeaders,
  redeliveryHeaders,
  REPLAYED_AT,
  replayNoteHeaders,
  toMessage,
} from '../message.ts';
import { READERS } from '../rights/rights.ts';
import { topicOf } from '../topics/topic.ts';
import { ensureTopics } from '../topics/topics.ts';

/** Kafka is unavailable when no message arrives for this long although more must be there. */
const MESSAGE_WITHIN_MS = 30_000;

/** Short, because a consumer that disconnects waits for its open requests. */
const maxWaitTimeInMs = 100;

interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
}

interface FoundDeadLetter extends Position {
  readonly deadLetter: DeadLetter;
}

/** The dead letters in Kafka's topics. An interrupted replay may repeat; handlers claim their events. */
export async function openTopicDeadLetters(
  kafka: Kafka,
  { name, log }: Pick<BusOptions, 'name' | 'log'>,
): Promise<DeadLetters> {
  const client = connect(kafka, { name, log });
  const admin = client.admin();
  try {
    await admin.connect();
  } catch (error) {
    await admin.disconnect().catch(() => {});
    throw explain(error, kafka);
  }
  const withHint = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw explain(error, kafka);
    });
  return {
    async list(filter, limit) {
      const found = await withHint(findDeadLetters({ client, admin, kafka }, filter));
      const deadLetters = [...found.values()].map(({ deadLetter }) => deadLetter);
      return deadLetters.toSorted((one, other) => other.at.getTime() - one.at.getTime()).slice(0, limit);
    },
    replay: (filter, choose = () => REDELIVER) => withHint(replay({ client, admin, kafka, log }, filter, choose)),
    async close() {
      await admin.disconnect().catch(() => {});
    },
  };
}

interface Deps {
  readonly client: Client;
  readonly admin: Admin;
  readonly kafka: Kafka;
}

/** By consumer and event id. A note of a replay removes an entry; giving the event up again adds it again. */
async function findDeadLetters(deps: Deps, filter: DeadLetterFilter): Promise<Map<string, FoundDeadLetter>> {
  const found = new Map<string, FoundDeadLetter>();
  await readAll(deps, await topicsOf(deps, filter), async (position, message) => {
    const deadLetter = deadLetterFrom(message);
    if (deadLetter === undefined || !matches(deadLetter, filter)) return;
    const key = `${deadLetter.consumer}/${deadLetter.id}`;
    found.delete(key);
    if (headerOf(message, REPLAYED_AT) === undefined) found.set(key, { ...position, deadLetter });
  });
  return found;
}

async function topicsOf({ admin, kafka }: Deps, { type }: DeadLetterFilter): Promise<string[]> {
  const isWanted = (topic: string) =>
    type === undefined
      ? topic.startsWith(kafka.prefix) && isDeadLetterTopic(topic)
      : topic === topicOf(kafka, deadLetterTopic(type));
  return (await admin.listTopics()).filter(isWanted);
}

function matches(deadLetter: DeadLetter, { ids, ...wanted }: DeadLetterFilter): boolean {
  if (ids !== undefined && !ids.includes(deadLetter.id)) return false;
  return (Object.keys(wanted) as (keyof typeof wanted)[]).every(
    (name) => wanted[name] === undefined || deadLetter[name] === wanted[name],
  );
}

function deadLetterFrom(message: KafkaMessage): DeadLetter | undefined {
  const headers = readDeadLetterHeaders(message);
  if (headers === undefined) return undefined;
  const { at, ...reason } = headers;
  const attribute = (name: string): string => headerOf(message, `ce_${name}`) ?? '';
  return {
    ...reason,
    id: attribute('id'),
    type: attribute('type'),
    subject: attribute('subject'),
    firmUuid: attribute('firmuuid'),
    at: new Date(at || Number(message.timestamp)),
  };
}

/** Reads the topics twice, first to choose: bodies are too large to be kept meanwhile. */
async function replay(
  deps: Deps & { log: Log },
  filter: DeadLetterFilter,
  choose: ChooseReplayAction,
): Promise<ReplayResult> {
  const chosen = new Map([...(await findDeadLetters(deps, filter)).values()].map((each) => [keyOf(each), each]));
  const sum = { replayed: 0, published: 0 };
  if (chosen.size === 0) return sum;
  const producer = deps.client.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  try {
    await readAll(deps, [...new Set([...chosen.values()].map(({ topic }) => topic))], async (position, message) => {
      const { deadLetter } = chosen.get(keyOf(position)) ?? {};
      if (deadLetter === undefined) return;
      const action = actionFor(message, deadLetter.consumer, choose);
      await send(deps, producer, { message, deadLetter, action });
      // In the dead letter's own partition, so that it follows the dead letter.
      const note = {
        key: message.key,
        value: null,
        headers: replayNoteHeaders(message, new Date()),
        partition: position.partition,
      };
      await producer.send({ topic: position.topic, messages: [note] });
      sum.replayed += 1;
      if (action.publish.length > 0) sum.published += 1;
    });
  } finally {
    await producer.disconnect().catch(() => {});
  }
  return sum;
}

async function send(
  { admin, kafka, log }: Deps & { log: Log },
  producer: Producer,
  { message, deadLetter, action }: { message: KafkaMessage; deadLetter: DeadLetter; action: ReplayAction },
): Promise<void> {
  if (action.redeliver) {
    const again = { key: message.key, value: message.value, headers: redeliveryHeaders(message, deadLetter.consumer) };
    await producer.send({ topic: topicOf(kafka, deadLetter.type), messages: [again] });
  }
  for (const event of action.publish) {
    const { topic, ...published } = toMessage(event);
    await ensureTopics(admin, [topicOf(kafka, topic)], kafka, log);
    await producer.send({ topic: topicOf(kafka, topic), messages: [published] });
  }
}

/** A body in the object store is not fetched: `choose` sees the event without it. */
function actionFor(message: KafkaMessage, consumer: string, choose: ChooseReplayAction): ReplayAction {
  const envelope = Envelope.safeParse(fromMessage(message));
  return envelope.success ? choose(envelope.data, consumer) : REDELIVER;
}

function keyOf({ topic, partition, offset }: Position): string {
  return `${topic}/${partition}/${offset}`;
}

/** Reads the messages that are in the topics now, each partition in its order, and none that arrives meanwhile. */
async function readAll(
  { client, admin, kafka }: Deps,
  topics: readonly string[],
  onMessage: (position: Position, message: KafkaMessage) => Promise<void>,
): Promise<void> {
  const ends = new Map<string, bigint>();
  for (const topic of topics) {
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
      if (BigInt(high) > BigInt(low)) ends.set(`${topic}/${partition}`, BigInt(high));
    }
  }
  if (ends.size === 0) return;
  const groupId = `${kafka.prefix}${READERS}${randomUUID()}`;
  const consumer = client.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs,
    retry: { restartOnFailure: async () => false },
  });
  try {
    await consumer.connect();
    await consumer.subscribe({
      topics: topics.filter((topic) => [...ends.keys()].some((key) => key.startsWith(`${topic}/`))),
      fromBeginning: true,
    });
    await readUntil(consumer, ends, onMessage);
  } finally {
    await consumer.disconnect().catch(() => {});
    // No process joins this group again. If this fails, the brokers remove it in time.
    await admin.deleteGroups([groupId]).catch(() => {});
  }
}

/** `ends` has the offset after the last message to read, by `topic/partition`. */
async function readUntil(
  consumer: Consumer,
  ends: Map<string, bigint>,
  onMessage: (position: Position, message: KafkaMessage) => Promise<void>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(unavailable('Kafka')), MESSAGE_WITHIN_MS);
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  await consumer.run({
    autoCommit: false,
    async eachBatch({ batch, resolveOffset, heartbeat }) {
      const { topic, partition } = batch;
      const key = `${topic}/${partition}`;
      try {
        for (const message of batch.messages) {
          const end = ends.get(key);
          if (end === undefined || BigInt(message.offset) >= end) break;
          timer.refresh();
          await onMessage({ topic, partition, offset: message.offset }, message);
          resolveOffset(message.offset);
          await heartbeat();
        }
      } catch (error) {
        reject(error);
        return;
      }
      if (BigInt(batch.lastOffset()) + 1n >= (ends.get(key) ?? 0n)) ends.delete(key);
      if (ends.size === 0) resolve();
    },
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}
