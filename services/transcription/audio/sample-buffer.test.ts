import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { areEqual } from '../test/voices.ts';
import { SampleBuffer } from './sample-buffer.ts';

describe('a sample buffer', () => {
  it('returns the samples that were appended, at any position and after any discard', () => {
    const steps = fc.array(
      fc.record({ append: fc.integer({ min: 0, max: 30_000 }), discard: fc.integer({ min: 0, max: 40_000 }) }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(steps, fc.nat(1000), (taken, share) => {
        const buffer = new SampleBuffer();
        let end = 0;
        let discarded = 0;
        for (const { append, discard } of taken) {
          buffer.append(Float32Array.from({ length: append }, (_, index) => end + index));
          end += append;
          discarded = Math.max(discarded, Math.min(discard, end));
          buffer.discard(discarded);
        }
        expect(buffer.end).toBe(end);
        const start = discarded + Math.floor(((end - discarded) * share) / 1000);
        const copy = buffer.copy(start, end);
        expect(copy.length).toBe(end - start);
        if (copy.length > 0) expect([copy[0], copy.at(-1)]).toEqual([start, end - 1]);
        expect(areEqual(buffer.view(start, end + 5), copy)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
