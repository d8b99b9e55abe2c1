import type { EventType } from '@call-analysis/events';
import type { ObjectsConfig } from '@call-analysis/objects';
import type { Logger } from '@call-analysis/runtime';
import { z } from 'zod';

const DAY_MS = 24 * 3600 * 1000;
/** Kafka deletes whole segments, by the age of their newest message. By default a segment spans up to seven days. */
const SEGMENT_DAYS = 7;
/** For clocks that differ, and for messages that wait to be read. */
const SPARE_DAYS = 1;

/** The brokers, how to log in to them, and how missing topics are created. */
export const Kafka = z.object({
  /** `host:port` each. */
  brokers: z.array(z.string()).min(1),
  /** PEM texts. Absent: not encrypted. Without `ca`, certificates are verified against the authorities that Node knows. */
  tls: z.object({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() }).optional(),
  sasl: z
    .object({
      mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']),
      username: z.string(),
      password: z.string(),
    })
    .optional(),
  topics: z.object({
    /** False: existing topics are checked and none is created. */
    create: z.boolean(),
    partitions: z.int().min(1),
    /** -1: the brokers' default. */
    replication: z.int().min(-1),
    retentionMs: z.int().min(1),
  }),
  /** Prepended to the names of topics and consumer groups. */
  prefix: z.string(),
});
export type Kafka = z.infer<typeof Kafka>;

/** An event that was sent more than this many days ago is no longer in its topic. */
export function topicRetentionDays({ topics }: Pick<Kafka, 'topics'>): number {
  return Math.ceil(topics.retentionMs / DAY_MS) + SEGMENT_DAYS + SPARE_DAYS;
}

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
