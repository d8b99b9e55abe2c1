import { setTimeout as pause } from 'node:timers/promises';
import type { EventType } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { ensureSchema } from '@call-analysis/postgres';
import type { BusOptions, ListenConfig } from './config.ts';
import { connect } from './kafka/connection/client.ts';
import { explain } from './kafka/connection/explain.ts';
import { deadLetterTopic } from './kafka/dead-letters/headers.ts';
import { createOutboxTable } from './kafka/outbox/outbox-store.ts';
import { ensureTopics, topicOf } from './kafka/topics/topics.ts';
import { type BusSchema, migrateQueues } from './queue/migrate.ts';

/** A broker refuses requests while it starts, and while other processes create the same topics. */
const RETRY_FOR_MS = 30_000;
const RETRY_EVERY_MS = 500;

/** The events that a service publishes and consumes. */
export interface EventUse {
  readonly publishes: readonly EventType[];
  readonly consumes: readonly EventType[];
}

/** Creates the bus's tables, or brings them up to date. Safe at every start, and in several processes at the same time. */
export async function migrateBus(config: BusSchema): Promise<void> {
  await migrateQueues(config, (sql) => createOutboxTable(sql, config.schema));
}

/**
 * Creates what the bus needs, or brings it up to date: the tables and, over Kafka, the topics of the events that the
 * service uses and the dead-letter topics of those it consumes. Safe to repeat, also in several processes at the same time.
 */
export async function prepareBus(
  config: ListenConfig,
  { publishes, consumes }: EventUse,
  options: Pick<BusOptions, 'name' | 'log'>,
): Promise<void> {
  if ('url' in config) {
    await ensureSchema(config);
    await migrateBus(config);
  }
  if (config.transport !== 'kafka') return;
  const { kafka } = config;
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
