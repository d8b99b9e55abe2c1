import { ensureSchema } from '@call-analysis/postgres';
import type { BusConfig, BusOptions, EventUse, ListenConfig, QueueConfig } from './config.ts';
import { openQueuedDeadLetters } from './embedded/dead-letters.ts';
import { openEmbedded } from './embedded/open.ts';
import { createOutboxTable } from './kafka/outbox/outbox-store.ts';
import type { DeadLetters, Bus, Listener } from './port.ts';
import { migrateQueues } from './queue/migrate.ts';

// Kafka's client is loaded where it is used: without it, a process on one machine starts sooner.

export async function openBus(config: BusConfig, options: BusOptions): Promise<Bus> {
  if (config.transport !== 'kafka') return openEmbedded(config, options);
  const { openKafka } = await import('./kafka/open.ts');
  return openKafka(config, options);
}

export async function openListener(config: ListenConfig, options: BusOptions): Promise<Listener> {
  if (config.transport !== 'kafka') return openEmbedded(config, options);
  const { openKafkaListener } = await import('./kafka/open.ts');
  return openKafkaListener(config.kafka, options);
}

/** The dead letters of the complete system: those in Kafka's topics, or those in the queues that all services share. */
export async function openDeadLetters(
  config: ListenConfig,
  options: Pick<BusOptions, 'name' | 'log'>,
): Promise<DeadLetters> {
  if (config.transport !== 'kafka') return openQueuedDeadLetters(config, options);
  const { openTopicDeadLetters } = await import('./kafka/dead-letters/dead-letters.ts');
  return openTopicDeadLetters(config.kafka, options);
}

/** Creates the bus's tables, or brings them up to date. Safe at every start, and in several processes at the same time. */
export async function migrateBus(config: QueueConfig): Promise<void> {
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
