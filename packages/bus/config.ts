import type { EventType } from '@call-analysis/events';
import type { ObjectsConfig } from '@call-analysis/objects';
import type { Logger } from '@call-analysis/runtime';
import { z } from 'zod';
import { Kafka, topicRetentionDays } from './kafka-config.ts';

/** Longer than any event waits for its last retry. */
const RETRY_DAYS = 30;

const QueueConfig = z.object({
  /** Connects as the role that owns the schema. */
  url: z.url({ protocol: /^postgres(?:ql)?$/ }),
  schema: z.string().regex(/^[a-z_][a-z0-9_]{0,49}$/),
  /** The process's connections to the database, of which the bus takes its share (`shareConnections`). Default 24. */
  connections: z.int().min(10).optional(),
  /**
   * Only one process at a time subscribes its consumers here. It takes over the events of a process that died immediately,
   * without counting an attempt. Otherwise they are taken over when their lease lapses, which counts as an attempt.
   */
  exclusive: z.boolean().optional(),
});

export const BusConfig = z.discriminatedUnion('transport', [
  QueueConfig.extend({ transport: z.literal('embedded') }),
  /** The outbox and the inboxes of a service are in its own database. */
  QueueConfig.extend({
    transport: z.literal('kafka'),
    kafka: Kafka,
    /** Keeps bodies that are too large for a message; all services must share it. Without it such events are refused. */
    overflow: z.custom<ObjectsConfig>().optional(),
  }),
]);
export type BusConfig = z.infer<typeof BusConfig>;

/** For a process that only listens: over Kafka it needs no database. */
export type ListenConfig = BusConfig | { readonly transport: 'kafka'; readonly kafka: Kafka };

/** The events that a service publishes and consumes. */
export interface EventUse {
  readonly publishes: readonly EventType[];
  readonly consumes: readonly EventType[];
}

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

export interface BusOptions {
  /** The service. */
  readonly name: string;
  readonly log: Log;
  /** How long `close` waits for handlers. Events that are still being handled then are returned to the queue. Default 8,000. */
  readonly closeWithinMs?: number;
  /** After this time without a heartbeat from its worker, an event is delivered to another. Default 30, at least 10. */
  readonly leaseSeconds?: number;
}

/**
 * For this many days an event that was handled can be delivered again, even if Kafka loses the offsets of its consumer
 * groups. Claims and tombstones must be kept at least as long.
 */
export function redeliveryWindowDays(config: BusConfig): number {
  return config.transport === 'kafka' ? Math.max(RETRY_DAYS, topicRetentionDays(config.kafka)) : RETRY_DAYS;
}
