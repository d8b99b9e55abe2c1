import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@call-analysis/postgres';
import { freshDatabase, kafkaForTests, waitUntil } from '@call-analysis/testing';
import { type Admin, AssignerProtocol } from 'kafkajs';
import type { BusPlace } from '../contract/index.ts';
import { migrateBus } from '../queue/migrate.ts';
import type { BusConfig } from '../open.ts';
import { connect } from '../kafka/connection/client.ts';
import type { Kafka } from '../kafka/config.ts';
import { outboxDepth } from '../kafka/outbox/outbox.ts';

const silent = { info() {}, warn() {}, error() {} };

/** A Kafka with a prefix of its own; `brokers` default to the run's. */
export function kafkaOf({ brokers, partitions = 1 }: { brokers?: string[]; partitions?: number } = {}): Kafka {
  const place = brokers === undefined ? kafkaForTests() : { brokers, prefix: '' };
  return { ...place, topics: { create: true, partitions, replication: 1, retentionMs: 3_600_000 } };
}

export type KafkaPlaceUnderTest = BusPlace & { readonly config: Extract<BusConfig, { transport: 'kafka' }> };

/** A place of the contract on a real Kafka, with a database and an object store of its own. */
export async function openKafkaPlace(kafka: Kafka): Promise<KafkaPlaceUnderTest> {
  const [database, directory] = await Promise.all([freshDatabase(), mkdtemp(join(tmpdir(), 'overflow-'))]);
  const url = database.url('bus');
  await migrateBus({ url, schema: 'bus' });
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
    remembers: true,
    transaction: (work) => service.transaction(work),
    async arrived() {
      const query = <Row>(text: string, values?: unknown[]) => service.query<Row>(text, values);
      await waitUntil(async () => (await outboxDepth({ query, schema: 'bus' })).waiting === 0);
      await waitUntil(async () => (await lag(admin, kafka.prefix)) === 0);
    },
    async close() {
      await admin.disconnect();
      await service.close();
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What groups of the prefix that have members have not noted as read yet; null while one of them is being shared out. */
export async function lag(admin: Admin, prefix: string): Promise<number | null> {
  const { groups: listed } = await admin.listGroups();
  const ids = listed.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix) && !id.includes('.listener.'));
  if (ids.length === 0) return 0;
  const { groups } = await admin.describeGroups(ids);
  const living = groups.filter(({ members }) => members.length > 0);
  if (living.some(({ state }) => state !== 'Stable')) return null;
  const ends = new Map<string, number>();
  let behind = 0;
  for (const { groupId, members } of living) {
    const topics = new Set(
      members.flatMap(({ memberMetadata }) => AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? []),
    );
    const read = await admin.fetchOffsets({ groupId, topics: [...topics] });
    for (const topic of topics) {
      for (const { partition, high } of await admin.fetchTopicOffsets(topic))
        ends.set(`${topic}/${partition}`, Number(high));
    }
    for (const { topic, partitions } of read) {
      for (const { partition, offset } of partitions)
        behind += (ends.get(`${topic}/${partition}`) ?? 0) - Math.max(0, Number(offset));
    }
  }
  return behind;
}
