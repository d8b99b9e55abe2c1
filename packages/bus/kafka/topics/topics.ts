import { setTimeout as pause } from 'node:timers/promises';
import { StartFault } from '@call-analysis/runtime';
import kafkajs, { type Admin } from 'kafkajs';
import type { Log } from '../../queue/queues.ts';
import { COMPRESSION, howToUncompress, UNREAD_COMPRESSION } from '../connection/compression.ts';
import type { Kafka } from '../config.ts';
import { explain } from '../connection/explain.ts';

/**
 * What one request may put into one partition, as it is sent: Kafka's own default. Every message of a request that goes
 * to the same partition counts, for the client makes one batch of them.
 */
export const LARGEST_BATCH_BYTES = 1_048_588;

const KNOWN_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 50;

/** The topic of a type of fact; Kafka takes at most 249 letters, digits, dots, hyphens and underscores. */
export function topicOf(kafka: Pick<Kafka, 'prefix'>, type: string): string {
  const topic = `${kafka.prefix}${type}`;
  if (/^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== '.' && topic !== '..') return topic;
  throw new StartFault(`Kafka takes no topic of the name ${topic}.`);
}

/**
 * Makes what is missing of these topics (by `topicOf`) and checks the others. StartFault when some are missing and none
 * may be made; it says how. Any number of processes may do it at once.
 */
export async function haveTopics(admin: Admin, topics: readonly string[], kafka: Kafka, log: Log): Promise<void> {
  try {
    const existing = new Set(await admin.listTopics());
    const wanted = [...new Set(topics)];
    const missing = wanted.filter((topic) => !existing.has(topic));
    if (missing.length > 0) await make(admin, missing, kafka);
    const found = wanted.filter((topic) => existing.has(topic));
    if (found.length > 0) await check(admin, found, kafka, log);
  } catch (error) {
    throw explain(error, kafka);
  }
}

async function make(admin: Admin, missing: readonly string[], kafka: Kafka): Promise<void> {
  const { create, partitions, replication } = kafka.topics;
  if (!create) throw new StartFault(howToMake(missing, kafka, 'KAFKA_CREATE_TOPICS is off'));
  const configEntries = Object.entries(settingsOf(kafka)).map(([name, value]) => ({ name, value }));
  try {
    await admin.createTopics({
      // It would take a broker that has not heard of a new topic yet for a failure.
      waitForLeaders: false,
      topics: missing.map((topic) => ({
        topic,
        numPartitions: partitions,
        replicationFactor: replication,
        configEntries,
      })),
    });
    await untilKnown(admin, missing);
  } catch (error) {
    const refusals = refusalsIn(error).filter(({ type }) => type !== 'TOPIC_ALREADY_EXISTS');
    if (refusals.length === 0 && refusalsIn(error).length > 0) return;
    const types = new Set(refusals.map(({ type }) => type));
    if (types.has('INVALID_REPLICATION_FACTOR')) {
      throw new StartFault(
        `Kafka has too few brokers for ${replication} copies of a topic; lower KAFKA_TOPIC_REPLICATION.`,
      );
    }
    const refusal = ['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'POLICY_VIOLATION'].find((type) =>
      types.has(type),
    );
    if (refusal === undefined) throw error;
    const refused = refusals.flatMap(({ type, topic }) => (type === refusal && topic !== undefined ? [topic] : []));
    throw new StartFault(howToMake(refused.length > 0 ? refused : missing, kafka, `we may make none (${refusal})`));
  }
}

/** What is not known in time will be: whoever writes and reads asks again. */
async function untilKnown(admin: Admin, topics: readonly string[]): Promise<void> {
  for (const until = Date.now() + KNOWN_WITHIN_MS; Date.now() < until; await pause(ASK_EVERY_MS)) {
    const known = new Set(await admin.listTopics());
    if (topics.every((topic) => known.has(topic))) return;
  }
}

function settingsOf({ topics }: Kafka): Record<string, string> {
  return {
    'retention.ms': String(topics.retentionMs),
    'max.message.bytes': String(LARGEST_BATCH_BYTES),
    'compression.type': COMPRESSION,
  };
}

