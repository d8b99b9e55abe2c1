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
