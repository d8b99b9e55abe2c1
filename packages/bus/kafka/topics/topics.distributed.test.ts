import { StartFault } from '@call-analysis/runtime';
import { makeTopic } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs, { type Admin } from 'kafkajs';
import type { Kafka } from '../../config.ts';
import { testKafka } from '../../test/kafka.ts';
import { connect } from '../connection/client.ts';
import { LARGEST_BATCH_BYTES, topicOf } from './topic.ts';
import { ensureTopics } from './topics.ts';

const warnings: object[] = [];
const log = { info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
let kafka: Kafka;
let admin: Admin;

beforeAll(async () => {
  kafka = testKafka({ partitions: 3 });
  admin = connect(kafka, { name: 'test', log }).admin();
  await admin.connect();
});
afterAll(() => admin?.disconnect());

async function settingsOf(topic: string): Promise<Record<string, string>> {
  const { resources } = await admin.describeConfigs({
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    includeSynonyms: false,
  });
  return Object.fromEntries(
    resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]),
  );
}

describe('topics', () => {
  it('that are missing are created as configured, also by several processes at the same time', async () => {
    const topics = ['a.v1', 'b.v1', 'b.v1.dlq'].map((type) => topicOf(kafka, type));
    await Promise.all([1, 2, 3].map(() => ensureTopics(admin, topics, kafka, log)));
    await ensureTopics(admin, [...topics, ...topics], kafka, log);
    const metadata = await admin.fetchTopicMetadata({ topics });
    expect(metadata.topics.map(({ name, partitions }) => [name, partitions.length]).toSorted()).toEqual(
      topics.map((name) => [name, 3]),
    );
    expect(await settingsOf(topics[0]!)).toMatchObject({
      'retention.ms': String(kafka.topics.retentionMs),
      'max.message.bytes': String(LARGEST_BATCH_BYTES),
      'compression.type': 'zstd',
    });
    expect(warnings).toEqual([]);
  });

  it('that exist are not changed, and warnings name what they lack', async () => {
    const topic = topicOf(kafka, 'small.v1');
    await makeTopic(admin, {
      topic,
      numPartitions: 2,
      configEntries: Object.entries({ 'max.message.bytes': '1000', 'retention.ms': '7200000' }).map(
        ([name, value]) => ({ name, value }),
      ),
    });
    await ensureTopics(admin, [topic], kafka, log);
    expect(warnings).toEqual([
      { topic, partitions: 2, wanted: 3 },
      { topic, bytes: 1000, wanted: LARGEST_BATCH_BYTES },
      { topic, retentionMs: 7_200_000, wanted: kafka.topics.retentionMs },
      { topics: [topic], command: expect.stringContaining('--add-config compression.type=zstd') },
    ]);
  });

  it('that exist with an unreadable compression are refused with the command that changes them', async () => {
    const topics = ['snappy', 'lz4', 'zstd', 'gzip'].map((type) => topicOf(kafka, `${type}.v1`));
    for (const [i, type] of ['snappy', 'lz4', 'zstd', 'gzip'].entries()) {
      await makeTopic(admin, {
        topic: topics[i]!,
        numPartitions: 3,
        configEntries: [{ name: 'compression.type', value: type }],
      });
    }
    const checking = ensureTopics(admin, topics, kafka, log);
    await expect(checking).rejects.toThrow(StartFault);
    await expect(checking).rejects.toThrow(
      `compresses by snappy or lz4, which this service cannot read, the topics ${topics[0]}, ${topics[1]}. Change each of them: kafka-configs.sh`,
    );
    await ensureTopics(admin, topics.slice(2), kafka, log);
  });

  it('that are missing and may not be created are named with the command that creates them', async () => {
    const topics = ['a.v1', 'absent.v1', 'lost.v1'].map((type) => topicOf(kafka, type));
    const checking = ensureTopics(admin, topics, { ...kafka, topics: { ...kafka.topics, create: false } }, log);
    await expect(checking).rejects.toThrow(StartFault);
    await expect(checking).rejects.toThrow(
      `lacks the topics ${topics[1]}, ${topics[2]}, and KAFKA_CREATE_TOPICS is off. Create each of them: kafka-topics.sh`,
    );
    expect(await admin.listTopics()).not.toContain(topics[1]);
  });

  it('with more copies than there are brokers are refused', async () => {
    const greedy = { ...kafka, topics: { ...kafka.topics, replication: 99 } };
    await expect(ensureTopics(admin, [topicOf(kafka, 'many.v1')], greedy, log)).rejects.toThrow(
      'Kafka has too few brokers for 99 copies of a topic; lower KAFKA_TOPIC_REPLICATION.',
    );
  });

  it('have names that Kafka accepts', () => {
    expect(topicOf({ prefix: 'x.' }, 'a.v1')).toBe('x.a.v1');
    for (const type of ['', 'a/b', 'Ж', 'x'.repeat(250)])
      expect(() => topicOf({ prefix: '' }, type)).toThrow(StartFault);
  });
});
