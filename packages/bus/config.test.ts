import { describe, expect, it } from '@jest/globals';
import { type BusConfig, redeliveryWindowDays, topicRetentionDays } from './config.ts';

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

describe('retention', () => {
  it.each([
    [DAY_MS, 9, 30],
    [30 * DAY_MS, 38, 38],
    [90 * DAY_MS + 1, 99, 99],
  ])(
    'with a topic retention of %s ms, no body is removed before its event, and no claim before its last redelivery',
    (retentionMs, bodies, claims) => {
      expect(topicRetentionDays(kafka(retentionMs))).toBe(bodies);
      expect(redeliveryWindowDays(over(retentionMs))).toBe(claims);
      expect(bodies * DAY_MS).toBeGreaterThan(retentionMs + 7 * DAY_MS);
    },
  );

  it('on the embedded transport, the redelivery window is the time of retries', () => {
    expect(redeliveryWindowDays({ transport: 'embedded', url: 'postgresql://x', schema: 'bus' })).toBe(30);
  });
});
