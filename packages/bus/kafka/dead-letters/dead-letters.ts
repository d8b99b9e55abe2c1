import { randomUUID } from 'node:crypto';
import { Envelope } from '@call-analysis/events';
import { Fault, unavailable } from '@call-analysis/fault';
import {
  type Admin,
  type Consumer,
  type Kafka as Client,
  type KafkaMessage,
  Partitioners,
  type Producer,
} from 'kafkajs';
import {
  REDELIVER,
  type Choose,
  type ReplayAction,
  type DeadLetter,
  type DeadLetters,
  type Replayed,
  type DeadLetterFilter,
} from '../../dead-letters.ts';
import type { Log } from '../../queue/queues.ts';
import { connect } from '../connection/client.ts';
import type { Kafka } from '../config.ts';
import {
  deadLetterTopic,
  deathOf,
  headersOfNote,
  headersOfReplay,
  isDeadLetterTopic,
  REPLAYED_AT,
} from './headers.ts';
import { explain } from '../connection/explain.ts';
import { fromMessage, headerOf, toMessage } from '../message.ts';
import { haveTopics, topicOf } from '../topics/topics.ts';

/** When nothing has come for so long of what must be there, something is wrong. */
const patienceMs = 30_000;

/** Whoever leaves waits for the answers to come. */
const maxWaitTimeInMs = 100;

/** Where a message stands. */
interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
}

/** The dead letters in the topics of Kafka. Replaying may happen twice when it is interrupted; handlers know. */
export async function openTopicDeadLetters(
  kafka: Kafka,
  { name, log }: { readonly name: string; readonly log: Log },
): Promise<DeadLetters> {
  const client = connect(kafka, { name, log });
  const admin = client.admin();
  try {
    await admin.connect();
  } catch (error) {
    await admin.disconnect().catch(() => {});
    throw explain(error, kafka);
  }
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw explain(error, kafka);
    }
  };
  return {
    list: (which, limit) =>
      explained(async () => {
        const letters = [...(await readLetters({ client, admin, kafka }, which)).values()].map(({ letter }) => letter);
        return letters.toSorted((one, other) => other.at.getTime() - one.at.getTime()).slice(0, limit);
      }),
    replay: (which, choose = () => REDELIVER) => explained(() => replay({ client, admin, kafka, log }, which, choose)),
    async close() {
      await admin.disconnect().catch(() => {});
    },
  };
}

interface Parts {
  readonly client: Client;
  readonly admin: Admin;
  readonly kafka: Kafka;
}

/** By consumer and id: what was replayed is gone, and what died again is there again. */
async function readLetters(
  parts: Parts,
  which: DeadLetterFilter,
): Promise<Map<string, Position & { letter: DeadLetter }>> {
  const letters = new Map<string, Position & { letter: DeadLetter }>();
  await readAll(parts, await topicsOf(parts, which), async (position, message) => {
    const letter = letterOf(message);
    if (letter === undefined || !isAmong(letter, which)) return;
    const key = `${letter.consumer}/${letter.id}`;
    letters.delete(key);
    if (headerOf(message, REPLAYED_AT) === undefined) letters.set(key, { ...position, letter });
  });
  return letters;
}

async function topicsOf({ admin, kafka }: Parts, { type }: DeadLetterFilter): Promise<string[]> {
  const topics = (await admin.listTopics()).filter(
    (topic) => topic.startsWith(kafka.prefix) && isDeadLetterTopic(topic),
  );
  return type === undefined ? topics : topics.filter((topic) => topic === topicOf(kafka, deadLetterTopic(type)));
}

function isAmong(letter: DeadLetter, { ids, consumer, type, firmUuid, code }: DeadLetterFilter): boolean {
  return (
    (ids === undefined || ids.includes(letter.id)) &&
    (consumer === undefined || letter.consumer === consumer) &&
    (type === undefined || letter.type === type) &&
    (firmUuid === undefined || letter.firmUuid === firmUuid) &&
    (code === undefined || letter.code === code)
  );
}

