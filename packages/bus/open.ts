import type { BusConfig, BusOptions, ListenConfig } from './config.ts';
import type { DeadLetters } from './dead-letters.ts';
import { openQueuedDeadLetters } from './embedded/dead-letters.ts';
import { openEmbedded } from './embedded/open.ts';
import type { Bus, Listener } from './port.ts';

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
