import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Tape } from './tape.ts';
import { areEqual } from './test/voices.ts';

describe('a tape', () => {
  it('gives back what was put there, wherever it was cut and whatever was forgotten before', () => {
    const steps = fc.array(
      fc.record({ append: fc.integer({ min: 0, max: 30_000 }), forget: fc.integer({ min: 0, max: 40_000 }) }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(steps, fc.nat(1000), (taken, share) => {
        const tape = new Tape();
        let end = 0;
        let forgotten = 0;
        for (const { append, forget } of taken) {
          tape.append(Float32Array.from({ length: append }, (_, at) => end + at));
          end += append;
          forgotten = Math.max(forgotten, Math.min(forget, end));
          tape.forget(forgotten);
        }
        expect(tape.end).toBe(end);
        const start = forgotten + Math.floor(((end - forgotten) * share) / 1000);
        const cut = tape.cut(start, end);
        expect(cut.length).toBe(end - start);
        if (cut.length > 0) expect([cut[0], cut.at(-1)]).toEqual([start, end - 1]);
        expect(areEqual(tape.look(start, end + 5), cut)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