function letterOf(message: KafkaMessage): DeadLetter | undefined {
  const death = deathOf(message);
  if (death === undefined) return undefined;
  const { at, ...reason } = death;
  const attribute = (each: string): string => headerOf(message, `ce_${each}`) ?? '';
  const [id, type, subject, firmUuid] = [
    attribute('id'),
    attribute('type'),
    attribute('subject'),
    attribute('firmuuid'),
  ];
  return { ...reason, id, type, subject, firmUuid, at: new Date(at || Number(message.timestamp)) };
}

/** Looks which there are, then reads again those alone: bodies are too large to be kept meanwhile. */
async function replay(parts: Parts & { log: Log }, which: DeadLetterFilter, choose: Choose): Promise<Replayed> {
  const chosen = new Map([...(await readLetters(parts, which)).values()].map((each) => [placeOf(each), each]));
  const sum = { replayed: 0, published: 0 };
  if (chosen.size === 0) return sum;
  const producer = parts.client.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  try {
    await readAll(parts, [...new Set([...chosen.values()].map(({ topic }) => topic))], async (position, message) => {
      const { letter } = chosen.get(placeOf(position)) ?? {};
      if (letter === undefined) return;
      const course = courseFor(message, letter.consumer, choose);
      await send(parts, producer, { message, letter, course });
      // In the letter's own partition, so that it stands behind it.
      const note = {
        key: message.key,
        value: null,
        headers: headersOfNote(message, new Date()),
        partition: position.partition,
      };
      await producer.send({ topic: position.topic, messages: [note] });
      sum.replayed += 1;
      if (course.publish.length > 0) sum.published += 1;
    });
  } finally {
    await producer.disconnect().catch(() => {});
  }
  return sum;
}

async function send(
  { admin, kafka, log }: Parts & { log: Log },
  producer: Producer,
  { message, letter, course }: { message: KafkaMessage; letter: DeadLetter; course: ReplayAction },
): Promise<void> {
  if (course.redeliver) {
    const again = { key: message.key, value: message.value, headers: headersOfReplay(message, letter.consumer) };
    await producer.send({ topic: topicOf(kafka, letter.type), messages: [again] });
  }
  for (const event of course.publish) {
    const { topic, ...told } = toMessage(event);
    await haveTopics(admin, [topicOf(kafka, topic)], kafka, log);
    await producer.send({ topic: topicOf(kafka, topic), messages: [told] });
  }
}

/** A body that is kept elsewhere is not looked at. */
function courseFor(message: KafkaMessage, consumer: string, choose: Choose): ReplayAction {
  const envelope = Envelope.safeParse(fromMessage(message));
  return envelope.success ? choose(envelope.data, consumer) : REDELIVER;
}

function placeOf({ topic, partition, offset }: Position): string {
  return `${topic}/${partition}/${offset}`;
}

/** Hands over what stands in topics now, each partition in its order, and nothing that comes meanwhile. */
async function readAll(
  { client, admin, kafka }: Parts,
  topics: readonly string[],
  take: (position: Position, message: KafkaMessage) => Promise<void>,
): Promise<void> {
  const ends = new Map<string, bigint>();
  for (const topic of topics) {
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
      if (BigInt(high) > BigInt(low)) ends.set(`${topic}/${partition}`, BigInt(high));
    }
  }
  if (ends.size === 0) return;
  const groupId = `${kafka.prefix}dead-letters.${randomUUID()}`;
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
    await reading(consumer, ends, take);
  } finally {
    await consumer.disconnect().catch(() => {});
    // A group that nobody will join again; brokers forget it by themselves, too.
    await admin.deleteGroups([groupId]).catch(() => {});
  }
}

async function reading(
  consumer: Consumer,
  ends: Map<string, bigint>,
  take: (position: Position, message: KafkaMessage) => Promise<void>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(unavailable('Kafka')), patienceMs);
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
          await take({ topic, partition, offset: message.offset }, message);
          resolveOffset(message.offset);
          await heartbeat();
        }
      } catch (error) {
        reject(error instanceof Error ? error : new Fault('internal', 'INTERNAL', String(error)));
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
