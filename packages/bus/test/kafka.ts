import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { kafkaForTests } from '@call-analysis/testing/servers';
import { type Admin, AssignerProtocol } from 'kafkajs';
import type { BusConfig, Kafka } from '../config.ts';
import type { TransportUnderTest } from '../contract/index.ts';
import { connect } from '../kafka/connection/client.ts';
import { outboxDepth } from '../kafka/outbox/outbox.ts';
import { busDatabase } from './embedded.ts';

const silent = { info() {}, warn() {}, error() {} };

/** A Kafka configuration; by default on the test run's brokers, with a new prefix. */
export function testKafka({ brokers, partitions = 1 }: { brokers?: string[]; partitions?: number } = {}): Kafka {
  const connection = brokers === undefined ? kafkaForTests() : { brokers, prefix: '' };
  return { ...connection, topics: { create: true, partitions, replication: 1, retentionMs: 3_600_000 } };
}

export type KafkaUnderTest = TransportUnderTest & { readonly config: Extract<BusConfig, { transport: 'kafka' }> };

/** The Kafka transport on real brokers, with its own database and object store. */
export async function openKafkaTransport(kafka: Kafka): Promise<KafkaUnderTest> {
  const [database, directory] = await Promise.all([busDatabase(), mkdtemp(join(tmpdir(), 'overflow-'))]);
  const url = database.url('bus');
  const service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  const admin = connect(kafka, { name: 'test', log: silent }).admin();
  await admin.connect();
  return {
    config: {
      transport: 'kafka',
      url,
      schema: 'bus',
      kafka,
      overflow: { store: 'disk', directory, secret: 'x'.repeat(32) },
    },
    keepsHistory: true,
    transaction: (work) => service.transaction(work),
    async arrived() {
      const query = <Row>(text: string, values?: readonly unknown[]) => service.query<Row>(text, values);
      await waitUntil(async () => (await outboxDepth({ query, schema: 'bus' })).waiting === 0);
      await waitUntil(async () => (await unreadMessages(admin, kafka.prefix)) === 0);
    },
    async close() {
      await admin.disconnect();
      await service.close();
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Messages for which no offset is committed, in all groups of the prefix with members; null while a group rebalances. */
async function unreadMessages(admin: Admin, prefix: string): Promise<number | null> {
  const { groups: listed } = await admin.listGroups();
  const ids = listed.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix) && !id.includes('.listener.'));
  if (ids.length === 0) return 0;
  const { groups } = await admin.describeGroups(ids);
  const active = groups.filter(({ members }) => members.length > 0);
  if (active.some(({ state }) => state !== 'Stable')) return null;
  const ends = new Map<string, number>();
  let unread = 0;
  for (const { groupId, members } of active) {
    const topics = new Set(
      members.flatMap(({ memberMetadata }) => AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? []),
    );
    const committed = await admin.fetchOffsets({ groupId, topics: [...topics] });
    for (const topic of topics) {
      for (const { partition, high } of await admin.fetchTopicOffsets(topic))
        ends.set(`${topic}/${partition}`, Number(high));
    }
    for (const { topic, partitions } of committed) {
      for (const { partition, offset } of partitions)
        unread += (ends.get(`${topic}/${partition}`) ?? 0) - Math.max(0, Number(offset));
    }
  }
  return unread;
}
