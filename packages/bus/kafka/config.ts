import { z } from 'zod';

/** Which brokers carry the facts, who we are to them, and how topics are made that are missing. */
export const Kafka = z.object({
  /** `host:port` each. */
  brokers: z.array(z.string()).min(1),
  /** PEM texts. Absent: not encrypted. Without `ca` the authorities that Node knows vouch for the brokers. */
  tls: z.object({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() }).optional(),
  sasl: z
    .object({
      mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']),
      username: z.string(),
      password: z.string(),
    })
    .optional(),
  topics: z.object({
    /** False: topics are only checked. */
    create: z.boolean(),
    partitions: z.int().min(1),
    /** -1: as many as the brokers make by themselves. */
    replication: z.int().min(-1),
    retentionMs: z.int().min(1),
  }),
  /** Stands before the names of topics and groups. */
  prefix: z.string(),
});
export type Kafka = z.infer<typeof Kafka>;
