import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import kafkajs, { type Admin } from 'kafkajs';
import type { BusOptions, EventUse, Log, Kafka } from '../../config.ts';
import { connect } from '../connection/client.ts';
import { explain, failuresIn } from '../connection/explain.ts';
import { deadLetterTopic } from '../message.ts';
import { compressionCommand, LARGEST_BATCH_BYTES, settingsOf, topicOf, UNREADABLE_COMPRESSIONS } from './topic.ts';

const KNOWN_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 50;

/**
 * Creates the missing ones of these topics, which are named by `topicOf`, and checks the others. Throws StartFault with
 * the command to create them when some are missing and may not be created. Several processes may call it at the same
 * time.
 */
export async function ensureTopics(admin: Admin, topics: readonly string[], kafka: Kafka, log: Log): Promise<void> {
  try {
    const existing = new Set(await admin.listTopics());
    const wanted = [...new Set(topics)];
    const missing = wanted.filter((topic) => !existing.has(topic));
    if (missing.length > 0) await create(admin, missing, kafka);
    const found = wanted.filter((topic) => existing.has(topic));
    if (found.length > 0) await check(admin, found, kafka, log);
  } catch (error) {
    throw explain(error, kafka);
  }
}

async function create(admin: Admin, missing: readonly string[], kafka: Kafka): Promise<void> {
  const { create: mayCreate, partitions, replication } = kafka.topics;
  if (!mayCreate) throw new StartFault(missingSentence(missing, kafka, 'KAFKA_CREATE_TOPICS is off'));
  const configEntries = Object.entries(settingsOf(kafka.topics)).map(([name, value]) => ({ name, value }));
  try {
    await admin.createTopics({
      // Waiting would report a failure when one broker has not learned of a new topic yet.
      waitForLeaders: false,
      topics: missing.map((topic) => ({
        topic,
        numPartitions: partitions,
        replicationFactor: replication,
        configEntries,
      })),
    });
    await untilListed(admin, missing);
  } catch (error) {
    // One for each topic that could not be created.
    const failures = failuresIn(error).filter(({ type }) => type !== undefined);
    const refusals = failures.filter(({ type }) => type !== 'TOPIC_ALREADY_EXISTS');
    if (refusals.length === 0 && failures.length > 0) return;
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
    const topics = refused.length > 0 ? refused : missing;
    throw new StartFault(missingSentence(topics, kafka, `this service may not create them (${refusal})`));
  }
}

/** Gives up silently: the users of the topics try again. */
async function untilListed(admin: Admin, topics: readonly string[]): Promise<void> {
  for (const until = Date.now() + KNOWN_WITHIN_MS; Date.now() < until; await pause(ASK_EVERY_MS)) {
    const known = new Set(await admin.listTopics());
    if (topics.every((topic) => known.has(topic))) return;
  }
}

function missingSentence(missing: readonly string[], kafka: Kafka, why: string): string {
  const { partitions, replication } = kafka.topics;
  const settings = Object.entries(settingsOf(kafka.topics)).map(([name, value]) => ` --config ${name}=${value}`);
  const copies = replication === -1 ? '' : ` --replication-factor ${replication}`;
  return (
    `Kafka at ${kafka.brokers.join(',')} lacks the topics ${missing.join(', ')}, and ${why}. Create each of them: ` +
    `kafka-topics.sh --bootstrap-server ${kafka.brokers[0]} --create --topic NAME --partitions ${partitions}${copies}${settings.join('')}`
  );
}

async function check(admin: Admin, found: readonly string[], kafka: Kafka, log: Log): Promise<void> {
  const wanted = kafka.topics.partitions;
  const metadata = await admin.fetchTopicMetadata({ topics: [...found] });
  for (const { name, partitions } of metadata.topics) {
    if (partitions.length >= wanted) continue;
    log.warn(
      { topic: name, partitions: partitions.length, wanted },
      'A topic has fewer partitions than KAFKA_TOPIC_PARTITIONS asks for. No more replicas than partitions can read it at the same time.',
    );
  }
  const settings = await readSettings(admin, found);
  for (const [topic, { 'max.message.bytes': bytes, 'retention.ms': retentionMs }] of settings) {
    if (Number(bytes) < LARGEST_BATCH_BYTES)
      log.warn(
        { topic, bytes: Number(bytes), wanted: LARGEST_BATCH_BYTES },
        'A topic takes smaller messages than this service may send. Raise its max.message.bytes.',
      );
    if (retentionMs === '-1' || Number(retentionMs) > kafka.topics.retentionMs)
      log.warn(
        { topic, retentionMs: Number(retentionMs), wanted: kafka.topics.retentionMs },
        'A topic keeps events for longer than KAFKA_TOPIC_RETENTION, which decides when their bodies and claims are removed.',
      );
  }
  checkCompression(settings, kafka, log);
}

type Settings = Readonly<Record<string, string>>;

function checkCompression(settings: ReadonlyMap<string, Settings>, kafka: Kafka, log: Log): void {
  const topicsWith = (matches: (type: string) => boolean) =>
    [...settings].flatMap(([topic, { 'compression.type': type }]) =>
      type !== undefined && matches(type) ? [topic] : [],
    );
  const unreadable = topicsWith((type) => UNREADABLE_COMPRESSIONS.has(type));
  if (unreadable.length > 0) {
    throw new StartFault(
      `Kafka at ${kafka.brokers.join(',')} compresses by snappy or lz4, which this service cannot read, the topics ${unreadable.join(', ')}. ` +
        `Change each of them: ${compressionCommand(kafka)}`,
    );
  }
  const chosenByProducers = topicsWith((type) => type === 'producer');
  if (chosenByProducers.length === 0) return;
  log.warn(
    { topics: chosenByProducers, command: compressionCommand(kafka) },
    'Topics keep the compression that producers choose. One batch compressed by snappy or lz4 would block their readers. Set their compression.type.',
  );
}

/** By topic. Empty without the right to read them, which a service may lack although it may use the topics. */
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
    return new Map();
  }
}

/** A broker refuses requests while it starts, and while other processes create the same topics. */
const RETRY_FOR_MS = 30_000;
const RETRY_EVERY_MS = 500;

/** Creates the topics of these events that are missing, and the dead-letter topics of those that are consumed. */
export async function prepareTopics(
  kafka: Kafka,
  { publishes, consumes }: EventUse,
  options: Pick<BusOptions, 'name' | 'log'>,
): Promise<void> {
  const types = [...publishes, ...consumes].map(({ type }) => type);
  const topics = [...types, ...consumes.map(({ type }) => deadLetterTopic(type))].map((each) => topicOf(kafka, each));
  const giveUpAt = Date.now() + RETRY_FOR_MS;
  for (;;) {
    const admin = connect(kafka, options).admin();
    try {
      await admin.connect();
      return await ensureTopics(admin, topics, kafka, options.log);
    } catch (thrown) {
      const error = explain(thrown, kafka);
      if (!(error instanceof Fault) || error.kind !== 'unavailable' || Date.now() > giveUpAt) throw error;
    } finally {
      await admin.disconnect().catch(() => {});
    }
    await pause(RETRY_EVERY_MS);
  }
}