function howToMake(missing: readonly string[], kafka: Kafka, why: string): string {
  const { partitions, replication } = kafka.topics;
  const settings = Object.entries(settingsOf(kafka)).map(([name, value]) => ` --config ${name}=${value}`);
  const copies = replication === -1 ? '' : ` --replication-factor ${replication}`;
  return (
    `Kafka at ${kafka.brokers.join(',')} lacks the topics ${missing.join(', ')}, and ${why}. Make each of them: ` +
    `kafka-topics.sh --bootstrap-server ${kafka.brokers[0]} --create --topic NAME --partitions ${partitions}${copies}${settings.join('')}`
  );
}

interface Refusal {
  readonly type?: string;
  readonly topic?: string;
}

/** One for each topic that could not be made. */
function refusalsIn(error: unknown): readonly Refusal[] {
  if (typeof error !== 'object' || error === null) return [];
  if ('errors' in error && Array.isArray(error.errors)) return error.errors as Refusal[];
  return 'type' in error ? [error as Refusal] : [];
}

async function check(admin: Admin, found: readonly string[], kafka: Kafka, log: Log): Promise<void> {
  const wanted = kafka.topics.partitions;
  const metadata = await admin.fetchTopicMetadata({ topics: [...found] });
  for (const { name, partitions } of metadata.topics) {
    if (partitions.length >= wanted) continue;
    log.warn(
      { topic: name, partitions: partitions.length, wanted },
      'A topic has fewer partitions than KAFKA_TOPIC_PARTITIONS asks for; that many replicas at most read it at the same time.',
    );
  }
  const settings = await readSettings(admin, found);
  for (const [topic, { 'max.message.bytes': bytes }] of settings) {
    if (bytes === undefined || Number(bytes) >= LARGEST_BATCH_BYTES) continue;
    log.warn(
      { topic, bytes: Number(bytes), wanted: LARGEST_BATCH_BYTES },
      'A topic takes smaller messages than we may send; raise its max.message.bytes.',
    );
  }
  for (const [topic, { 'retention.ms': retentionMs }] of settings) {
    if (retentionMs === undefined || (retentionMs !== '-1' && Number(retentionMs) <= kafka.topics.retentionMs))
      continue;
    log.warn(
      { topic, retentionMs: Number(retentionMs), wanted: kafka.topics.retentionMs },
      'A topic keeps facts for longer than KAFKA_TOPIC_RETENTION says, by which we forget their bodies and that they were handled.',
    );
  }
  checkCompression(settings, kafka, log);
}

type Settings = Readonly<Record<string, string>>;

function checkCompression(settings: ReadonlyMap<string, Settings>, kafka: Kafka, log: Log): void {
  const compressed = (isMeant: (type: string) => boolean) =>
    [...settings].flatMap(([topic, { 'compression.type': type }]) =>
      type !== undefined && isMeant(type) ? [topic] : [],
    );
  const unread = compressed((type) => UNREAD_COMPRESSION.has(type));
  if (unread.length > 0) {
    throw new StartFault(
      `Kafka at ${kafka.brokers.join(',')} compresses by snappy or lz4, which we do not read, what is sent to ${unread.join(', ')}. ` +
        `Change each of them: ${howToUncompress(kafka)}`,
    );
  }
  const open = compressed((type) => type === 'producer');
  if (open.length === 0) return;
  log.warn(
    { topics: open, command: howToUncompress(kafka) },
    'Topics keep the compression of whoever writes; one batch by snappy or lz4 would stop their readers. Set their compression.type.',
  );
}

/** By topic. */
async function readSettings(admin: Admin, found: readonly string[]): Promise<Map<string, Settings>> {
  const configNames = ['max.message.bytes', 'retention.ms', 'compression.type'];
  const resources = found.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames }));
  try {
    const described = await admin.describeConfigs({ resources, includeSynonyms: false });
    return new Map(
      described.resources.map(({ resourceName, configEntries }) => [
        resourceName,
        Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
      ]),
    );
  } catch {
    // Who may read and write a topic may not always read its settings.
    return new Map();
  }
}
