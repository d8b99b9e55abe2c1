import { ensureSchema } from '@call-analysis/postgres';
import type { BusOptions, EventUse, ListenConfig } from './config.ts';
import { createOutboxTable } from './kafka/outbox/outbox-store.ts';
import { type BusSchema, migrateQueues } from './queue/migrate.ts';

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
  const { prepareTopics } = await import('./kafka/topics/topics.ts');
  await prepareTopics(config.kafka, { publishes, consumes }, options);
}
