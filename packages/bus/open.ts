import type { BusConfig, BusOptions, ListenConfig } from './config.ts';
import type { DeadLetters } from './dead-letters.ts';
import { openQueuedDeadLetters } from './embedded/dead-letters.ts';
import { openEmbedded } from './embedded/open.ts';
import { openTopicDeadLetters } from './kafka/dead-letters/dead-letters.ts';
import { openKafka, openKafkaListener } from './kafka/open.ts';
import type { Bus, Listener } from './port.ts';

export async function openBus(config: BusConfig, options: BusOptions): Promise<Bus> {
  return config.transport === 'kafka' ? openKafka(config, options) : openEmbedded(config, options);
}

export async function openListener(config: ListenConfig, options: BusOptions): Promise<Listener> {
  return config.transport === 'kafka' ? openKafkaListener(config.kafka, options) : openEmbedded(config, options);
}

/** The dead letters of the complete system: those in Kafka's topics, or those in the queues that all services share. */
export function openDeadLetters(config: ListenConfig, options: Pick<BusOptions, 'name' | 'log'>): Promise<DeadLetters> {
  return config.transport === 'kafka'
    ? openTopicDeadLetters(config.kafka, options)
    : openQueuedDeadLetters(config, options);
}
