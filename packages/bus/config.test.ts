import { describe, expect, it } from '@jest/globals';
import type { BusConfig } from './open.ts';
import { redeliveryWindowDays, goneAfterDays } from './retention.ts';

const DAY_MS = 24 * 3600 * 1000;
const kafka = (retentionMs: number) => ({
  brokers: ['kafka:9092'],
  topics: { create: true, partitions: 1, replication: 1, retentionMs },
  prefix: '',
});
const over = (retentionMs: number): BusConfig => ({
  transport: 'kafka',
  url: 'postgresql://x',
  schema: 'bus',
  kafka: kafka(retentionMs),
});

describe('how long something is kept for', () => {
  it.each([
    [DAY_MS, 9, 30],
    [30 * DAY_MS, 38, 38],
    [90 * DAY_MS + 1, 99, 99],
  ])(
    'a retention of %s ms: no body goes before its fact, and no claim before it can come again',
    (retentionMs, bodies, claims) => {
      expect(goneAfterDays(kafka(retentionMs))).toBe(bodies);
      expect(redeliveryWindowDays(over(retentionMs))).toBe(claims);
      expect(bodies * DAY_MS).toBeGreaterThan(retentionMs + 7 * DAY_MS);
    },
  );

  it('facts that travel within the database come again for as long as they are retried', () => {
    expect(redeliveryWindowDays({ transport: 'embedded', url: 'postgresql://x', schema: 'bus' })).toBe(30);
  });
});
