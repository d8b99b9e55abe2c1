import type { ObjectsConfig } from '@call-analysis/objects';
import { z } from 'zod';
import { openEmbedded } from './embedded/open.ts';
import { Kafka } from './kafka/config.ts';
import { openKafka, openKafkaListener } from './kafka/open.ts';
import type { BusOptions } from './config.ts';
import type { Bus, Listener } from './port.ts';

const Queues = z.object({
  /** As the role that owns the schema. */
  url: z.url({ protocol: /^postgres(?:ql)?$/ }),
  schema: z.string().regex(/^[a-z_][a-z0-9_]{0,49}$/),
  /** To the database, of the whole process: the bus takes its share of them (`shareConnections`). Default 24. */
  connections: z.int().min(10).optional(),
  /**
   * Only one process subscribes its consumers here. What an earlier process died with is then taken up at once, and
   * dying does not use up tries; otherwise it is taken up when its lease lapses, and counts as a try.
   */
  exclusive: z.boolean().optional(),
});

/** Where facts travel. */
export const BusConfig = z.discriminatedUnion('transport', [
  Queues.extend({ transport: z.literal('embedded') }),
  /** Outbox and inboxes of one service are in its own database. */
  Queues.extend({
    transport: z.literal('kafka'),
    kafka: Kafka,
    /** Where bodies lie that are too large for a message. Services that share it hear them; without it they are refused. */
    overflow: z.custom<ObjectsConfig>().optional(),
  }),
]);
export type BusConfig = z.infer<typeof BusConfig>;

/** Where facts are heard as they happen; with Kafka no database is needed. */
export type ListenConfig = BusConfig | { readonly transport: 'kafka'; readonly kafka: Kafka };

export async function openBus(config: BusConfig, options: BusOptions): Promise<Bus> {
  return config.transport === 'kafka' ? openKafka(config, options) : openEmbedded(config, options);
}

export async function openListener(config: ListenConfig, options: BusOptions): Promise<Listener> {
  return config.transport === 'kafka' ? openKafkaListener(config.kafka, options) : openEmbedded(config, options);
}
