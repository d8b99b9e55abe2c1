import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { TokenBuckets } from './rate-limits.ts';

describe('a bucket', () => {
  it('allows a minute’s requests at the same time, then as many as it has refilled, and reports the wait', () => {
    const buckets = new TokenBuckets({ perMinute: 60 });
    for (let remaining = 59; remaining >= 0; remaining--)
      expect(buckets.take('a', 0)).toMatchObject({ isAllowed: true, remaining });
    expect(buckets.take('a', 0)).toEqual({ isAllowed: false, remaining: 0, fullInMs: 60_000, waitMs: 1000 });
    expect(buckets.take('a', 999)).toMatchObject({ isAllowed: false, waitMs: 1 });
    expect(buckets.take('a', 1000)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(buckets.take('b', 1000)).toMatchObject({ isAllowed: true, remaining: 59 });
  });

  it('gets back what was given back, but is never more than full', () => {
    const buckets = new TokenBuckets({ perMinute: 60 });
    for (let taken = 0; taken < 60; taken++) buckets.take('a', 0);
    buckets.giveBack('a', 0);
    expect(buckets.take('a', 0)).toMatchObject({ isAllowed: true, remaining: 0 });
    buckets.giveBack('b', 0);
    expect(buckets.take('b', 0)).toMatchObject({ isAllowed: true, remaining: 59 });
  });

  it('never allows more than a minute’s requests and the refill, with any timing', () => {
    const request = fc.record({ key: fc.constantFrom('a', 'b', 'c'), afterMs: fc.nat({ max: 20_000 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(request, { maxLength: 300 }), (perMinute, requests) => {
        const buckets = new TokenBuckets({ perMinute });
        const plain = new Map<string, { tokens: number; at: number }>();
        let now = 0;
        for (const { key, afterMs } of requests) {
          now += afterMs;
          const { tokens, at } = plain.get(key) ?? { tokens: perMinute, at: now };
          const there = Math.min(perMinute, tokens + ((now - at) * perMinute) / 60_000);
          const { isAllowed } = buckets.take(key, now);
          // Rounding may decide differences of less than a millionth.
          if (Math.abs(there - 1) > 1e-6) expect(isAllowed).toBe(there >= 1);
          plain.set(key, { tokens: there - (isAllowed ? 1 : 0), at: now });
        }
      }),
      { numRuns: 200 },
    );
  });

  it('has a bounded number of keys', () => {
    const buckets = new TokenBuckets({ perMinute: 60, maxKeys: 1000 });
    for (let key = 0; key < 20_000; key++) buckets.take(String(key), key / 100);
    expect(buckets.size).toBeLessThanOrEqual(1000);
    buckets.take('later', 1_000_000);
    buckets.take('later', 2_000_000);
    expect(buckets.size).toBeLessThanOrEqual(2);
  });
});
