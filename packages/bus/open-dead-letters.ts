import type { DeadLetters } from './dead-letters.ts';
import { openTopicDeadLetters } from './kafka/dead-letters/dead-letters.ts';
import type { ListenConfig } from './open.ts';
import { openQueuedDeadLetters } from './embedded/dead-letters.ts';
import type { Log } from './queue/queues.ts';

/** The dead letters of a whole system: over Kafka those of its topics, else those of the queues that all services share. */
export function openDeadLetters(
  config: ListenConfig,
  options: { readonly name: string; readonly log: Log },
): Promise<DeadLetters> {
  return config.transport === 'kafka'
    ? openTopicDeadLetters(config.kafka, options)
    : openQueuedDeadLetters(config, options);
}
