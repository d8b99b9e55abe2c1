import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Buckets } from './token-buckets.ts';

describe('a bucket', () => {
  it('gives a minute’s worth at once, then as much as has flowed in, and says when there will be more', () => {
    const buckets = new Buckets({ perMinute: 60 });
    for (let left = 59; left >= 0; left--) expect(buckets.take('a', 0)).toMatchObject({ granted: true, left });
    expect(buckets.take('a', 0)).toEqual({ granted: false, left: 0, fullInMs: 60_000, waitMs: 1000 });
    expect(buckets.take('a', 999)).toMatchObject({ granted: false, waitMs: 1 });
    expect(buckets.take('a', 1000)).toMatchObject({ granted: true, left: 0 });
    expect(buckets.take('b', 1000)).toMatchObject({ granted: true, left: 59 });
  });

  it('is emptied by a charge, and no deeper than that', () => {
    const buckets = new Buckets({ perMinute: 60 });
    buckets.charge('a', 1_000_000, 0);
    expect(buckets.take('a', 0)).toMatchObject({ granted: false, waitMs: 1000 });
    expect(buckets.take('a', 60_000)).toMatchObject({ granted: true, left: 59 });
  });

  it('never grants more than a minute’s worth and what flows in, whenever and however often it is asked', () => {
    const request = fc.record({ key: fc.constantFrom('a', 'b', 'c'), afterMs: fc.nat({ max: 20_000 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(request, { maxLength: 300 }), (perMinute, requests) => {
        const buckets = new Buckets({ perMinute });
        const plain = new Map<string, { tokens: number; at: number }>();
        let now = 0;
        for (const { key, afterMs } of requests) {
          now += afterMs;
          const { tokens, at } = plain.get(key) ?? { tokens: perMinute, at: now };
          const there = Math.min(perMinute, tokens + ((now - at) * perMinute) / 60_000);
          const { granted } = buckets.take(key, now);
          // Where the two differ by less than a millionth, either may be right.
          if (Math.abs(there - 1) > 1e-6) expect(granted).toBe(there >= 1);
          plain.set(key, { tokens: there - (granted ? 1 : 0), at: now });
        }
      }),
      { numRuns: 200 },
    );
  });

  it('needs no more memory however many keys come', () => {
    const buckets = new Buckets({ perMinute: 60, maxKeys: 1000 });
    for (let key = 0; key < 20_000; key++) buckets.take(String(key), key / 100);
    expect(buckets.size).toBeLessThanOrEqual(1000);
    buckets.take('later', 1_000_000);
    buckets.take('later', 2_000_000);
    expect(buckets.size).toBeLessThanOrEqual(2);
  });
});
