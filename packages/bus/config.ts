import type { EventType } from '@call-analysis/events';
import type { ObjectsConfig } from '@call-analysis/objects';
import type { Logger } from '@call-analysis/runtime';

const DAY_MS = 24 * 3600 * 1000;
/** Kafka deletes whole segments, by the age of their newest message. By default a segment spans up to seven days. */
const SEGMENT_DAYS = 7;
/** For clocks that differ, and for messages that wait to be read. */
const SPARE_DAYS = 1;

/** The brokers, how to log in to them, and how missing topics are created. */
export interface Kafka {
  /** `host:port` each. */
  readonly brokers: string[];
  /** PEM texts. Absent: not encrypted. Without `ca`, certificates are verified against the authorities that Node knows. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username: string;
        readonly password: string;
      }
    | undefined;
  readonly topics: {
    /** False: existing topics are checked and none is created. */
    readonly create: boolean;
    readonly partitions: number;
    /** -1: the brokers' default. */
    readonly replication: number;
    readonly retentionMs: number;
  };
  /** Prepended to the names of topics and consumer groups. */
  readonly prefix: string;
}

/** An event that was sent more than this many days ago is no longer in its topic. */
export function topicRetentionDays({ topics }: Pick<Kafka, 'topics'>): number {
  return Math.ceil(topics.retentionMs / DAY_MS) + SEGMENT_DAYS + SPARE_DAYS;
}

/** Longer than any event waits for its last retry. */
const RETRY_DAYS = 30;

export interface QueueConfig {
  /** Connects as the role that owns the schema. Members of that role may then publish in their own transactions. */
  readonly url: string;
  readonly schema: string;
  /**
   * The process's connections to the database, of which the bus takes its share (`shareConnections`). Default 24, at least 10.
   */
  readonly connections?: number | undefined;
  /**
   * Only one process at a time subscribes its consumers here. It takes over the events of a process that died immediately,
   * without counting an attempt. Otherwise they are taken over when their lease lapses, which counts as an attempt.
   */
  readonly exclusive?: boolean;
}

/** The outbox and the inboxes of a service are in its own database. */
export interface KafkaConfig extends QueueConfig {
  readonly transport: 'kafka';
  readonly kafka: Kafka;
  /** Keeps bodies that are too large for a message; all services must share it. Without it such events are refused. */
  readonly overflow?: ObjectsConfig | undefined;
}

export type BusConfig = (QueueConfig & { readonly transport: 'embedded' }) | KafkaConfig;

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
